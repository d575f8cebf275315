run ../../../programs/fa.tile -D batch=2 -D heads=4 -D groups=2 -D seq_len=45 -D dim=32 -D block_M=32 -D block_N=16 -D num_split_q=2 -D threads=64 --block 0,0 --print 'acc_s[0:3,0:4]@k=1' --print 'l_i[0:5]'
run ../../../programs/gemm.tile -D M=70 -D N=50 -D K=45 -D block_M=32 -D block_N=32 -D block_K=32 -D threads=64 --block 1,2 --print 'acc[0:2,0:2]'
