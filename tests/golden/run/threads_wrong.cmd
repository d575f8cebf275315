run -q --no-ref --kernel wrong -D 'case=group' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=not a barrier' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=no arrivals' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=barrier as value' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=no such barrier' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=width' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=dimension' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=extent' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=name' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=part of a warp' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=element of a fragment' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=in T.Parallel' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=gemm of one thread' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=reducer' threads_wrong.tile
run -q --no-ref --kernel wrong -D 'case=shuffle in T.Parallel' threads_wrong.tile
run --kernel outside threads_wrong.tile
