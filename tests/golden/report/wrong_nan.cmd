run wrong_nan.tile
