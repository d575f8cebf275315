run ../../../programs/fa.tile -D heads=2 -D dim=32 --sweep 'seq_len=1,45 is_causal=True,False'
run ../../../programs/fa.tile -D heads=3 -D dim=32 -D seq_len=20 --sweep 'groups=1,2,3'
run ../../../programs/gemm.tile -D N=16 -D K=16 --sweep 'M=16,32 block_M=16' --no-ref
