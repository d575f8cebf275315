run dynamic.tile -D n=40
run dynamic.tile --sweep 'n=0,1,16,17' -t mi300x
dump dynamic.tile
