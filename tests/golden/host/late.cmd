run late.tile
