$ printf 'x = "\377"\n' >"$WORK/latin.tile"
$ (cd "$WORK" && "$TILESIM" run latin.tile)
