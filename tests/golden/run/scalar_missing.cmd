run scalar_missing.tile
run scalar_missing.tile -D n=many
