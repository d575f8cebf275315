# chunk_grads.py - gradients of chunked linear attention, by autograd in f64.
#
# Beside chunks.py, whose forms are differentiated: what upstream's backward
# kernels of gdn and kda are compared with. The kernels take gradients of
# several results at once, so that each function here writes down the scalar
# that has them. Of gates to base 2 the kernels leave a factor ln 2 out.
import math

import torch
from chunks import chunked, lower, whole


def leaf(x):
    return x.detach().double().clone().requires_grad_()


# Gradients of objective(*inputs) for the inputs named by their places.
def of(objective, *inputs):
    leaves = [leaf(x) for x in inputs]
    objective(*leaves).backward()
    return [x.grad for x in leaves]


def dot(a, b):
    return (a * b.double()).sum()


def causal(a, diagonal=0):
    return a.masked_fill(~lower(a.shape[-1], diagonal), 0)


# gdn chunk_o and the next state, with or without gates: dq, dk, dw. The
# file's kernel with gates never loads the last gate of a chunk, so that dk
# lacks what comes from the next state there (state=False) and dg is wrong.
def o_bwd(q, k, v, w, h, g, do, dh, dv, scale, size, state=True):
    gate = chunked(g, size) if g is not None else None
    v, do, dv = (chunked(x, size) for x in (v, do, dv))

    def objective(q, k, w):
        q, k, w = (chunked(x, size) for x in (q, k, w))
        a, from_state, last = q @ k.mT * scale, q @ h.double() * scale, 1
        if gate is not None:
            a = a * (gate.unsqueeze(-1) - gate.unsqueeze(-2)).exp()
            from_state = from_state * gate.unsqueeze(-1).exp()
            last = (gate[..., -1:] - gate).exp().unsqueeze(-1)
        total = dot(causal(a) @ v + from_state, do) - dot(w @ h.double(), dv)
        return total + dot((k * last).mT @ v, dh) if state else total

    return of(objective, q, k, w)


# The gradient of M = 1 / A, strictly below the diagonal.
def inverse_bwd(da, a, size):
    da, a = causal(chunked(da, size), -1), chunked(a, size)
    return -causal(a.mT @ da @ a.mT, -1)


# gdn w = A (k beta e^g), u = A (v beta), A = 1 / (1 + beta k k' e^(g - g')).
def wy_bwd(k, v, beta, g, a, dw, du, size):
    def objective(k, v, beta, g, a):
        k, v, beta, g, a = (chunked(x, size) for x in (k, v, beta, g, a))
        beta = beta.unsqueeze(-1)
        w = a @ (k * beta * g.exp().unsqueeze(-1))
        return dot(w, chunked(dw, size)) + dot(a @ (v * beta),
                                               chunked(du, size))

    dk, dv, dbeta, dg, da = of(objective, k, v, beta, g, a)
    dm = inverse_bwd(da, a, size)

    def inner(k, beta, g):
        k, beta, g = (chunked(x, size) for x in (k, beta, g))
        m = (k * beta.unsqueeze(-1)) @ k.mT
        return dot(m * (g.unsqueeze(-1) - g.unsqueeze(-2)).exp(), dm)

    dk2, dbeta2, dg2 = of(inner, k, beta, g)
    return dk + dk2, dv, dbeta + dbeta2, dg + dg2


# kda: the same with a gate for each column; dA of M, and dk, dg on top of
# what other kernels have found.
def kda_wy_bwd(k, v, beta, gk, a, dw, du, dk, dg, size):
    def objective(k, v, beta, gk, a):
        k, v, beta, gk, a = (chunked(x, size) for x in (k, v, beta, gk, a))
        beta = beta.unsqueeze(-1)
        w = a @ (k * beta * gk.exp2())
        return dot(w, chunked(dw, size)) + dot(a @ (v * beta),
                                               chunked(du, size))

    ours, dv, dbeta, dgk, da = of(objective, k, v, beta, gk, a)
    dm = whole(inverse_bwd(da, a, size))
    return dm, dk.double() + ours, dv, dbeta, dg.double() + dgk / math.log(2)


# kda: what passes through the states: dq, dk, dw, dg.
def dqkwg(q, k, v, w, g, h, dv, do, dh, scale, size):
    def objective(q, k, w, g):
        q, k, w, g = (chunked(x, size) for x in (q, k, w, g))
        last = g[:, :, :, -1:]
        after = h.double() * last.mT.exp2()
        after = after + (k * (last - g).exp2()).mT @ chunked(v, size)
        o = (q * g.exp2()) @ h.double() * scale
        return (dot(o, chunked(do, size)) + dot(after, dh)
                - dot(w @ h.double(), chunked(dv, size)))

    dq, dk, dw, dg = of(objective, q, k, w, g)
    return dq, dk, dw, dg / math.log(2)


# kda: the gradients of the states after each chunk, of the first one, and of
# u, the new values.
def delta_bwd(q, k, w, gk, h0, dht, do, dv, scale, size):
    q, k, w, gk, do, dv = (chunked(x, size) for x in (q, k, w, gk, do, dv))
    u, first = torch.zeros_like(dv).requires_grad_(), leaf(h0)
    h, states, total = first, [], 0
    for i in range(q.shape[1]):
        v = u[:, i] - w[:, i] @ h
        total = total + dot(q[:, i] @ h * scale, do[:, i]) + dot(v, dv[:, i])
        h = h * gk[:, i, :, -1].exp2().unsqueeze(-1) + k[:, i].mT @ v
        h.retain_grad()
        states.append(h)
    (total + dot(h, dht)).backward()
    return torch.stack([x.grad for x in states], 1), first.grad, whole(u.grad)


# q_i k_j 2^(g_i - g_j) and the same of beta k and k, for j <= i.
def scores(q, k, g, beta, size):
    q, k, g, beta = (chunked(x, size) for x in (q, k, g, beta))
    decay = (g.unsqueeze(-2) - g.unsqueeze(-3)).exp2()
    decay = decay * lower(decay.shape[-2], 0).unsqueeze(-1)
    aqk = (q.unsqueeze(-2) * k.unsqueeze(-3) * decay).sum(-1)
    akk = ((k * beta.unsqueeze(-1)).unsqueeze(-2) * k.unsqueeze(-3)
           * decay).sum(-1)
    return aqk, akk


def intra_bwd(q, k, g, beta, daqk, dakk, dq, dk, dg, size):
    def objective(q, k, g, beta):
        aqk, akk = scores(q, k, g, beta, size)
        return dot(aqk, chunked(daqk, size)) + dot(akk, chunked(dakk, size))

    gq, gk, gg, gb = of(objective, q, k, g, beta)
    return (dq.double() + gq, dk.double() + gk, gb,
            dg.double() + gg / math.log(2))


# 1 / (1 + x) of x strictly below the diagonal.
def inverse(x):
    n = x.shape[-1]
    rows = []
    for i in range(n):
        row = torch.eye(n, dtype=torch.float64)[i].expand(*x.shape[:-2], n)
        for j in range(i):
            row = row - x[..., i, j:j + 1] * rows[j]
        rows.append(row)
    return torch.stack(rows, -2)


# Blocks of `part` rows below those on the diagonal; or those on it.
def blocks(size, part, diagonal):
    at = torch.arange(size) // part
    at, to = at[:, None], at[None, :]
    return at == to if diagonal else at > to


# kda: scores below the diagonal blocks, and 1 / (1 + Akk), whose diagonal
# blocks are given.
def solve(q, k, g, beta, akk_diag, scale, size, part):
    aqk, akk = scores(q, k, g, beta, size)
    below = blocks(size, part, False)
    given = chunked(akk_diag, size)
    given = torch.cat([given] * (size // part), -1)
    given = given * (blocks(size, part, True) & lower(size, -1))
    return (whole(aqk * scale * below), whole(inverse(akk * below + given)),
            below, lower(size, 0))


# kda: the scores on the diagonal blocks; of k, part columns of them.
def token_parallel(q, k, g, beta, size, part):
    aqk, akk = scores(q, k, g, beta, size)
    on = blocks(size, part, True)
    akk = akk * (on & lower(size, -1))
    akk = akk.reshape(*akk.shape[:-1], size // part, part).sum(-2)
    return whole(aqk * on), whole(akk)
