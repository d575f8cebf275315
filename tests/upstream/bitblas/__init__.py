# bitblas - what upstream's BitNet example takes from that library.
from tilelang import tvm
