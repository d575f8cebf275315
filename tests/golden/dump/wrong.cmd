dump --stage=asm tiny.tile
dump --stage=ptx tiny.tile
dump none.tile
dump tiny.tile -D M=3
dump tiny.tile --in A=a.npy
dump
