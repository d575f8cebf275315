$ "$TILESIM" --version | head -n 1
