run as_strided.tile
