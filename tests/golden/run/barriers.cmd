run barriers.tile
run -j 7 barriers.tile
