# torch_vs_numpy.py - torch as tilesim has it against NumPy in float64.
#
# Random shapes, ranks 0 to 5, with sizes of 0 and 1, transposed, expanded and
# sliced; large ones too, so that each path of the loops runs. Each result is
# computed by NumPy from the exact input values in float64 (or int64) and
# rounded once to the dtype. The tolerance is 0 where tilesim rounds that same
# exact result once, and otherwise stands at the case.
import sys

import numpy as np

import probe
import tensors
import torch_script

RNG = np.random.Generator(np.random.PCG64(2024))
CASES, WANT = [], {}


def exact(a):
    """float64 of any float, int64 of any integer; bool stays."""
    if a.dtype == np.bool_:
        return a
    return a.astype(np.float64 if tensors.is_float(tensors.name_of(a))
                    else np.int64)


def add(body, inputs, want, out=None, tol=0, scale=0):
    """inputs: (name, dtype, shape, domain, layout); want: of exact arrays, to
    be rounded to `out`, or to the first input's dtype."""
    CASES.append({"id": str(len(CASES)), "body": body, "tol": tol,
                  "inputs": inputs})
    WANT[CASES[-1]["id"]] = (want, out or inputs[0][1], scale)


def shape_of(rank, most=6):
    return [int(RNG.choice([0, 1, 2, 3, most], p=[.05, .2, .25, .25, .25]))
            for _ in range(rank)]


def layout_of(rank):
    return str(RNG.choice(["", "", "t", "s" if rank else "", "e"]))


def random_input(name, dtype, rank=None, shape=None, domain="n"):
    rank = int(RNG.integers(0, 6)) if rank is None else rank
    shape = shape_of(rank) if shape is None else shape
    return (name, dtype, shape, domain, layout_of(len(shape)))


# ---- rearrangements: any dtype, exactly ------------------------------------------

ANY = list(tensors.DTYPES)[:14]             # what torch computes with, and fp8


def movements():
    for i in range(60):
        t = ANY[i % len(ANY)]
        a = random_input("a", t, rank=int(RNG.integers(1, 6)))
        n = len(a[2])
        order = [int(x) for x in RNG.permutation(n)]
        d, e = (int(x) for x in RNG.integers(-n, n, 2))
        add(f"a.permute({order}).contiguous()", [a],
            lambda a, o=order: a.transpose(o))
        add(f"a.transpose({d}, {e}).reshape(-1)", [a],
            lambda a, d=d, e=e: a.swapaxes(d, e).reshape(-1))
        add(f"a.unsqueeze({d}).clone()", [a],
            lambda a, d=d, n=n: np.expand_dims(a, d))
        r = int(RNG.integers(0, 4))
        add(f"a.repeat_interleave({r}, dim={d})", [a],
            lambda a, r=r, d=d: np.repeat(a, r, d))
        add(f"a.flip({d})", [a], lambda a, d=d: np.flip(a, d))
        add(f"a.roll({r - 2}, {d})", [a],
            lambda a, r=r, d=d: np.roll(a, r - 2, d))
        add(f"torch.cat([a, a], {d})", [a],
            lambda a, d=d: np.concatenate([a, a], d))
        add(f"torch.stack([a, a], {d})", [a],
            lambda a, d=d: np.stack([a, a], d if d >= 0 else d))
    for shape in ([70, 90], [3, 50, 40], [2, 33, 3, 65], [1, 300, 17],
                  [260, 20], [5, 4, 3, 2, 41], [1100, 3], [3, 1100]):
        for t in ("bool", "f16", "f32", "f64", "i64", "e4m3"):
            a = ("a", t, shape, "n", str(RNG.choice(["", "t", "s"])))
            order = [int(x) for x in RNG.permutation(len(shape))]
            add(f"a.permute({order}).contiguous()", [a],
                lambda a, o=order: a.transpose(o))
            add(f"a.permute({order}).float()", [a],
                lambda a, o=order: a.transpose(o), out="f32")
            add("b = torch.zeros(a.shape, dtype=a.dtype); b.transpose(0, -1)"
                ".copy_(a.transpose(0, -1)); return b", [a], lambda a: a)


# ---- elementwise with broadcasting ---------------------------------------------------

def broadcasts():
    ops = [("a + b", np.add), ("a * b", np.multiply),
           ("torch.maximum(a, b)", np.maximum), ("a < b", np.less),
           ("a - b", np.subtract)]
    for i in range(80):
        t = (tensors.FLOATS + tensors.INTS)[i % 9]
        text, f = ops[i % len(ops)]
        rank = int(RNG.integers(0, 5))
        shape = shape_of(rank)
        other = [1 if RNG.random() < .3 else s for s in shape]
        other = other[int(RNG.integers(0, rank + 1)):]
        a = ("a", t, shape, "q", "" if RNG.random() < .5 else "t")
        b = ("b", t, other, "q", "" if RNG.random() < .5 else "t")
        pair, swap = ([a, b], False) if RNG.random() < .5 else ([b, a], True)
        add(text, pair, (lambda b, a, f=f: f(a, b)) if swap else
            (lambda a, b, f=f: f(a, b)), out="bool" if f is np.less else t)
    for x, y in [([3000], [1]), ([40, 70], [70]), ([40, 70], [40, 1]),
                 ([5, 1, 600], [1, 4, 600]), ([2049], [2049]),
                 ([33, 5, 7], [7]), ([90, 80], [90, 80])]:
        for t in ("f16", "bf16", "f32", "f64", "i8", "i32", "i64"):
            lay = [str(RNG.choice(["", "t", "s"])) for _ in range(2)]
            a, b = ("a", t, x, "q", lay[0]), ("b", t, y, "q", lay[1])
            add("a * b + a", [a, b], lambda a, b: a * b + a, out=t)
            add("torch.where(a < b, a, b)", [a, b],
                lambda a, b: np.where(a < b, a, b), out=t)


# ---- reductions -----------------------------------------------------------------------

def reductions():
    for i in range(90):
        t = (tensors.FLOATS + tensors.INTS)[i % 9]
        rank = int(RNG.integers(1, 5))
        a = random_input("a", t, rank=rank, domain="q")
        dims = sorted({int(d) for d in RNG.integers(0, rank,
                                                    RNG.integers(1, rank + 1))})
        keep = bool(RNG.random() < .5)
        ints = not tensors.is_float(t)
        add(f"a.sum({dims}, keepdim={keep})", [a],
            lambda a, d=tuple(dims), k=keep: np.sum(a, d, keepdims=k),
            out="i64" if ints else t)
        add(f"torch.any(a, dim={dims[0]})", [a],
            lambda a, d=dims[0]: np.any(a, d), out="u8" if t == "u8" else "bool")
        if all(a[2][d] for d in dims):
            add(f"a.amax({dims}, keepdim={keep})", [a],
                lambda a, d=tuple(dims), k=keep: np.max(a, d, keepdims=k))
            add(f"a.argmin({dims[0]})", [a],
                lambda a, d=dims[0]: np.argmin(a, d), out="i64")
        add(f"a.cumsum({dims[0]})", [a], lambda a, d=dims[0]: np.cumsum(a, d),
            out="i64" if ints else t)
    for shape in ([70, 90], [5000], [3, 2500], [2, 3, 70, 40], [300000],
                  [1, 1030], [260, 3]):
        for t in ("f16", "f32", "f64", "i32", "bool"):
            a = ("a", t, shape, "q", "t" if len(shape) > 1 else "")
            for d in {0, len(shape) - 1}:
                add(f"a.sum({d})", [a], lambda a, d=d: np.sum(a, d),
                    out=t if tensors.is_float(t) else "i64")
                add(f"a.max({d})[0]", [a], lambda a, d=d: np.max(a, d))
                add(f"a.argmax({d})" if t != "bool" else f"a.any({d})", [a],
                    lambda a, d=d, t=t: np.argmax(a, d) if t != "bool"
                    else np.any(a, d), out="i64" if t != "bool" else t)
            add("a.sum()", [a], np.sum,
                out=t if tensors.is_float(t) else "i64")
            if tensors.is_float(t):
                add("a.var(unbiased=False)", [a], np.var, tol=4, out=t)
                add("a.logsumexp(-1)", [a], lambda a: np.log(np.sum(
                    np.exp(a - a.max(-1, keepdims=True)), -1))
                    + a.max(-1), tol=4, scale=4, out=t)
                add("a.softmax(0)", [a], lambda a: np.exp(a - a.max(0))
                    / np.sum(np.exp(a - a.max(0)), 0), tol=8, out=t)
                add("a.sort(-1)[0]", [a], lambda a: np.sort(a, -1), out=t)


# ---- products -----------------------------------------------------------------------

def products():
    sizes = [(1, 1, 1), (5, 7, 3), (65, 130, 33), (1, 300, 70), (129, 64, 1),
             (300, 17, 520), (64, 600, 64)]
    for m, k, n in sizes:
        for t in ("f16", "f32", "f64", "i32"):
            lay = [str(RNG.choice(["", "t", "s"])) for _ in range(2)]
            a, b = ("a", t, [m, k], "i", lay[0]), ("b", t, [k, n], "i", lay[1])
            add("a @ b", [a, b], np.matmul, out=t)
            a = ("a", t, [2, m, k], "i", lay[0])
            add("a @ b", [a, b], np.matmul, out=t)
            b = ("b", t, [2, n, k], "i", lay[1])
            add("torch.einsum('bmk,bnk->mbn', a, b)", [a, b],
                lambda a, b: np.einsum("bmk,bnk->mbn", a, b), out=t)
    letters = "abcde"
    for i in range(60):
        size = dict(zip(letters, RNG.integers(1, 5, 5)))
        x = "".join(RNG.permutation(list(letters))[:RNG.integers(1, 5)])
        y = "".join(RNG.permutation(list(letters))[:RNG.integers(1, 5)])
        both = "".join(dict.fromkeys(x + y))
        o = "".join(RNG.permutation(list(both))[:RNG.integers(0, len(both) + 1)])
        eq = f"{x},{y}->{o}"
        t = ("f32", "f64", "f16")[i % 3]
        a = ("a", t, [int(size[c]) for c in x], "i", "")
        b = ("b", t, [int(size[c]) for c in y], "i",
             str(RNG.choice(["", "t"])))
        add(f"torch.einsum('{eq}', a, b)", [a, b],
            lambda a, b, eq=eq: np.einsum(eq, a, b), out=t)
    for g in (2, 40):                       # copies that are never made
        q = ("q", "f64", [2, 3 * g, 8], "i", "")
        k = ("k", "f64", [2, 50, 3, 8], "i", "")
        one = ("k", "f64", [2, 50, 1, 8], "i", "")
        for kv, r in ((k, g), (one, 3 * g)):
            add(f"torch.einsum('bhd,bshd->bhs', q, k.repeat_interleave({r},"
                " dim=2))", [q, kv],
                lambda q, k, r=r: np.einsum("bhd,bshd->bhs", q,
                                            np.repeat(k, r, 2)))


# ---- einops ---------------------------------------------------------------------------

def patterns():
    def one(body, shape, want, t="f32"):
        add(body, [("a", t, shape, "q", "")], want)
    one("einops.rearrange(a, 'b s h d -> b h s d')", [2, 3, 4, 5],
        lambda a: a.transpose(0, 2, 1, 3))
    one("einops.rearrange(a, 'b (h d) -> b h d', h=3)", [2, 12],
        lambda a: a.reshape(2, 3, 4))
    one("einops.rearrange(a, 'b h d -> (b h) d')", [2, 3, 4],
        lambda a: a.reshape(6, 4))
    one("einops.rearrange(a, 'b s (h g) d -> b g h s d', g=2)", [2, 3, 8, 5],
        lambda a: a.reshape(2, 3, 4, 2, 5).transpose(0, 3, 2, 1, 4))
    one("einops.rearrange(a, '... d -> d ...')", [2, 3, 4],
        lambda a: a.transpose(2, 0, 1))
    one("einops.rearrange(a, 'b ... (c d) -> (b c) ... d', c=2)", [2, 3, 5, 4],
        lambda a: a.reshape(2, 3, 5, 2, 2).transpose(0, 3, 1, 2, 4)
        .reshape(4, 3, 5, 2))
    one("einops.rearrange(a, 'b 1 d -> b d')", [2, 1, 3],
        lambda a: a.reshape(2, 3))
    one("einops.rearrange(a, 'b d -> b 1 d 1')", [2, 3],
        lambda a: a.reshape(2, 1, 3, 1))
    one("einops.rearrange(a, 'b d -> b () d')", [2, 3],
        lambda a: a.reshape(2, 1, 3))
    one("einops.rearrange(a, '(a b) -> b a', a=2, b=3)", [6],
        lambda a: a.reshape(2, 3).T)
    one("einops.repeat(a, 'b h d -> b (h g) d', g=3)", [2, 3, 4],
        lambda a: np.repeat(a, 3, 1))
    one("einops.repeat(a, 'b h d -> b (g h) d', g=3)", [2, 3, 4],
        lambda a: np.tile(a, (1, 3, 1)))
    one("einops.repeat(a, 'd -> n d', n=4)", [3],
        lambda a: np.tile(a, (4, 1)))
    one("einops.repeat(a, 'b d -> b 2 d')", [2, 3],
        lambda a: np.repeat(a[:, None], 2, 1))
    one("einops.reduce(a, 'b s d -> b d', 'sum')", [2, 3, 4],
        lambda a: a.sum(1))
    one("einops.reduce(a, 'b (s k) -> b s', 'max', k=2)", [2, 6],
        lambda a: a.reshape(2, 3, 2).max(2))
    one("einops.reduce(a, 'b s -> 1 s', 'min')", [2, 6],
        lambda a: a.min(0, keepdims=True))
    two = [("a", "f32", [2, 3, 4, 5], "i", ""), ("b", "f32", [2, 6, 4, 5], "i", "")]
    add("einops.einsum(a, b, 'batch q head dim, batch k head dim ->"
        " batch head q k')", two,
        lambda a, b: np.einsum("bqhd,bkhd->bhqk", a, b))
    add("einops.einsum(a, 'b q h d -> b q')", two[:1],
        lambda a: np.einsum("bqhd->bq", a))
    for bad in ["'b d -> b'", "'b -> b'", "'b d'", "'b d -> b d e'",
                "'(b d -> b d'", "'b b -> b'", "'b d -> b d', z=3",
                "'(b x) d -> b x d', x=3", "'b d -> ... b d'"]:
        one(f"einops.rearrange(a, {bad})", [2, 5], None)


# ---- pending copies, aliasing -----------------------------------------------------------

def aliasing():
    def one(body, want):
        add(body, [("a", "f32", [1, 4], "q", "")], want)
    rep = "b = a.repeat_interleave(3, 0); "
    one(rep + "a += 1; return b", lambda a: np.repeat(a, 3, 0))
    one(rep + "b += 1; return a", lambda a: a)
    one(rep + "b += 1; return b", lambda a: np.repeat(a, 3, 0) + 1)
    one(rep + "c = b[1:, ::2]; b[1] = 7; return c",
        lambda a: np.stack([0 * a[0, ::2] + 7, a[0, ::2]]))
    one(rep + "c = b.t(); c[0] = 7; return b",
        lambda a: np.concatenate([0 * np.repeat(a[:, :1], 3, 0) + 7,
                                  np.repeat(a[:, 1:], 3, 0)], 1))
    one(rep + "c = b.unsqueeze(1).expand(3, 2, 4); b.zero_(); return c",
        lambda a: np.zeros((3, 2, 4)))
    one(rep + "c = b.view(2, 6); a.fill_(2); return c",
        lambda a: np.repeat(a, 3, 0).reshape(2, 6))
    one(rep + "c = b.reshape(12)[4:8]; return c", lambda a: a[0])
    one(rep + "b = b.repeat_interleave(2, 1); a.zero_(); return b",
        lambda a: np.repeat(np.repeat(a, 3, 0), 2, 1))
    one(rep + "c = b + b.flip(1); a.zero_(); return c",
        lambda a: np.repeat(a, 3, 0) + np.flip(np.repeat(a, 3, 0), 1))
    one("c = (a + 1) * (a + 1) - (a + 1); return c",
        lambda a: (a + 1) * (a + 1) - (a + 1))
    one("t = a + 1; u = t; t += 1; return u", lambda a: a + 2)
    one("t = [a + 1]; u = t[0] * 2; return t[0]", lambda a: a + 1)


# ---- comparison -------------------------------------------------------------------------

def used(a, layout):
    """The array as the script arranges it."""
    if layout == "t":
        return a.transpose()
    if layout == "s":
        return a[..., ::2]
    if layout == "e" and a.ndim > 1:
        return np.broadcast_to(a, (a.shape[0], a.shape[1] * 3) + a.shape[2:])
    return a


def expected(case, inputs):
    want, out, _ = WANT[case["id"]]
    arrays = [used(inputs[f"{case['id']}.{i[0]}"], i[4])
              for i in case["inputs"]]
    with np.errstate(all="ignore"):
        return np.asarray(want(*(exact(a) for a in arrays))) \
            .astype(tensors.DTYPES[out][0])


def main():
    for make in (movements, broadcasts, reductions, products, patterns,
                 aliasing):
        make()
    for c in CASES:                         # sizes of 0 cannot be expanded to 3
        c["inputs"] = [(n, t, s, d, "" if lay == "e" and (len(s) < 2 or not s[1])
                        else lay) for n, t, s, d, lay in c["inputs"]]
    inputs = torch_script.inputs_of(CASES)
    saved, lines = probe.run(CASES, imports="import einops\n")
    for env in ({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "7"},
                {"TILESIM_ISA": "generic"}, {"TILESIM_ISA": "avx2"}):
        other, _ = probe.run(CASES, imports="import einops\n", env=env)
        if {n: a.tobytes() for n, a in other.items()} != \
                {n: a.tobytes() for n, a in saved.items()}:
            raise SystemExit(f"other bytes with {env}")
    errors = {line.split()[0] for line in lines if " error " in line}
    wrong = []
    for c in CASES:
        if WANT[c["id"]][0] is None:
            if c["id"] not in errors:
                wrong.append((c, "no error"))
            continue
        if c["id"] not in saved:
            wrong.append((c, "an error"))
            continue
        got, want = saved[c["id"]], expected(c, inputs)
        if got.shape != want.shape or got.dtype != want.dtype:
            wrong.append((c, f"{got.dtype}{list(got.shape)}, not {want.dtype}"
                             f"{list(want.shape)}"))
        elif c["tol"] == 0:
            bad = got.size - np.count_nonzero(
                tensors.same_bits(got, want) | (got == want))
            if bad:
                wrong.append((c, f"{bad} of {got.size} elements differ"))
        elif got.size:
            off = tensors.ulps(got, want, WANT[c["id"]][2]).max()
            if off > c["tol"]:
                wrong.append((c, f"{off:.3g} ulp"))
    for c, why in wrong[:60]:
        print(c["body"], [i[1:] for i in c["inputs"]], why, sep="\n    ")
    print(f"torch: {len(CASES)} cases compared with NumPy, {len(wrong)} wrong")
    sys.exit(bool(wrong))


main()
