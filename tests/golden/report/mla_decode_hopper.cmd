run ../../../programs/mla_decode_hopper.tile -D batch=2 -D heads=64 -D kv_head_num=2 -D seqlen_kv=45 -D dim=64 -D pe_dim=16 -D block_N=16 -D block_H=32 -D threads=64 -D num_split=3
run ../../../programs/mla_decode_hopper.tile -D batch=2 -D heads=64 -D kv_head_num=2 -D seqlen_kv=45 -D dim=64 -D pe_dim=16 -D block_N=16 -D block_H=32 -D threads=64 -D num_split=1
