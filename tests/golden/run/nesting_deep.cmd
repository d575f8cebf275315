# 10,000 nested parentheses
$ { printf 'x = '; printf '(%.0s' $(seq 10000); echo; } >"$WORK/open.tile"
$ (cd "$WORK" && "$TILESIM" run open.tile)
$ { printf 'x = '; printf '(%.0s' $(seq 10000); printf 1; printf ')%.0s' $(seq 10000); echo; } >"$WORK/deep.tile"
$ (cd "$WORK" && "$TILESIM" run deep.tile)
