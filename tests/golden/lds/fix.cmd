# Layouts as patches. Rows of 33 words instead of 32 for a tile that is read by
# columns; what the report then says was counted by hand in turn.cmd.
$ cp turn.tile layouts.tile $PROGRAMS/flash_decoding.tile $PROGRAMS/fa.tile $WORK
$ cp turn.tile $WORK/fresh.tile
$ cd $WORK && $TILESIM lds-report --fix 1 turn.tile
$ cd $WORK && $TILESIM lds-report --fix 1 turn.tile | patch -s -p0
$ cd $WORK && $TILESIM lds-report turn.tile | grep -E 'tile read|CONFLICT|^fewer'
$ cd $WORK && $TILESIM run turn.tile | tail -n 1
# A layout that the file gives itself is replaced: rows r and r + 2 met.
$ cd $WORK && $TILESIM lds-report --target a100 --fix 1 -D pitch=32 layouts.tile
$ cd $WORK && $TILESIM lds-report --target a100 --fix 1 -D pitch=32 layouts.tile | patch -s -p0
$ cd $WORK && $TILESIM lds-report --target a100 layouts.tile | grep -E '_op_ld|^fewer'
# Two on top of each other, and what is computed stays right.
$ cd $WORK && $TILESIM lds-report --target mi300x --fix 3 flash_decoding.tile
$ cd $WORK && $TILESIM lds-report --target mi300x --fix 2 flash_decoding.tile >2.patch
$ cd $WORK && cat 2.patch && patch -s -p0 <2.patch
$ cd $WORK && $TILESIM lds-report --target mi300x flash_decoding.tile | grep -E 'CONFLICT|^fewer'
$ cd $WORK && $TILESIM run flash_decoding.tile -D batch=1 -D seqlen_kv=300 | tail -n 1
# Findings of code scanning name them.
$ cd $WORK && $TILESIM lds-report --target h100 -q --sarif found fresh.tile >report; grep '"text"' found
$ cd $WORK && $TILESIM lds-report -q --target mi300x --sarif found fa.tile >report; grep '"text"' found
# A buffer that the file does not call by its name.
$ cd $WORK && sed 's/tile = T.alloc_shared(\(.*\))$/own = [T.alloc_shared(\1)]/; s/\btile\b/own[0]/' fresh.tile >list.tile
$ cd $WORK && $TILESIM lds-report --fix 1 list.tile
