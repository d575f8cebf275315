run vectors.tile
