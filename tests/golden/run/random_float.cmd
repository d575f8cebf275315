run random_float.tile
run --kernel wrong random_float.tile
run --kernel wrong -D case=1 random_float.tile
