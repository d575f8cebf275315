run frames.tile
