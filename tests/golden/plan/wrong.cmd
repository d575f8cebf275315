dump --stage=plan --target=mi300x -D bN=8 wrong.tile
dump --stage=plan --target=a100 -D bM=16 -D bN=8 wrong.tile
dump --stage=plan --target=h100 -D threads=96 wrong.tile
dump --stage=plan --target=h100 -D threads=2048 wrong.tile
dump --stage=plan --target=mi300x -D bM=8 wrong.tile
dump --stage=plan --target=mi30x wrong.tile
