matrix empty.gold
matrix short.gold
matrix truncated.gold
matrix name.gold
matrix control.gold
matrix unit.gold
matrix size.gold
matrix tiles.gold
matrix bytes.gold
matrix type.gold
matrix cd.gold
matrix combination.gold
matrix k.gold
matrix chained.gold
matrix second.gold
matrix huge.gold
matrix damaged.gold.gz
matrix cut.gold.gz
matrix missing.gold
matrix .
matrix
matrix mfma.gold --path fast
matrix mfma.gold --switch renormalise
matrix mfma.gold --switch nan=7fg
