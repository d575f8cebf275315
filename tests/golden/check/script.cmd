check --one-line script.tile
