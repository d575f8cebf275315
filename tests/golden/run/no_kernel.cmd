run no_kernel.tile
run no_kernel.tile --kernel helper
run no_kernel.tile --kernel nothing
