run in_place.tile
