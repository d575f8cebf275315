# 80 bytes apart: 8 rows start in banks 0, 20, 8, 28, 16, 4, 24, 12: none meet.
lds-report --target a100 layouts.tile
# 64 bytes: rows r and r + 2 meet, 3 conflicts in each of 64 passes (2 warps of
# 4 read 2 rows of 2 x 2 tiles each: 4 x 4 x 4).
lds-report --target a100 -D pitch=32 --max-conflicts 191 layouts.tile
lds-report --target a100 -D pitch=32 --max-conflicts 192 layouts.tile
# 66 bytes: no row but every 8th starts at a multiple of 16. Stores go by single
# elements, ldmatrix cannot be.
lds-report --target a100 -D pitch=33 layouts.tile
lds-report --target a100 -D pitch=33 --max-conflicts 1000 layouts.tile
lds-report --count twice layouts.tile
