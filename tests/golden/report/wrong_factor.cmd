run wrong_factor.tile
