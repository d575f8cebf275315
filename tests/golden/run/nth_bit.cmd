run nth_bit.tile
