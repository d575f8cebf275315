run source.tile
