gpu upstream.tile --as=tilelang --target=a100 --kernel=through_shared --emit=cuda -o /dev/null
gpu upstream.tile --as=tilelang --target=h100 --kernel=through_shared --emit=cuda
gpu upstream.tile --as=tilelang --target=a100 --kernel=uneven --emit=cuda
gpu ../../gpu/conv.tile --as=tilelang --target=h100 --kernel=conv --emit=cuda
