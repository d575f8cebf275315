run grid_dynamic_negative.tile -D n=64
