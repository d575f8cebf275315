run e8m0.tile
