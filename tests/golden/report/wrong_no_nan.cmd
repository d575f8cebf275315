run wrong_no_nan.tile
