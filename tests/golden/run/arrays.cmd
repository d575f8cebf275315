$ cp arrays.tile "$WORK" && cd "$WORK" && ln -s /dev/full full.npy
# npy DESCR SHAPE BYTES FILE: a header of 128 bytes, then zeros
$ npy() { { printf "\223NUMPY\001\000v\000"; printf '%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"; head -c "$3" /dev/zero; } >"$4"; }
$ npy '<f4' '64, 32' 8192 right.npy
$ npy '<f4' '32, 64' 8192 shape.npy
$ npy '<f4' '64, 32, 1' 8192 rank.npy
$ npy '<f2' '64, 32' 4096 dtype.npy
$ npy '<c8' '64, 32' 16384 complex.npy
$ npy '<f4' '64, 32' 8000 short.npy
$ npy '<f4' '64, -32' 8192 negative.npy
$ npy '<f4' '4611686018427387904, 32' 8192 overflow.npy
$ head -c 50 right.npy >header.npy
$ echo no array >text.npy
$ : >empty.npy
$ try() { "$TILESIM" run -q arrays.tile --no-ref "$@" >report; }
$ try --in A=right.npy
$ try --in A=shape.npy
$ try --in A=rank.npy
$ try --in A=dtype.npy
$ try --in A=complex.npy
$ try --in A=short.npy
$ try --in A=negative.npy
$ try --in A=overflow.npy
$ try --in A=header.npy
$ try --in A=text.npy
$ try --in A=empty.npy
$ try --in A=missing.npy
$ try --in B=right.npy
$ try --in A=right.npy --in A=right.npy
$ try --in A
$ try --in =right.npy
$ try --in right.npy
$ try --in none.safetensors
$ try --in text.safetensors
$ try --out B=c.npy
$ try --out C=c.txt
$ try --out C=none/c.npy
$ try --out C=full.npy
$ try --expect B=right.npy
$ try --expect C=shape.npy
$ try --expect C=missing.npy
