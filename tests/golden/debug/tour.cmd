# every command but those that start again, with sums that are checked by hand:
# sums[1] = 16 * 10 + 120 + 16 * 3, NaN where 0.8 + j / 128 < 0.9, B[4] = 3 / 168
debug --block 1 -x tour.txt scale.tile
# upstream's rules or ours, another target
debug -x owner.txt --target mi300x scale.tile
debug -x owner.txt --as tilesim scale.tile
