# Reports, findings and wrong arguments of exec-isa; NumPy has the results in
# tests/gfx942.
$ cp $DATA/gfx942/kernels.hsaco $WORK/k.hsaco
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel gemm_32x32x8_f16 --block 256 --args 'f16[64,64]' 'f16[64,64]' 'f32[64,64]:c.npy' 64 64
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel softmax --grid 2 --block 256 --args 'f32[2,256]' 'f32[2,256]' --json
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel row_sum --grid 2 --block 64 --args 'f32[100]' 'f32[1]'
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel collatz --block 64 --timeout 1 --args 'i32[64]' 'i32[64]' 64 >/dev/null
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel divide
$ cd $WORK && $TILESIM exec-isa k.hsaco
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel vector_add --args 'f99[4]' 'f32[4]' 'f32[4]' 4
$ cd $WORK && $TILESIM exec-isa k.hsaco --kernel vector_add --disassemble
$ cd $WORK && printf 'not an object' >x.hsaco && $TILESIM exec-isa x.hsaco
$ cd $WORK && $TILESIM exec-isa missing.hsaco
