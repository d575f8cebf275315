run script_arguments.tile -- -h
run script_arguments.tile -- --rows x
run script_arguments.tile -- --rows
run script_arguments.tile -- --mode thrice
run script_arguments.tile -- --colour red extra
run script_arguments.tile -- --rows -5
