run wrong_rows.tile
