run wrong_unwritten.tile
