$ cp fix.tile clear.tile $WORK
$ cd $WORK && "$TILESIM" check --fix --one-line fix.tile
$ cd $WORK && "$TILESIM" check --one-line fix.tile
$ cd $WORK && "$TILESIM" run -q fix.tile | tail -1
# two places would do, and there is no reference to say which
$ cd $WORK && "$TILESIM" check --fix --one-line clear.tile
$ cmp clear.tile $WORK/clear.tile
