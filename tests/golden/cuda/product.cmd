dump --stage=cuda product.tile --kernel product --target a100
dump --stage=cuda product.tile --kernel product --target mi300x
