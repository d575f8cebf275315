# 32 lanes read a column, 32 words apart: all in one bank, 31 conflicts in each
# of 32 instructions. Rows of 33 words meet nowhere, and take 31 x 33 + 32 words:
# 4,220 bytes, 4,224 in steps of 16, 128 more.
$ $TILESIM lds-report turn.tile | grep -E -A2 'tile read :|_op_ld|CONFLICT|^fewer'
# As written, it is what was counted, and needs no advice.
$ $TILESIM lds-report -D padded=True turn.tile | grep -E 'tile read :|_op_ld|CONFLICT|^  block, bytes|^fewer'
$ $TILESIM lds-report --json --target a100 turn.tile | grep -A9 '"layouts"'
# A layout is for all targets. wgmma of an H100 needs the one that there is; for
# an MI300X alone there is advice, and it holds when written.
$ $TILESIM lds-report $PROGRAMS/gqa_fwd.tile | grep -E '_op_ld|CONFLICT|^fewer'
$ $TILESIM lds-report --target mi300x $PROGRAMS/flash_decoding.tile | grep -E -A5 '^fewer'
$ sed -e '67a \            T.annotate_layout({Q_shared: T.Layout((16, 128), lambda i, j: i * 132 + j)})' -e '70a \            T.annotate_layout({P_shared: T.Layout((16, 64), lambda i, j: i * 68 + j)})' $PROGRAMS/flash_decoding.tile >$WORK/padded.tile
$ $TILESIM lds-report --target mi300x $WORK/padded.tile | grep -E 'CONFLICT|^fewer'
# Nothing is padded where that moves conflicts from reads to writes.
$ $TILESIM lds-report --target mi300x $PROGRAMS/gemm.tile | grep -E 'CONFLICT|^fewer'
# The rules of 'tilesim gpu' read columns of 32 words: 31 lanes wait, 32 times.
$ $TILESIM lds-report --as tilesim --target h100 turn.tile | grep -E '_op_ld|^fewer'
