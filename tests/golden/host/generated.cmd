run --tests generated.tile
