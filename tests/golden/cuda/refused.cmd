dump --stage=cuda refused.tile --kernel nibbles
dump --stage=cuda refused.tile --kernel blocks_wait
dump --stage=cuda refused.tile --kernel parted
