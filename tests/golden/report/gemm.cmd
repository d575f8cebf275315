run ../../../programs/gemm.tile -D M=70 -D N=50 -D K=45 -D block_M=32 -D block_N=32 -D block_K=32 -D threads=64
run ../../../programs/gemm.tile -D M=70 -D N=50 -D K=45 -D block_M=32 -D block_N=32 -D block_K=32 -D threads=64 -D dtype=bfloat16 -v
