# What fits needs no advice; there are at most four.
lds-report --fix 1 small.tile -D N=64
lds-report --fix 9 small.tile -D N=64
# A tile for which the MI300X is 2,048 bytes too small: queries in registers
# take 32,768 of 67,584 away, half of the keys 16,384, half of the queries
# 16,384 of them and of a block's warps.
$ cp $PROGRAMS/fa.tile $PROGRAMS/mla_decode_hopper.tile $WORK
$ cd $WORK && $TILESIM lds-report --fix 1 fa.tile
$ cd $WORK && $TILESIM lds-report --fix 2 fa.tile >2.patch
$ cd $WORK && patch -s -p0 <2.patch
$ cd $WORK && $TILESIM lds-report fa.tile | tail -n 1
# Queries of 64 x 512 x 2 bytes leave no room in 64 KiB. In registers, with half
# of the keys and a part of the rows for each warp, what is stored at the end
# takes all of them.
$ cd $WORK && $TILESIM lds-report mla_decode_hopper.tile | tail -n 4
$ cd $WORK && $TILESIM lds-report --fix 1 mla_decode_hopper.tile >1.patch
$ cd $WORK && patch -s -p0 <1.patch
$ cd $WORK && $TILESIM lds-report --target mi300x mla_decode_hopper.tile | tail -n 1
$ cd $WORK && $TILESIM run mla_decode_hopper.tile -D heads=64 -D seqlen_kv=160 | tail -n 1
# The command line gives what the patch changes.
$ cd $WORK && cp $PROGRAMS/fa.tile . && $TILESIM lds-report --fix 2 fa.tile -D block_M=128 -D block_N=64 >3.patch
