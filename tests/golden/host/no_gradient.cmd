run no_gradient.tile
