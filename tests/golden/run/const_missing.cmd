run const_missing.tile
run const_missing.tile -D M=16
run const_missing.tile -D M=16 -D N=16 -D K=3
