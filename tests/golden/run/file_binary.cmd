$ printf 'x = 1\n\000\001' >"$WORK/binary.tile"
$ (cd "$WORK" && "$TILESIM" run binary.tile)
