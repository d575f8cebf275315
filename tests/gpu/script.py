import torch
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def copy(N, block=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=block) as bx:
            for i in T.Parallel(block):
                if bx * block + i < N:
                    B[bx * block + i] = A[bx * block + i]

    return main


@tilelang.jit
def fill(N, block=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=block) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i]

    return main


if __name__ == "__main__":
    a = torch.randn(1000)
    k = copy(1000)
    b = k(a)
    b = k(b)
    assert torch.equal(a, b)
    c = torch.zeros(256)
    fill(256)(a[:256].contiguous(), c)
    assert torch.equal(c, a[:256])
    print("right")
