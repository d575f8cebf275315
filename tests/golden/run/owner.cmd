run owner.tile
run -q --no-ref -D turn=1 owner.tile
