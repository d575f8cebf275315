run random_bits.tile
