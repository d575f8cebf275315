dump --stage=plan --target=a100 point.tile
