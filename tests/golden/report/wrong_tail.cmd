run wrong_tail.tile
