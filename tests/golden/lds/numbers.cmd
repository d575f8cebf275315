# Sizes that others have published, or that follow from what they have.
# The tile that wins the AMD tuning: (128 + 2 x 32) x 128 x 2 + 2 x 512 x 4.
$ $TILESIM lds-report --target mi300x $PROGRAMS/fa.tile -D block_M=128 -D block_N=32 -D threads=512 | grep -E 'block, bytes|ok$'
# Attention of variable length, three stages each of K and V: 7 x 32,768 bytes
# are 229,376, and barriers; 232,448 is the limit.
$ $TILESIM lds-report --target h100 $PROGRAMS/attention_varlen.tile -D dim=128 -D block_M=128 -D block_N=128 -D num_stages=3 -D threads=256 | grep -E 'mbarriers|block, bytes|limit$|ok$'
# Twice the keys of the MLA decode: 128 x (512 + 64) x 2 = 147,456 and the
# workspaces.
$ $TILESIM lds-report --target mi300x $PROGRAMS/mla_decode.tile -D block_N=128 | grep -E 'K(V|_pe)_shared  |workspace|block, bytes|OVER'
# The AMD tuning space since v0.1.8: 24 of its 216 points fit, of 64 x 64 alone.
$ $TILESIM lds-report --target mi300x $PROGRAMS/fa.tile -D groups=1 -q --sweep 'block_M=64,128,256 block_N=64,128,256 threads=128,256 num_split_q=64,128,256 num_stages=0,1 panel_size=7,8 k_pack=2' | grep -v OVER | cut -c1-42
