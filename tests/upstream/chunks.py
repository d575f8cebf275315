# chunks.py - chunked linear attention in torch, a chunk at a time.
#
# References for upstream's gdn and kda examples, whose own ones are Triton
# kernels. Tensors are [batch, sequence, head, ...]; all is computed in f64.
# g and gk are running sums within a chunk, of logarithms to base e, or to
# base 2 where a function says so.
import torch


# [B, S, H, ...] as [B, chunk, H, C, ...] of f64
def chunked(x, size):
    b, s = x.shape[:2]
    x = x.double().reshape(b, s // size, size, *x.shape[2:])
    return x.transpose(2, 3)


def whole(x):
    x = x.transpose(2, 3)
    return x.reshape(x.shape[0], -1, *x.shape[3:])


def lower(size, diagonal):
    return torch.ones(size, size, dtype=torch.bool).tril(diagonal)


# The hardware multiplies float32 as TF32, which rounds each of two operands by
# up to 2^-11 of it.
TF32 = 2**-10


# Relative distance of all elements, as a check that raises.
def check(name, want, got, limit=2e-2):
    want, got = want.double(), got.double()
    assert want.shape == got.shape, name
    assert torch.isfinite(got).all(), name + " is not finite"
    size = ((want * want).sum()).sqrt()
    far = (((want - got) * (want - got)).sum()).sqrt()
    assert far <= limit * size, name + " is off by " + str(far / size)


def local_cumsum(g, size, reverse=False, head_first=False):
    x = g.double()
    x = x if head_first else x.transpose(1, 2)
    x = x.reshape(*x.shape[:2], -1, size, *x.shape[3:])
    x = x.flip(3).cumsum(3).flip(3) if reverse else x.cumsum(3)
    x = x.reshape(*x.shape[:2], -1, *x.shape[4:])
    return x if head_first else x.transpose(1, 2)


# beta_i exp(g_i - g_j) k_i k_j below the diagonal
def scaled_dot_kkt(k, beta, g, size):
    k, beta, g = chunked(k, size), chunked(beta, size), chunked(g, size)
    a = (k * beta.unsqueeze(-1)) @ k.mT
    a = a * (g.unsqueeze(-1) - g.unsqueeze(-2)).exp()
    return whole(a.masked_fill(~lower(size, -1), 0))


# The results of a chunk: what the state gives and what the chunk itself does.
def fwd_o(q, k, v, h, g, scale, size):
    q, k, v, g = (chunked(x, size) for x in (q, k, v, g))
    a = (q @ k.mT) * (g.unsqueeze(-1) - g.unsqueeze(-2)).exp()
    a = a.masked_fill(~lower(size, 0), 0)
    o = (q @ h.double()) * g.exp().unsqueeze(-1) + a @ v
    return whole(o * scale)


def gla_fwd_o(q, v, g, a, h, scale, size):      # base 2
    q, v, g, a = (chunked(x, size) for x in (q, v, g, a))
    a = a.masked_fill(~lower(size, 0), 0)
    return whole((q * g.exp2()) @ h.double() * scale + a @ v)


def w_u(k, v, beta, g, a, size):
    k, v, a = (chunked(x, size) for x in (k, v, a))
    beta, g = chunked(beta, size).unsqueeze(-1), chunked(g, size).unsqueeze(-1)
    return whole(a @ (k * beta * g.exp())), whole(a @ (v * beta))


def kda_w_u(k, v, beta, gk, a, size):           # base 2; w, u, kg
    k, v, a, gk = (chunked(x, size) for x in (k, v, a, gk))
    beta = chunked(beta, size).unsqueeze(-1)
    last = gk[:, :, :, -1:]
    return (whole(a @ (k * beta * gk.exp2())), whole(a @ (v * beta)),
            whole(k * (last - gk).exp2()))


# The state before each chunk, the one after all, and the new values. g is a
# number for each position, gk one for each column of k, to base 2.
def delta_h(k, w, u, initial, size, g=None, gk=None):
    k, w, u = (chunked(x, size) for x in (k, w, u))
    h = initial.double()
    states, values = [], []
    for i in range(k.shape[1]):
        states.append(h)
        v = u[:, i] - w[:, i] @ h
        values.append(v)
        if g is not None:
            decay = chunked(g, size)[:, i]
            v = v * (decay[:, :, -1:] - decay).exp().unsqueeze(-1)
            h = h * decay[:, :, -1:, None].exp()
        if gk is not None:
            decay = chunked(gk, size)[:, i, :, -1]
            h = h * decay.exp2().unsqueeze(-1)
        h = h + k[:, i].mT @ v
    return torch.stack(states, 1), h, whole(torch.stack(values, 1))


def bwd_dv(do, a, size):
    do, a = chunked(do, size), chunked(a, size)
    return whole(a.masked_fill(~lower(size, 0), 0).mT @ do)


def gla_bwd_da(v, do, scale, size):
    v, do = chunked(v, size), chunked(do, size)
    return whole(((do @ v.mT) * scale).masked_fill(~lower(size, 0), 0))


# Retention: o_i = sum over j <= i of decay^(i - j) (q_i k_j) v_j.
def retention(q, k, v, scale, decay):
    q, k, v = (x.double().transpose(1, 2) for x in (q, k, v))
    at = torch.arange(q.shape[2], dtype=torch.float64)
    back = (at[:, None] - at[None, :]).clamp(min=0)
    a = (q @ k.mT) * scale * (back * decay.log()[:, None, None]).exp()
    return (a.tril() @ v).transpose(1, 2)
