check comments.tile
check -q --only races comments.tile
