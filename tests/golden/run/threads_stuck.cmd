run -q --no-ref --kernel no_arrival threads_stuck.tile
run -q --no-ref --kernel few_arrivals threads_stuck.tile
run -q --no-ref --kernel bytes_to_come threads_stuck.tile
run -q --no-ref --kernel half_the_block threads_stuck.tile
run -q --no-ref --kernel some_lanes threads_stuck.tile
run -q --no-ref --kernel tile_of_half threads_stuck.tile
run -q --no-ref --kernel places_differ threads_stuck.tile
run -q --no-ref --kernel grid_in_part threads_stuck.tile
