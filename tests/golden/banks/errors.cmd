banks --target h100 broken.tsv
banks --target mi300x broken_amd.tsv
banks --target a100 missing.tsv
banks .
banks binary.tsv
banks
banks nvidia.tsv amd.tsv
banks --target h300 nvidia.tsv
banks nvidia.tsv --explain 10
banks nvidia.tsv --explain 0
banks nvidia.tsv --explain x
banks --target mi300x,h100 empty.tsv --json
