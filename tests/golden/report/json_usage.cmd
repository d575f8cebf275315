run --json ../../../programs/gemm.tile -D M=3
run --json none.tile
