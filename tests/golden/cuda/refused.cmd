dump --stage=cuda refused.tile --kernel scales
dump --stage=cuda refused.tile --kernel blocks_wait
dump --stage=cuda refused.tile --kernel parted
