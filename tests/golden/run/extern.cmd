$ ${CC-cc} -shared -fPIC -o "$WORK/none.so" -x c /dev/null
$ ${CC-cc} -shared -fPIC -o "$WORK/extern.so" "$DATA/extern.c"
run -q --extern "$WORK/none.so" --extern "$WORK/extern.so" extern.tile
run -q --extern "$WORK/extern.so" -j 7 extern.tile
dump --kernel tiles extern.tile >"$WORK/tiles.ir"
$ "$TILESIM" dump "$WORK/tiles.ir" | cmp - "$WORK/tiles.ir"
lds-report -q --kernel own -t h100 extern.tile | grep -A 1 'not counted'
