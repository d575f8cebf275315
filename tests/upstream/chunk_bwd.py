# chunk_bwd.py - upstream's gdn and kda files m against chunk_grads.py, at
# column counts that their blocks do not divide.
import chunk_grads as grads
import chunks
import torch
import tilelang.language as T

BF, F = torch.bfloat16, torch.float32
SIZE = 64               # of a chunk
SHAPE = (2, 192, 3, 96, 160)
TYPES = (T.bfloat16, T.bfloat16, T.float32, T.float32, T.float32)
FLOATS = (T.float32,) * 5


def gates(*shape):
    return chunks.local_cumsum(-torch.rand(*shape) * 0.2, SIZE).float()


# Gates of the files' own inputs: smaller, since torch computes in 2^g.
def mild(m):
    m.chunk_local_cumsum = \
        lambda g, size: chunks.local_cumsum(g * 0.1, size).float()


def triangular(a):
    a = chunks.chunked(a, SIZE) * 0.1
    return chunks.whole(a.masked_fill(~chunks.lower(SIZE, 0), 0))


def check(names, want, got, limit=2e-2):
    for name, a, b in zip(names.split(), want, got):
        chunks.check(name, a, b, limit)


def chunk_o_bwd(m):
    q, k, v, h, g, do, dh, dv, w = m.prepare_input(*SHAPE, SIZE, BF, BF, F, F,
                                                   F)
    g = gates(*SHAPE[:3])
    for use_g in (False, True):
        kernel = m.tilelang_chunk_o_bwd_dqkwg(*SHAPE, *TYPES, SIZE, 0.1, use_g,
                                              True, 64, 64, 128, 0)
        want = grads.o_bwd(q, k, v, w, h, g if use_g else None, do, dh, dv,
                           0.1, SIZE, not use_g)
        check("dq dk dw", want, kernel(q, k, v, h, g, do, dh, dv, w))


def wy_fast_bwd_split(m):
    k, v, beta, g, a, dw, du = m.prepare_input(*SHAPE, SIZE, BF, BF, F, F, F)
    a, g = triangular(a).to(BF), gates(*SHAPE[:3])
    how = (*SHAPE, *TYPES, SIZE, 64, 64, 128, 0)
    da, dk, dv, dbeta, dg = m.tilelang_wy_fast_bwd(*how)(k, v, beta, g, a, dw,
                                                         du)
    more = torch.empty_like(dbeta)
    plus, minus = (torch.empty(*SHAPE[:3], SIZE) for _ in range(2))
    m.tilelang_wy_fast_bwd_split(*how)(k, v, beta, g, a, dw, du, da, dk, dv,
                                       more, plus, minus)
    check("dk dv dbeta dg", grads.wy_bwd(k, v, beta, g, a, dw, du, SIZE),
          (dk, dv, dbeta + more, dg + plus.sum(-1) - minus.sum(-1)))


def dqkwg(m):
    q, k, v, w, g, h, dv, do, dh = m.prepare_input(*SHAPE, SIZE, F, F)
    g = gates(*SHAPE[:4])
    kernel = m.chunk_bwd_dqkwg(*SHAPE, 0.5, SIZE, "float32", "float32",
                               block_DK=64, block_DV=64, threads=128,
                               num_stages=2)
    check("dq dk dw dg", grads.dqkwg(q, k, v, w, g, h, dv, do, dh, 0.5, SIZE),
          kernel(q, k, v, g, h, dv, do, dh), chunks.TF32)


def delta_bwd(m):
    mild(m)
    q, k, w, g, h0, dht, do, dv = m.prepare_input(*SHAPE, SIZE, BF, BF, F, F, F)
    w = w * 0.1
    kernel = m.tilelang_chunk_gated_delta_rule_bwd_dhu(
        *SHAPE, *TYPES, SIZE, 0.1, block_DV=64, threads=128, num_stages=1)
    check("dh dh0 dv2", grads.delta_bwd(q, k, w, g, h0, dht, do, dv, 0.1, SIZE),
          kernel(q, k, w, g, h0, dht, do, dv))


def wy_fast_bwd(m):
    k, v, beta, g, a, dw, du, dk, dg = m.prepare_input(*SHAPE, SIZE, F, F, F, F,
                                                       F)
    a, g = triangular(a).float(), gates(*SHAPE[:4])
    kernel = m.tilelang_wy_fast_bwd(*SHAPE, *FLOATS, SIZE, block_DK=64,
                                    block_DV=64, threads=128, num_stages=2)
    check("dA dk dv dbeta dg",
          grads.kda_wy_bwd(k, v, beta, g, a, dw, du, dk, dg, SIZE),
          kernel(k, v, beta, g, a, dw, du, dk, dg), chunks.TF32)


def intra_bwd(m):
    shape = (2, 128, 2, 96)
    q, k, g, beta, daqk, dakk, dq, dk, db, dg = m.prepare_input(
        *shape, SIZE, F, F, F, F, F)
    g = gates(*shape)
    kernel = m.tilelang_chunk_bwd_intra(*shape, *FLOATS, SIZE, block_DK=64,
                                        threads=128, num_stages=1)
    dq2, dk2, db2, dg2 = kernel(q, k, g, beta, daqk, dakk, dq, dk, db, dg)
    check("dq dk db dg",
          grads.intra_bwd(q, k, g, beta, daqk, dakk, dq, dk, dg, SIZE),
          (dq2, dk2, db2.sum(0), dg2), chunks.TF32)


# What the kernel does not write is left out.
def inter_solve_fused(m):
    mild(m)
    shape = (2, 128, 2, 80)
    q, k, g, beta, _, diagonal = m.prepare_input(*shape, SIZE, 16, BF, BF, F, F)
    k, diagonal = k * 0.1, torch.randn_like(diagonal) * 0.1
    kernel = m.tilelang_chunk_kda_fwd_inter_fused(
        *shape, *TYPES[:4], SIZE, 16, 0.5, block_DK=32, threads=32,
        num_stages=1)
    aqk, akk, below, lower = grads.solve(q, k, g, beta, diagonal, 0.5, SIZE, 16)
    got = [chunks.whole(torch.where(mask, chunks.chunked(x, SIZE), 0))
           for mask, x in zip((below, lower), kernel(q, k, g, beta, diagonal))]
    check("Aqk Akk", (aqk, akk), got)


def intra_token_parallel(m):
    mild(m)
    shape = (2, 128, 3, 80)
    q, k, g, beta = m.prepare_input(*shape, SIZE, BF, BF, F, F)
    kernel = m.tilelang_chunk_kda_fwd_intra_token_parallel(
        *shape, *TYPES[:4], SIZE, 16, block_H=2, threads=128, num_stages=1)
    check("Aqk Akk", grads.token_parallel(q, k, g, beta, SIZE, 16),
          kernel(q, k, g, beta))
