dump --stage=tokens tiny.tile
dump --stage=ast tiny.tile
dump tiny.tile
dump --stage=code tiny.tile
