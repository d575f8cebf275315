run wrong_noise.tile
