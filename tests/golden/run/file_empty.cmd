$ : >"$WORK/empty.tile"
$ (cd "$WORK" && "$TILESIM" run empty.tile)
run /dev/null
