run endless.tile --timeout 1
