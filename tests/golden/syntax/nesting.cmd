# 10,000 parentheses, 300 nested blocks, 300 nested f-strings
$ { echo 'a = 1'; printf 'x = '; printf '%10000s' '' | tr ' ' '('; printf 1; printf '%10000s\n' '' | tr ' ' ')'; echo 'y = = 1'; } >$WORK/parens.tile
$ awk 'BEGIN { for (i = 0; i < 300; i++) printf "%*sif x:\n", i, ""; printf "%*spass\ny = = 1\n", 300, "" }' >$WORK/blocks.tile
$ awk 'BEGIN { printf "x = "; for (i = 0; i < 300; i++) printf "f\"{"; printf "1"; for (i = 0; i < 300; i++) printf "}\""; print "\ny = = 1" }' >$WORK/fstrings.tile
$ cd $WORK && for f in parens blocks fstrings; do "$TILESIM" run $f.tile; echo "exit $?"; done
# 100,000 operators, calls and attributes in a row are no nesting
$ awk 'BEGIN { printf "x = 1"; for (i = 0; i < 100000; i++) printf "+1"; printf "\ny = f"; for (i = 0; i < 100000; i++) printf "().a[0]"; print "" }' >$WORK/chains.tile
$ "$TILESIM" dump --stage=ast $WORK/chains.tile | tail -n 1
