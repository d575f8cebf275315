run define_missing.tile
run define_missing.tile -D factor=3.0
