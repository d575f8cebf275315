run two_outputs.tile
run two_outputs.tile --out "$WORK/o.safetensors" -q --no-ref
run two_outputs.tile --expect "$WORK/o.safetensors" -q
run two_outputs.tile -q --no-ref --seed 1 --out "sums=$WORK/s.npy"
run two_outputs.tile -q --expect "sums=$WORK/s.npy"
