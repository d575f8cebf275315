$ ${CC-cc} -shared -fPIC -o "$WORK/extern.so" "$DATA/extern.c"
run -q extern_wrong.tile --kernel missing
run -q extern_wrong.tile --kernel missing --extern "$WORK/extern.so"
run -q extern_wrong.tile --kernel missing --extern no_such_library.so
run -q extern_wrong.tile --kernel half_result --extern "$WORK/extern.so"
run -q extern_wrong.tile --kernel half_argument --extern "$WORK/extern.so"
run -q extern_wrong.tile --kernel strided --extern "$WORK/extern.so"
run -q extern_wrong.tile --kernel past --extern "$WORK/extern.so"
run -q extern_wrong.tile --kernel variable --extern "$WORK/extern.so"
gpu -q --build-only extern_wrong.tile --kernel missing
