run warps.tile
