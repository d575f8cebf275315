# Matrix code by hand: upstream's emitters, each dtype, order and warp layout.
import tilelang
import tilelang.language as T
import torch
from tilelang.cuda.intrinsics import get_swizzle_layout
from tilelang.cuda.intrinsics.macro.mma_macro_generator import (
    TensorCoreIntrinEmitter,
)
from tilelang.rocm.intrinsics.mfma_macro_generator import (
    MatrixCoreIntrinEmitter, MatrixCorePreshuffleIntrinEmitter,
)


@tilelang.jit(out_idx=[-1])
def mma(M, N, K, dtype, accum, ta=False, tb=True, rows=2, cols=2, wr=32, wc=32,
        chunk=32, atoms=False):
    e = TensorCoreIntrinEmitter(dtype, dtype, accum, ta, tb, rows, cols, wr, wc,
                                chunk)
    BM, BN = rows * wr, cols * wc

    def swizzled(b):
        return T.Layout(b.shape, lambda i, j: list(
            get_swizzle_layout(i, j, b.shape[1], b.dtype)))

    @T.prim_func
    def main(A: T.Tensor((K, M) if ta else (M, K), dtype),
             B: T.Tensor((N, K) if tb else (K, N), dtype),
             C: T.Tensor((M, N), accum)):
        with T.Kernel(N // BN, M // BM, threads=32 * rows * cols) as (bx, by):
            As = T.alloc_shared((chunk, BM) if ta else (BM, chunk), dtype)
            Bs = T.alloc_shared((BN, chunk) if tb else (chunk, BN), dtype)
            a = T.alloc_local((e.warp_rows * e.local_size_a,), dtype)
            b = T.alloc_local((e.warp_cols * e.local_size_b,), dtype)
            c = T.alloc_local((e.warp_rows * e.warp_cols * e.local_size_out,),
                              accum)
            T.annotate_layout({As: swizzled(As), Bs: swizzled(Bs)})
            T.clear(c)
            for ko in T.Pipelined(K // chunk, num_stages=2):
                if ta:
                    T.copy(A[ko * chunk, by * BM], As)
                else:
                    T.copy(A[by * BM, ko * chunk], As)
                if tb:
                    T.copy(B[bx * BN, ko * chunk], Bs)
                else:
                    T.copy(B[ko * chunk, bx * BN], Bs)
                for ki in T.serial(chunk // e.micro_size_k):
                    e.ldmatrix_a(a, As, ki)
                    e.ldmatrix_b(b, Bs, ki)
                    if atoms:
                        for i, j in T.grid(e.mma_num_inst_m, e.mma_num_inst_n):
                            e.mma_atom(a, b, c, i, j)
                    else:
                        e.mma(a, b, c)
            e.stmatrix(c, C, pid_m=by, pid_n=bx)
    return main


@tilelang.jit(out_idx=[-1])
def mfma(M, N, K, dtype, accum, ta=False, tb=True, k_pack=1, blocks=False,
         tile=False):
    kind = MatrixCorePreshuffleIntrinEmitter if blocks \
        else MatrixCoreIntrinEmitter
    chunk = 64
    e = kind(dtype, dtype, accum, ta, tb, 2, 2, 32, 16, chunk, k_pack=k_pack,
             b_preshuffle=blocks)
    depth = e.micro_size_k * k_pack
    shape = (N, K) if tb else (K, N)
    if blocks:
        shape = (N // 16, K // depth, 16, depth) if tb \
            else (K // depth, N // 16, depth, 16)

    @T.prim_func
    def main(A: T.Tensor((K, M) if ta else (M, K), dtype),
             B: T.Tensor(shape, dtype), C: T.Tensor((M, N), accum)):
        with T.Kernel(N // 32, M // 64, threads=256) as (bx, by):
            As = T.alloc_shared((chunk, 64) if ta else (64, chunk), dtype)
            Bs = T.alloc_shared((32, chunk) if tb else (chunk, 32), dtype)
            a = T.alloc_local((e.warp_rows * e.local_size_a * k_pack,), dtype)
            b = T.alloc_local((e.warp_cols * e.local_size_b * k_pack,), dtype)
            c = T.alloc_local((e.warp_rows * e.warp_cols * e.local_size_out,),
                              accum)
            f = T.alloc_fragment((64, 32), accum)
            if tile:
                T.annotate_layout({f: e.make_mfma_store_layout(f)})
                T.clear(f)
            else:
                T.clear(c)
            for ko in T.serial(K // chunk):
                if ta:
                    T.copy(A[ko * chunk, by * 64], As)
                else:
                    T.copy(A[by * 64, ko * chunk], As)
                if not blocks:
                    if tb:
                        T.copy(B[bx * 32, ko * chunk], Bs)
                    else:
                        T.copy(B[ko * chunk, bx * 32], Bs)
                for ki in T.serial(chunk // depth):
                    e.ldmatrix_a(a, As, ki)
                    if blocks:
                        e.ldmatrix_b(b, B, ki + ko * (chunk // depth),
                                     pid_m=by, pid_n=bx)
                    else:
                        e.ldmatrix_b(b, Bs, ki)
                    e.mfma(a, b, f if tile else c)
            if tile:
                T.copy(f, C[by * 64, bx * 32])
            else:
                e.stmatrix(c, C, pid_m=by, pid_n=bx)
    return main


# Small integers, of which every sum is exact in each dtype here.
def operand(rows, columns, dtype, transposed):
    shape = (columns, rows) if transposed else (rows, columns)
    return torch.randint(-2, 3, shape).to(getattr(torch, dtype))


def check(kernel, dtype, accum, M, N, K, ta, tb, shuffle=None):
    a = operand(M, K, dtype, ta)
    b = operand(K, N, dtype, tb)
    want = (a.double().T if ta else a.double()) \
        @ (b.double().T if tb else b.double())
    got = kernel(a, b if shuffle is None else shuffle(b))
    torch.testing.assert_close(got.double(), want, rtol=0, atol=0)


def preshuffled(depth, tb):
    def shuffle(b):
        r, c = (16, depth) if tb else (depth, 16)
        x = b.view(b.shape[0] // r, r, b.shape[1] // c, c)
        return x.permute(0, 2, 1, 3).contiguous()
    return shuffle


def nvidia():
    for dtype, accum in (("float16", "float32"), ("float16", "float16"),
                         ("bfloat16", "float32"), ("int8", "int32"),
                         ("float8_e4m3fn", "float32"), ("float32", "float32")):
        check(mma(128, 128, 96, dtype, accum), dtype, accum, 128, 128, 96,
              False, True)
        check(mma(64, 96, 64, dtype, accum, ta=True, tb=False, rows=1, cols=4,
                  wc=24, atoms=True), dtype, accum, 64, 96, 64, True, False)
        print("mma", dtype, accum)


def amd():
    for dtype, accum in (("float16", "float32"), ("bfloat16", "float32"),
                         ("int8", "int32"), ("float8_e4m3fnuz", "float32"),
                         ("float32", "float32")):
        check(mfma(128, 64, 128, dtype, accum), dtype, accum, 128, 64, 128,
              False, True)
        check(mfma(64, 64, 128, dtype, accum, True, False, 2, tile=True), dtype,
              accum, 64, 64, 128, True, False)
        depth = {1: 64, 2: 32, 4: 8}[getattr(torch, dtype).itemsize]
        for tb in (True, False):
            check(mfma(64, 64, 128, dtype, accum, False, tb, 2, blocks=True),
                  dtype, accum, 64, 64, 128, False, tb, preshuffled(depth, tb))
        print("mfma", dtype, accum)


def faults():
    for make in (lambda: TensorCoreIntrinEmitter("float64", "float64"),
                 lambda: TensorCoreIntrinEmitter(warp_row_tiles=8),
                 lambda: TensorCoreIntrinEmitter(warp_row_tiles=24),
                 lambda: MatrixCoreIntrinEmitter("int8", "int8", "int32",
                                                 mfma_shape=(32, 32, 16))):
        try:
            make()
        except Exception as error:
            print(type(error).__name__, error)
    for policy in (T.GemmWarpPolicy.Square, T.GemmWarpPolicy.FullRow,
                   T.GemmWarpPolicy.FullCol):
        print(policy.is_square(), policy.is_full_row(), policy.is_full_col(),
              [policy.compute_warp_partition(m, n, w)
               for m, n, w in ((128, 128, 4), (32, 32, 4), (64, 256, 8),
                               (32, 128, 8), (16, 16, 4))])


if __name__ == "__main__":
    amd() if torch.version.hip else nvidia()
    faults()
