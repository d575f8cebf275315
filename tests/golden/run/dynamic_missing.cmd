run dynamic_missing.tile
run dynamic_missing.tile -D n=-3 -D m=2
run dynamic_missing.tile -D n=x -D m=2
