run threads.tile
