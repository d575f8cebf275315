run wrong_zero.tile
