$ ${CC-cc} -shared -fPIC -o "$WORK/extern.so" "$DATA/extern.c"
run --extern "$WORK/extern.so" extern_source.tile
run -q extern_source.tile
run -q --kernel scaled -D take=half extern_source.tile
run -q --kernel scaled -D take=1 -D source=3 extern_source.tile
dump --kernel scaled -D take=1 extern_source.tile
