$ cd $WORK && cp $OLDPWD/*.tile . && $TILESIM lds-report --json --target a100 layouts.tile >old.json
$ cd $WORK && $TILESIM lds-report --compare old.json --target a100 layouts.tile
# Rows are 8 elements closer: 63 x 8 x 2 bytes less. 3 conflicts in each of 64
# passes of the read, as layouts.cmd counts them. 8 lanes write two rows of 16
# banks, 20 banks apart: 4 banks met in each of 32 passes.
$ cd $WORK && $TILESIM lds-report --compare old.json --target a100 -D pitch=32 layouts.tile
$ cd $WORK && $TILESIM lds-report --compare old.json --target a100 -D pitch=32 --json layouts.tile
# A line that moves is no difference; a copy more is an access more.
$ cd $WORK && sed '1i #' layouts.tile >moved.tile && $TILESIM lds-report --compare old.json --target a100 moved.tile
$ cd $WORK && sed 's/^\( *\)T.clear.*/&\n\1T.copy(A, A_s)/' layouts.tile >more.tile && $TILESIM lds-report --compare old.json --target a100 more.tile
# Launches and targets of one alone.
$ cd $WORK && $TILESIM lds-report --compare old.json --target h100 layouts.tile
$ cd $WORK && sed 's/main(/other(/; s/main$/other/' layouts.tile >other.tile && $TILESIM lds-report --compare old.json --target a100 other.tile
# What fits no more; a file that is not staged has no launch to compare.
$ cd $WORK && $TILESIM lds-report --json --target mi300x -D N=64 small.tile >old.json
$ cd $WORK && $TILESIM lds-report --compare old.json --target mi300x -D N=32768 -D block_N=32768 small.tile
$ cd $WORK && $TILESIM lds-report --compare old.json --target mi300x -D N=64 -D block_N=abc small.tile
# Files that are no report.
$ cd $WORK && $TILESIM lds-report --compare none.json small.tile -D N=64
$ cd $WORK && $TILESIM lds-report --compare small.tile small.tile -D N=64
$ cd $WORK && echo '{"schema": "other"}' >bad.json && $TILESIM lds-report --compare bad.json small.tile -D N=64
$ cd $WORK && sed 's/"bytes": 256/"bytes": "256"/' old.json >bad.json && $TILESIM lds-report --compare bad.json small.tile -D N=64
$ cd $WORK && head -n 9 old.json >bad.json && $TILESIM lds-report --compare bad.json small.tile -D N=64
$ cd $WORK && $TILESIM lds-report --json --sweep 'N=64,128' small.tile >bad.json && $TILESIM lds-report --compare bad.json small.tile -D N=64
$ cd $WORK && $TILESIM lds-report --compare old.json --fix 1 small.tile -D N=64
