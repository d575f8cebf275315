"""carried.py - dtypes that arrays do not have: 4-bit ones and tfloat32.

The kernel converts them from and to a dtype that holds all their values.
"""
import ml_dtypes
import numpy as np

from dtypes import CARRIED

LOOPS = (0, 1, 16, 37)
TOTAL = sum(LOOPS)

EXPRESSIONS = {
    "+": ("x + y", np.add), "-": ("x - y", np.subtract),
    "*": ("x * y", np.multiply), "T.max": ("T.max(x, y)", np.maximum),
    "T.min": ("T.min(x, y)", np.minimum), "-x": ("-x", np.negative),
    "T.abs": ("T.abs(x)", np.abs),
    "T.if_then_else": ("T.if_then_else(x < y, x, y)",
                       lambda x, y: np.where(x < y, x, y)),
}
SIDES = {
    "T.Select": ("T.Select(x < y, y, x)", lambda x, y: np.where(x < y, y, x)),
    "T.clamp": ("T.clamp(x, T.cast(1, dt), T.cast(5, dt))",
                lambda x, y: np.clip(x, 1, 5)),
    "T.reinterpret": ("T.reinterpret(x, dt)", lambda x, y: x),
    "round, ties away": ("T.round(x, 'ties-away-from-zero')",
                         lambda x, y: np.copysign(np.floor(abs(x) + 0.5), x)),
}


def truncated(x, y):
    return np.trunc(x / y).astype(int)


def truth(expression):
    return f"T.if_then_else({expression}, T.cast(1, dt), T.cast(0, dt))"


# `nonzero` is y with zeros replaced by 3, `shift` the lower bits of y.
WHOLE = {
    "&": ("x & y", np.bitwise_and), "|": ("x | y", np.bitwise_or),
    "^": ("x ^ y", np.bitwise_xor), "~": ("~x", np.invert),
    "<<": ("x << shift", lambda x, y: x << (y & 3)),
    ">>": ("x >> shift", lambda x, y: x >> (y & 3)),
    "//": ("x // nonzero", lambda x, y: x // np.where(y == 0, 3, y)),
    "%": ("x % nonzero", lambda x, y: x % np.where(y == 0, 3, y)),
    "T.truncdiv": ("T.truncdiv(x, nonzero)",
                   lambda x, y: truncated(x, np.where(y == 0, 3, y))),
    "T.truncmod": ("T.truncmod(x, nonzero)",
                   lambda x, y: np.fmod(x, np.where(y == 0, 3, y))),
    # of small ones: what is in between wraps
    "T.ceildiv": ("T.ceildiv(x & T.cast(3, dt), T.cast(2, dt))",
                  lambda x, y: -(-(x & 3) // 2)),
    "T.align_up": ("T.align_up(x & T.cast(3, dt), T.cast(2, dt))",
                   lambda x, y: -(-(x & 3) // 2) * 2),
    "T.exp": ("T.exp(x & T.cast(1, dt))",
              lambda x, y: np.exp((x & 1).astype(float)).astype(int)),
    "T.isnan": (truth("T.isnan(x)"), lambda x, y: 0 * x),
    "T.isinf": (truth("T.isinf(x)"), lambda x, y: 0 * x),
    "T.isfinite": (truth("T.isfinite(x)"), lambda x, y: 0 * x + 1),
    **{f"T.{name}": (f"T.{name}(x)", lambda x, y: x)
       for name in ("floor", "ceil", "trunc", "round")},
}
COMPARED = {
    sign: (truth(f"x {sign} y"), function) for sign, function in
    (("<", np.less), ("<=", np.less_equal), (">", np.greater),
     (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal))
}
UNSIGNED = {"/": ("x / nonzero", lambda x, y: x // np.where(y == 0, 3, y))}

REDUCED = {
    "sum": np.sum, "max": np.max, "min": np.min,
    "absmax": lambda x, axis: abs(x).max(axis),
    "abssum": lambda x, axis: abs(x).sum(axis),
    "bitand": np.bitwise_and.reduce, "bitor": np.bitwise_or.reduce,
    "bitxor": np.bitwise_xor.reduce,
}


def tf32(values):
    """Nearest of 10 mantissa bits, ties away from zero; float64 in."""
    with np.errstate(all="ignore"):
        _, e = np.frexp(values)
        place = np.ldexp(1.0, np.maximum(e - 1, -126) - 10)
        r = np.floor(np.abs(values) / place + 0.5) * place
        return np.where(np.isfinite(values), np.copysign(r, values), values)


def brought(values, dtype):
    """float64 or integers to dtype, as its carrier holds it."""
    if dtype == "tfloat32":
        with np.errstate(over="ignore"):
            return tf32(values).astype(np.float32)
    if dtype == "float4_e2m1fn":
        kept = np.where(np.isnan(values), 6, np.clip(values, -6, 6))
        return (kept.astype(np.float32).astype(ml_dtypes.float4_e2m1fn)
                .astype(np.float32))
    low = np.asarray(values, np.int64) & 15
    return np.where((dtype == "int4") & (low > 7), low - 16, low).astype(
        CARRIED[dtype])


def inputs(dtype, rng):
    if dtype == "tfloat32":
        special = [1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-12, 0.0, -0.0,
                   np.inf, 1e-39, 3e38]
        x = np.concatenate([special, rng.normal(0, 2, TOTAL)])[:TOTAL]
        return x.astype(np.float32), rng.normal(0, 3, TOTAL).astype(np.float32)
    if dtype == "float4_e2m1fn":
        special = [0.25, 0.75, -0.25, 1.25, 1.75, 2.5, 3.5, 5, -5, 7, -100,
                   np.nan, np.inf, -np.inf]
        x = np.concatenate([special, rng.normal(0, 3, TOTAL)])[:TOTAL]
        return x.astype(np.float32), rng.normal(0, 3, TOTAL).astype(np.float32)
    x = rng.integers(-20, 40, (2, TOTAL)).astype(CARRIED[dtype])
    return x[0], x[1]


def program(dtype, operations):
    carrier = CARRIED[dtype].name
    rows = [f"R{i}" for i in range(len(operations))]
    lines = [f"dt = T.{dtype}", "", "@T.prim_func",
             "def k(" + ",\n      ".join(f"{t}: T.Tensor(({TOTAL},), "
                                         f"T.{carrier})"
                                         for t in ["X", "Y", *rows]) + "):",
             "    with T.Kernel(1, threads=32):",
             f"        s = T.alloc_shared(({TOTAL},), T.{dtype})",
             f"        f = T.alloc_fragment(({TOTAL},), T.{dtype})",
             "        T.copy(X, s)", "        T.copy(Y, f)"]
    at = 0
    for extent in LOOPS:
        lines += [f"        for i in T.Parallel({extent}):",
                  f"            x = s[{at} + i]", f"            y = f[{at} + i]"]
        if CARRIED[dtype].kind != "f":
            lines += ["            nonzero = T.if_then_else("
                      "y == T.cast(0, dt), T.cast(3, dt), y)",
                      "            shift = y & T.cast(3, dt)"]
        lines += [f"            {row}[{at} + i] = {expression}"
                  for row, (expression, _) in zip(rows, operations)]
        at += extent
    return "\n".join(lines) + "\n"


def difference(got, want):
    both = np.isnan(got) & np.isnan(want) if want.dtype.kind == "f" else False
    wrong = (got != want) & ~both
    if not wrong.any():
        return ""
    i = int(np.flatnonzero(wrong)[0])
    return f"element {i}: {got[i]!r}, not {want[i]!r}"


def moves(runner, dtype, x):
    """Tiles of the dtype copied, filled and cleared, a ragged part of each."""
    carrier, rows, cols = CARRIED[dtype].name, 5, 9
    x = x[:rows * cols].reshape(rows, cols)
    tile = (rows + 1, cols + 3)
    tensors = [f"{t}: T.Tensor({x.shape}, T.{carrier})" for t in "XABC"]
    lines = ["@T.prim_func", f"def k({', '.join(tensors)}):",
             "    with T.Kernel(1, threads=32):",
             f"        s = T.alloc_shared({tile}, T.{dtype})",
             f"        t = T.alloc_shared({tile}, T.{dtype})",
             f"        f = T.alloc_fragment({tile}, T.{dtype})",
             "        T.copy(X, s[:5, :9])", "        T.copy(s, f)",
             "        T.copy(f, t)", "        T.copy(t[:5, :9], A)",
             "        T.fill(t, 1)", "        T.copy(t[:5, :9], B)",
             "        T.clear(t)", "        T.copy(t[:5, :9], C)"]
    got = runner.run("\n".join(lines) + "\n", {"X": x}, ["A", "B", "C"])
    a = brought(x, dtype)
    wants = a, np.ones_like(a), np.zeros_like(a)
    for name, result, want in zip(("T.copy", "T.fill", "T.clear"), got, wants):
        yield name, difference(result.reshape(-1), want.reshape(-1))


def tiles(dtype, x):
    """(operation, statements that fill tile o, shape, value)."""
    whole = x.dtype.kind == "i"
    for name, function in REDUCED.items():
        if not whole and name.startswith("bit"):
            continue
        yield (f"T.reduce_{name}", f"T.reduce_{name}(s, o, dim=1)", (4,),
               function(x, axis=1))
    yield "T.reduce", "T.reduce(s, o, 'max', 1, True)", (4,), x.max(1)
    yield ("T.cumsum", "T.cumsum(s, o, dim=1)", x.shape, np.cumsum(x, 1))
    yield ("T.cummax", "T.cummax(s, o, dim=1)", x.shape,
           np.maximum.accumulate(x, 1))
    yield "T.transpose", "T.transpose(s, o)", x.T.shape, x.T
    for name in ("reshape", "view"):
        yield (f"T.{name}", f"T.copy(T.{name}(s, [24]), o)", (24,),
               x.reshape(24))
    for name, function in (("max", np.maximum), ("min", np.minimum),
                           ("or", np.bitwise_or))[:3 if whole else 2]:
        yield (f"T.atomic_{name}", "T.copy(s, o)\n        for i, j in "
               f"T.Parallel(4, 6):\n            T.atomic_{name}(o[i, j], "
               "T.cast(1, dt))", x.shape, function(x, 1))
    for name, function in (("any_of", np.any), ("all_of", np.all)):
        yield (f"T.{name}", "for i in T.serial(4):\n            o[i] = "
               f"T.if_then_else(T.{name}(s[i, 0:6]), T.cast(1, dt), "
               "T.cast(0, dt))", (4,), function(x != 0, axis=1))
    yield ("T.atomic_add", "T.copy(s, o)\n        for i, j in T.Parallel(4, 6):"
           "\n            T.atomic_add(o[i, j], T.cast(1, dt))", x.shape, x + 1)
    yield from moved_atomically(x)


def moved_atomically(x):
    loop = ("for i, j in T.Parallel(4, 6):\n            "
            "T.atomic_store(o[i, j], T.atomic_load(s[i, j]))")
    for name in ("load", "store"):
        yield f"T.atomic_{name}", loop, x.shape, x


def tile_checks(runner, dtype, rng):
    carrier = CARRIED[dtype].name
    x = rng.integers(0 if dtype == "uint4" else -1, 2, (4, 6)).astype(carrier)
    wide = x if CARRIED[dtype].kind == "f" else x.astype(np.int64)
    for name, statements, shape, want in tiles(dtype, wide):
        text = (f"dt = T.{dtype}\n\n@T.prim_func\n"
                f"def k(X: T.Tensor((4, 6), T.{carrier}), "
                f"R: T.Tensor({tuple(shape)}, T.{carrier})):\n"
                "    with T.Kernel(1, threads=32):\n"
                "        s = T.alloc_shared((4, 6), dt)\n"
                f"        o = T.alloc_shared({tuple(shape)}, dt)\n"
                f"        T.copy(X, s)\n        {statements}\n"
                "        T.copy(o, R)\n")
        got, = runner.run(text, {"X": x}, ["R"])
        yield name, difference(got.reshape(-1),
                               brought(want, dtype).reshape(-1))


def product(runner, dtype, rng):
    """T.gemm of tfloat32: of small integers, so that each sum is exact."""
    a, b = rng.integers(-3, 4, (2, 16, 16)).astype(np.float32)
    text = (f"dt = T.{dtype}\n\n@T.prim_func\n"
            "def k(A: T.Tensor((16, 16), 'float32'), "
            "B: T.Tensor((16, 16), 'float32'), "
            "C: T.Tensor((16, 16), 'float32')):\n"
            "    with T.Kernel(1, threads=32):\n"
            "        As = T.alloc_shared((16, 16), dt)\n"
            "        Bs = T.alloc_shared((16, 16), dt)\n"
            "        acc = T.alloc_fragment((16, 16), 'float32')\n"
            "        T.copy(A, As)\n        T.copy(B, Bs)\n"
            "        T.gemm(As, Bs, acc, clear_accum=True)\n"
            "        T.copy(acc, C)\n")
    got, = runner.run(text, {"A": a, "B": b}, ["C"])
    yield "T.gemm", difference(got.reshape(-1), (a @ b).reshape(-1))


def operations(dtype):
    table = {**EXPRESSIONS, **SIDES, **COMPARED}
    if CARRIED[dtype].kind != "f":
        table.update(WHOLE)
    if dtype == "uint4":
        table.update(UNSIGNED)
    if dtype == "tfloat32":
        table["T.infinity"] = ("T.infinity(dt)",
                               lambda x, y: np.full_like(x, np.inf))
    return table


def checks(runner, dtype, rng):
    """(operation, why it is wrong) for each."""
    table = operations(dtype)
    x, y = inputs(dtype, rng)
    names = ["T.cast", *table]
    rows = [("x", None), *table.values()]
    got = runner.run(program(dtype, rows), {"X": x, "Y": y},
                     [f"R{i}" for i in range(len(rows))])
    a, b = brought(x, dtype), brought(y, dtype)
    wide = np.float64 if a.dtype.kind == "f" else np.int64
    for name, (_, function), result in zip(names, rows, got):
        want = a
        if function:
            unary = getattr(function, "nin", 2) == 1
            with np.errstate(all="ignore"):
                value = (function(a.astype(wide)) if unary else
                         function(a.astype(wide), b.astype(wide)))
            want = brought(value, dtype)
        yield name, difference(result, want)
    yield from moves(runner, dtype, x)
    yield from tile_checks(runner, dtype, rng)
    if dtype == "tfloat32":
        yield from product(runner, dtype, rng)
