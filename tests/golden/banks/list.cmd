banks --target h200 nvidia.tsv
banks --target a100 nvidia.tsv
banks --target mi300x,mi355x amd.tsv
banks empty.tsv
