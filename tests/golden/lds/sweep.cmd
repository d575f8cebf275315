# The 576 of the program's own settings: 180 of 576 fit the 64 KiB of an
# MI300X (those of block_M x block_N = 32x32, 32x64, 64x32, 64x64 and 128x32),
# of which 12 (32x32 with 512 threads) have more waves than parts of a tile.
lds-report --sweep autotune $PROGRAMS/fa.tile
# block_N = 64 takes 64 x (512 + 64) x 2 = 73,728 bytes: 96 of 192 fit, 24 of
# them with more waves than parts of a tile.
lds-report --sweep autotune --target mi300x -q $PROGRAMS/mla_decode.tile
# One plan, two sizes. 64,000 rows of 64 x 2 bytes, in and out, over 5,300 GB/s:
# 3.091 us. The 16 blocks of 1,024 rows have a CU each, and move 64 rows at 64
# bytes of 2.1 GHz: 256 clocks, 0.1219 us.
lds-report --sweep 'M=64000,1024' --target mi300x sizes.tile
$ $TILESIM lds-report --sweep 'M=64000,1024' --target mi300x --json sizes.tile | grep -E '"(M|floor_us|conflicts)"'
lds-report --sweep 'rows=32,64' --target mi300x sizes.tile
# What cannot be staged is a line of its own.
lds-report --sweep 'groups=3,8 block_M=64,7' $PROGRAMS/fa.tile
lds-report --sweep 'block_M=64,128 dims=64' $PROGRAMS/fa.tile
lds-report --sweep '' $PROGRAMS/fa.tile
lds-report --sweep 'block_M=' $PROGRAMS/fa.tile
lds-report --sweep autotune $PROGRAMS/gemm.tile
lds-report --sweep autotune no_points.tile
