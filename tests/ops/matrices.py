"""matrices.py - T.gemm, and what moves tiles about."""
import numpy as np

from cases import Case, Part, tensor, values, wide
from dtypes import ALL, FLOATS, INTS

# dtype of C for each dtype of A and B; upstream's matrix units, and f64.
INTO = {"float16": ("float16", "float32"), "bfloat16": ("float32",),
        "float32": ("float32",), "float64": ("float64",),
        "float8_e4m3fn": ("float32", "float16"), "float8_e5m2": ("float32",),
        "float8_e4m3fnuz": ("float32",), "float8_e5m2fnuz": ("float32",),
        "int8": ("int32",), "uint8": ("int32",)}
SHAPES = [(16, 16, 16), (5, 7, 3), (33, 17, 40), (64, 32, 64)]


def gemm(into, trans_a, trans_b, clear):
    def make(dtype, rng):
        for m, n, k in SHAPES:
            a = values(dtype, (k, m) if trans_a else (m, k), rng, 2)
            b = values(dtype, (n, k) if trans_b else (k, n), rng, 2)
            c = values(into, (m, n), rng, 3)
            launch = (
                [tensor("A", a.shape, dtype), tensor("B", b.shape, dtype),
                 tensor("C", c.shape, into), tensor("D", c.shape, into)],
                [f"a = T.alloc_shared({a.shape}, T.{dtype})",
                 f"b = T.alloc_shared({b.shape}, T.{dtype})",
                 f"c = T.alloc_fragment({c.shape}, T.{into})",
                 "T.copy(A, a)", "T.copy(B, b)", "T.copy(C, c)",
                 f"T.gemm(a, b, c, transpose_A={trans_a}, "
                 f"transpose_B={trans_b}, clear_accum={clear})",
                 "T.copy(c, D)"])
            x, y = wide(a), wide(b)
            want = (x.T if trans_a else x) @ (y.T if trans_b else y)
            want = want if clear else want + wide(c)
            yield Part(launch, {"A": a, "B": b, "C": c},
                       {"D": want.astype(ALL[into])})
    return make


def gemms():
    for trans_a, trans_b, clear in ((False, False, False), (False, True, True),
                                    (True, False, False), (True, True, True)):
        for into in sorted({c for row in INTO.values() for c in row}):
            dtypes = [a for a, row in INTO.items() if into in row]
            yield Case(f"T.gemm into {into}, transpose_A={trans_a}, "
                       f"transpose_B={trans_b}, clear_accum={clear}",
                       ["T.gemm"], dtypes, gemm(into, trans_a, trans_b, clear))


# ---- 2:4 sparse A ----------------------------------------------

def sparse(a_shape, dtype, e_bits, rng):
    """Kept elements, metadata words and the dense matrix."""
    m, k = a_shape
    pair = np.dtype(ALL[dtype]).itemsize == 4       # 1 of 2, else 2 of 4
    group, kept = (2, 1) if pair else (4, 2)
    dense = np.zeros((m, k), ALL[dtype])
    stored = values(dtype, (m, k // group * kept), rng, 2)
    words = np.zeros((m, k // group * 4 // e_bits), np.int64)
    for r in range(m):
        for g in range(k // group):
            if pair:
                at = [int(rng.integers(0, 2))]
                nibble = 0b1110 if at[0] else 0b0100
            else:
                at = sorted(rng.choice(4, 2, replace=False).tolist())
                nibble = at[0] | at[1] << 2
            for i, p in enumerate(at):
                dense[r, g * group + p] = stored[r, g * kept + i]
            each = e_bits // 4
            words[r, g // each] |= nibble << 4 * (g % each)
    return stored, words.astype(np.dtype(f"uint{e_bits}")).view(
        np.dtype(f"int{e_bits}")), dense


def gemm_sp(e_bits, trans_a, trans_e, trans_b, clear):
    def make(dtype, rng):
        into = INTO[dtype][-1]
        for m, n, k in ((16, 8, 32), (5, 7, 64), (32, 16, 128)):
            stored, e, dense = sparse((m, k), dtype, e_bits, rng)
            a = np.ascontiguousarray(stored.T if trans_a else stored)
            e = np.ascontiguousarray(e.T if trans_e else e)
            b = values(dtype, (n, k) if trans_b else (k, n), rng, 2)
            c = values(into, (m, n), rng, 3)
            launch = (
                [tensor("A", a.shape, dtype),
                 tensor("E", e.shape, f"int{e_bits}"),
                 tensor("B", b.shape, dtype), tensor("C", c.shape, into),
                 tensor("D", c.shape, into)],
                [f"a = T.alloc_shared({a.shape}, T.{dtype})",
                 f"e = T.alloc_shared({e.shape}, T.int{e_bits})",
                 f"b = T.alloc_shared({b.shape}, T.{dtype})",
                 f"c = T.alloc_fragment({c.shape}, T.{into})", "T.copy(A, a)",
                 "T.copy(E, e)", "T.copy(B, b)", "T.copy(C, c)",
                 f"T.gemm_sp(a, e, b, c, transpose_A={trans_a}, "
                 f"transpose_E={trans_e}, transpose_B={trans_b}, "
                 f"clear_accum={clear})", "T.copy(c, D)"])
            want = wide(dense) @ (wide(b).T if trans_b else wide(b))
            want = want if clear else want + wide(c)
            yield Part(launch, {"A": a, "E": e, "B": b, "C": c},
                       {"D": want.astype(ALL[into])})
    return make


def sparse_gemms():
    dtypes = ["float16", "bfloat16", "float32", "float8_e4m3fn",
              "float8_e5m2", "int8", "uint8"]
    for e_bits, trans_a, trans_e, trans_b, clear in (
            (16, False, False, False, False), (8, False, False, True, True),
            (32, True, True, False, False)):
        yield Case(f"T.gemm_sp, E of int{e_bits}, transposed {trans_a}, "
                   f"{trans_e}, {trans_b}", ["T.gemm_sp"], dtypes,
                   gemm_sp(e_bits, trans_a, trans_e, trans_b, clear))


# ---- moves ---------------------------------------------------

def copied(dtype, rng):
    """Global to shared to fragment and back, ragged at both ends."""
    for rows, cols in ((1, 1), (3, 16), (5, 37)):
        x = values(dtype, (rows, cols), rng)
        if dtype in FLOATS:                     # a copy converts nothing
            x[0, 0], x[-1, -1] = np.inf, np.nan
        tile = (rows + 1, cols + 3)
        launch = ([tensor("X", x.shape, dtype), tensor("Y", x.shape, dtype),
                   tensor("Z", tile, dtype)],
                  [f"s = T.alloc_shared({tile}, T.{dtype})",
                   f"f = T.alloc_fragment({tile}, T.{dtype})",
                   "T.copy(X[0, 0], s)", "T.copy(s, f)", "T.copy(f, Y[0, 0])",
                   "T.copy(f, Z)"])
        padded = np.zeros(tile, x.dtype)
        padded[:rows, :cols] = x
        yield Part(launch, {"X": x}, {"Y": x, "Z": padded})


def filled(dtype, rng):
    for rows, cols in ((1, 1), (3, 16), (5, 37)):
        x = values(dtype, (rows, cols), rng)
        launch = ([tensor("X", x.shape, dtype), tensor("Y", x.shape, dtype)],
                  [f"s = T.alloc_shared({x.shape}, T.{dtype})", "T.copy(X, s)",
                   "T.fill(s[0, :], 1)", f"T.clear(s[{rows - 1}, :])",
                   "T.copy(s, Y)"])
        want = x.copy()
        want[0] = 1
        want[rows - 1] = 0
        yield Part(launch, {"X": x}, {"Y": want})


def transposed(dtype, rng):
    for rows, cols in ((1, 1), (3, 16), (5, 37)):
        x = values(dtype, (rows, cols), rng)
        launch = ([tensor("X", x.shape, dtype), tensor("Y", x.T.shape, dtype)],
                  [f"s = T.alloc_shared({x.shape}, T.{dtype})",
                   f"t = T.alloc_shared({x.T.shape}, T.{dtype})",
                   "T.copy(X, s)", "T.transpose(s, t)", "T.copy(t, Y)"])
        yield Part(launch, {"X": x}, {"Y": np.ascontiguousarray(x.T)})


def convolved(dtype, rng):
    """Windows of 3, stride 2, dilation 1, pad 1, of an NHWC image."""
    n, h, w, c = 2, 5, 7, 3
    kernel, stride, pad = 3, 2, 1
    x = values(dtype, (n, h, w, c), rng)
    oh, ow = (h + 2 * pad - 3) // stride + 1, (w + 2 * pad - 3) // stride + 1
    padded = np.zeros((n, h + 2 * pad, w + 2 * pad, c), x.dtype)
    padded[:, pad:-pad, pad:-pad] = x
    rows = [padded[b, i * stride:i * stride + kernel,
                   j * stride:j * stride + kernel].reshape(-1)
            for b in range(n) for i in range(oh) for j in range(ow)]
    want = np.stack(rows)
    launch = ([tensor("X", x.shape, dtype), tensor("Y", want.shape, dtype)],
              [f"t = T.alloc_shared({want.shape}, T.{dtype})",
               f"T.im2col(X, t, 0, 0, {kernel}, {stride}, 1, {pad})",
               "T.copy(t, Y)"])
    yield Part(launch, {"X": x}, {"Y": want})


def viewed(dtype, rng):
    x = values(dtype, (6, 8), rng)
    bits = 8 * x.dtype.itemsize
    plain = f"uint{bits}" if dtype != "bool" else "uint8"
    launch = ([tensor("X", x.shape, dtype), tensor("Y", (4, 12), dtype),
               tensor("Z", x.shape, plain)],
              [f"s = T.alloc_shared({x.shape}, T.{dtype})", "T.copy(X, s)",
               "T.copy(T.reshape(s, (4, 12)), Y)",
               f"T.copy(T.view(s, dtype=T.{plain}), Z)"])
    yield Part(launch, {"X": x}, {"Y": x.reshape(4, 12), "Z": x.view(plain)})


def converted(dtype, rng):
    """To every dtype, by T.copy and by T.cast; values that all of them hold."""
    x = rng.integers(0, 2, (37,)).astype(ALL[dtype])
    for to in ALL:
        launch = ([tensor("X", x.shape, dtype), tensor("Y", x.shape, to),
                   tensor("Z", x.shape, to)],
                  [f"s = T.alloc_shared({x.shape}, T.{to})", "T.copy(X, s)",
                   "T.copy(s, Y)", "for i in T.Parallel(37):",
                   f"    Z[i] = T.cast(X[i], T.{to})"])
        want = x.astype(np.float64).astype(ALL[to])
        yield Part(launch, {"X": x}, {"Y": want, "Z": want})


def moves():
    for name, ops, make in (
            ("T.copy, ragged", ["T.copy"], copied),
            ("T.fill and T.clear", ["T.fill", "T.clear"], filled),
            ("T.transpose", ["T.transpose"], transposed),
            ("T.reshape and T.view", ["T.reshape", "T.view"], viewed),
            ("T.copy and T.cast to each", ["T.copy", "T.cast"], converted)):
        yield Case(name, ops, [*ALL], make)
    yield Case("T.im2col", ["T.im2col"], [*FLOATS, *INTS], convolved)
