run assume_sizes.tile
