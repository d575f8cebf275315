run findings.tile
run --json findings.tile
