run axes.tile
