run wrong_host_loop.tile --kernel by_size
run wrong_host_loop.tile --kernel many
run wrong_host_loop.tile --kernel parallel
run wrong_host_loop.tile --kernel names
run wrong_host_loop.tile --kernel condition
