run ../../../programs/mha_fwd_pipelined.tile -D batch=2 -D heads=3 -D seq_len=45 -D dim=32 -D block_M=32 -D block_N=16 -D threads=64
run ../../../programs/mha_fwd_pipelined.tile -D batch=2 -D heads=3 -D seq_len=45 -D dim=32 -D block_M=32 -D block_N=16 -D threads=64 -D is_causal=True
