matrix mfma.gold
matrix mfma.gold --path scalar --json
matrix switch.gold
matrix switch.gold --switch negative-zero --switch nan=7fc00000
matrix mfma.gold --switch no-renormalise
