# The tile that everyone tries first: 65,536 bytes of tiles and two workspaces
# of 256 x 4 on the MI300X, 67,584 in all.
lds-report $PROGRAMS/fa.tile -D seq_len=4096
# Three stages of 16,384 bytes on an H100, one on the MI300X.
lds-report $PROGRAMS/gemm.tile -D M=1024 -D N=1024 -D K=1024 -D block_M=128 -D block_N=128 -D block_K=32 -D num_stages=3
# Queries of 65,536 + 8,192 bytes alone are over 64 KiB. O_shared takes the
# place of KV_shared.
lds-report --target mi300x -v $PROGRAMS/mla_decode_hopper.tile
# Two launches.
lds-report --target mi300x $PROGRAMS/mla_decode.tile -D num_split=4
lds-report --target all $PROGRAMS/rms_norm.tile
# Two barriers of the kernel's own: 512 + 2 x 8 bytes.
lds-report --target h100 barriers.tile
