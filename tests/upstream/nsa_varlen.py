# example_tilelang_nsa_fwd_varlen.py against naive_nsa, sequences of several
# lengths laid end to end.
import sys

sys.path.append(sys.argv[1])
import example_tilelang_nsa_fwd_varlen as m
import torch
from fla.ops.utils import prepare_token_indices


def main(offsets, heads=1, query_heads=16, dim=64, chosen=1, block=32):
    total = offsets[-1].item()
    q = torch.randn(1, total, query_heads, dim).half()
    k = torch.randn(1, total, heads, dim).half()
    v = torch.randn(1, total, heads, dim).half()
    gate = torch.rand(1, total, query_heads).half()
    places = prepare_token_indices(offsets).tolist()
    indices = torch.full((1, total, heads, chosen), total, dtype=torch.long)
    for i in range(total):
        blocks = (places[i][1] + block) // block
        picked = torch.randperm(blocks)[:chosen]
        indices[0, i, 0, :len(picked)] = picked
    indices = indices.sort(-1)[0]
    counts = torch.full((1, total, heads), chosen, dtype=torch.long)
    # the kernel's caller reads these of its own main
    m.C_SEQ_LEN, m.H, m.HQ, m.D, m.S = total, heads, query_heads, dim, chosen
    m.N, m.block_size, m.dtype = len(offsets) - 1, block, torch.float16
    given = dict(q=q, k=k, v=v, g_slc=gate, g_swa=gate, block_indices=indices,
                 block_counts=counts, block_size=block, cu_seqlens=offsets)
    torch.testing.assert_close(m.naive_nsa(**given), m.parallel_nsa(**given),
                               atol=1e-2, rtol=1e-2)


if __name__ == "__main__":
    main(torch.tensor([0, 41, 64, 100]))
