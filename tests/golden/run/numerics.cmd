run numerics.tile -q
run numerics.tile -q --numerics h100
run numerics.tile -q --numerics mi300x
run numerics_fp8.tile -q
run numerics_fp8.tile -q --numerics h100
run numerics_fp8.tile -q --numerics mi300x
