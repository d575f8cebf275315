run --json -q ../../../programs/gemm.tile -D K=32 -D N=32 --sweep 'M=16,-1 dtype=float32,float17'
