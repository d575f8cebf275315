run near_names.tile -D dtype=flaot16
run near_names.tile -q -D m=4
run near_names.tile -q -D Q=4
run near_names.tile -q -D dtyp=float16
run near_names.tile -q -D M=99999999999999999999
run near_names.tile -q -D M=four -D dtype=float16
chek near_names.tile
lds_report near_names.tile
compile near_names.tile
