run two_kernels.tile
run two_kernels.tile --kernel third
run -q two_kernels.tile --kernel other
