# block, run: from the start
debug -x again.txt scale.tile
