# MFMA code on a target whose warps have 32 lanes.
import tilelang
import tilelang.language as T
from tilelang.rocm.intrinsics.mfma_macro_generator import (
    MatrixCoreIntrinEmitter,
)


@T.prim_func
def main(A: T.Tensor((16, 16), "float16"), C: T.Tensor((16, 16), "float32")):
    with T.Kernel(1, threads=64):
        e = MatrixCoreIntrinEmitter("float16", "float16", "float32", False,
                                    True, 1, 1, 16, 16, 16)
        a = T.alloc_local((4,), "float16")
        c = T.alloc_local((4,), "float32")
        T.clear(c)
        e.ldmatrix_a(a, A, 0)
        e.mfma(a, a, c)
        e.stmatrix(c, C)
