# D_shared by hand: 4 warps store 16 pairs of elements a thread, each to 8 rows
# of 128 bytes, which begin in one bank: 4 x 16 x 7 = 448. Rows of 64 bytes: 4
# warps, 4 pairs, 4 rows in a bank: 4 x 4 x 3 = 48.
lds-report --as=tilesim --target=h100 copied.tile
lds-report --as=tilesim --target=a100 -D n=32 copied.tile
