# the run's own report, under watch
run -q --no-ref --check=all clear.tile
run -q --no-ref --check=bounds,outputs clear.tile
run -q --no-ref --check=all -Wno-uninit-read clear.tile
run -q --no-ref --check=bound clear.tile
