run wrong_rounding.tile
