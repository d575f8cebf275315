# By hand: 8 query tiles of 8 heads take 256 cycles for Q and 2,048 for each of
# 16 KV tiles on the MI300X: 64 x (256 + 16 x 2,048). On the H100 256 for Q, and
# K and V are filled, 256 a tile: 64 x (256 + 16 x 256).
run --target mi300x,h100 --no-ref $PROGRAMS/fa.tile -D seq_len=1024
