--help
run --help
dump --help
bogus
$ "$TILESIM" >/dev/null
