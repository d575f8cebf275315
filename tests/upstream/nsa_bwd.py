# example_tilelang_nsa_bwd.py against naive_nsa, results and gradients.
#
# All blocks that a token may see are chosen here: the file's mask is written by
# place in the list of choices, where its readers take the number of a block.
import sys

sys.path.append(sys.argv[1])
import example_tilelang_nsa_bwd as m
import torch


def main(length=80, heads=2, query_heads=32, dim=32, chosen=3, block=32):
    shape = {"q": query_heads, "k": heads, "v": heads}
    x = {n: torch.randn(1, length, h, dim).half().requires_grad_()
         for n, h in shape.items()}
    for n in ("g_slc", "g_swa"):
        x[n] = torch.ones(1, length, query_heads).half().requires_grad_()
    indices = torch.full((1, length, heads, chosen), length, dtype=torch.long)
    for t in range(length):
        seen = (t + block) // block
        indices[0, t, :, :seen] = torch.arange(seen)
    counts = torch.full((1, length, heads), chosen, dtype=torch.long)
    # the kernels' caller reads these of its own main
    m.B, m.SEQ_LEN_Q, m.H, m.HQ, m.D = 1, length, heads, query_heads, dim
    m.S, m.block_size, m.block_counts = chosen, block, counts
    more = dict(block_indices=indices, block_counts=counts, block_size=block)
    up = torch.randn(1, length, query_heads, dim).half()
    grads = []
    for function in (m.naive_nsa, m.parallel_nsa):
        out = function(**x, **more)
        out.backward(up)
        grads.append([out.detach()] + [x[n].grad.clone()
                                       for n in ("q", "k", "v", "g_slc")])
        for n in x:
            x[n].grad = None
    for want, got in zip(*grads):
        torch.testing.assert_close(want, got, atol=1e-2, rtol=1e-2)


if __name__ == "__main__":
    main()
