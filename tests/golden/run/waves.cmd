run --target h100 waves.tile
run --target mi300x waves.tile
