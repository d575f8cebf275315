run configs_of.tile
