banks --target h200 results.tsv
banks --target h200 results.tsv -v
banks --target h200 results.tsv --json
