run tune_config.tile
run --tune-config 3 tune_config.tile
run --tune-config 4 tune_config.tile
run --kernel double --no-ref -q tune_config.tile
run --kernel double --no-ref -q --tune-config 2 tune_config.tile
run --kernel double --no-ref -q --tune-config 2 -D block=8 tune_config.tile
run --tune-config none tune_config.tile
