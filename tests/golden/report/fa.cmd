run ../../../programs/fa.tile -D batch=2 -D heads=4 -D groups=2 -D seq_len=45 -D dim=32 -D block_M=32 -D block_N=16 -D num_split_q=2 -D threads=64
run ../../../programs/fa.tile -D batch=2 -D heads=4 -D groups=2 -D seq_len=45 -D dim=32 -D block_M=32 -D block_N=16 -D num_split_q=2 -D threads=64 -D is_causal=True --seed 7
run -q ../../../programs/fa.tile -- --seq_len 45 --heads 2 --dim 32
