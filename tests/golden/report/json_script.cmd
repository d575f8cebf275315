run --json ../../../programs/fa.tile -- --seq_len 45 --heads 2 --dim 32
