# no such accumulator; no such operands; a format of another vendor
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float16 -D acc=bfloat16 --numerics h100
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float16 -D acc=float16 --numerics mi300x
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float8_e4m3fn -D acc=float32 --numerics mi300x
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float8_e4m3fnuz -D acc=float32 --numerics h100
# k that the instruction does not divide
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float16 -D acc=float32 -D K=24 --numerics h100
# warps that cannot share the tile
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float16 -D acc=float32 -D threads=96 --numerics h100
# sparse arithmetic was not measured
run numerics_refused.tile --no-ref --kernel sparse --numerics h100
# the same without --numerics
run numerics_refused.tile --no-ref --kernel gemm -D dtype=float16 -D acc=bfloat16 -q
run numerics_refused.tile --no-ref --kernel sparse -q
# two targets' arithmetic
run numerics_refused.tile --kernel sparse --numerics mi300x --target h100
run numerics_refused.tile --kernel sparse --numerics h100 --target mi300x,h100
run numerics_refused.tile --kernel sparse --numerics h200
# by hand
run emitters.py -q --numerics h100
