check --kernel meet limit.tile
check --kernel meet -D blocks=1100 limit.tile
check --one-line --kernel collide limit.tile
run --no-ref --kernel meet -q --check=all limit.tile
