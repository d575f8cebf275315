run no_such_file.tile
