run launched.tile
run --json launched.tile
