"""tiles.py - reductions, scans, atomics, reducers; all cases of tiles."""
import numpy as np

import matrices
from cases import Case, Part, tensor, values, wide
from dtypes import ALL, BOOLS, FLOATS, INTS

NUMBERS = [*FLOATS, *INTS]
SIZES = [(1, 1), (3, 16), (5, 37), (16, 64)]


def program(parts):
    """All parts in one kernel, one launch each; parameters get a number."""
    params = [p.replace(":", f"{n}:", 1) for n, part in enumerate(parts)
              for p in part.params]
    calls = [f"    part{n}({', '.join(f'{t}{n}' for t in part.names)})\n"
             for n, part in enumerate(parts)]
    return ("\n\n".join(part.macro(n) for n, part in enumerate(parts))
            + "\n\n@T.prim_func\ndef k(" + ",\n      ".join(params) + "):\n"
            + "".join(calls))


def run(runner, parts):
    """Why each part is wrong, or an empty text."""
    inputs = {f"{t}{n}": a for n, part in enumerate(parts)
              for t, a in part.inputs.items()}
    outputs = [f"{t}{n}" for n, part in enumerate(parts) for t in part.wanted]
    try:
        got = runner.run(program(parts), inputs, outputs)
    except RuntimeError as error:
        if len(parts) == 1:
            return [str(error)]
        return [why for part in parts for why in run(runner, [part])]
    results = dict(zip(outputs, got))
    return [part.why_wrong(n, results) for n, part in enumerate(parts)]


# ---- reductions ---------------------------------------------

def reduced(name, x, axis):
    w = wide(x)
    function = {"sum": np.sum, "abssum": lambda a, axis: abs(a).sum(axis),
                "max": np.max, "min": np.min,
                "absmax": lambda a, axis: abs(a).max(axis),
                "bitand": np.bitwise_and.reduce,
                "bitor": np.bitwise_or.reduce,
                "bitxor": np.bitwise_xor.reduce}[name]
    return function(w, axis)


def combined(name, old, new):
    function = {"sum": np.add, "max": np.maximum, "min": np.minimum,
                "absmax": np.maximum, "bitand": np.bitwise_and,
                "bitor": np.bitwise_or, "bitxor": np.bitwise_xor}[name]
    return function(old, new)


def reduction(name, scope, dim, clear, general=False):
    def make(dtype, rng):
        for rows, cols in SIZES:
            shape = (rows, 2, cols) if dim == 1 else (rows, cols)
            out_shape = tuple(n for d, n in enumerate(shape)
                              if d != dim % len(shape))
            # sums of narrow numbers stay small enough to be exact
            x = values(dtype, shape, rng, 3 if cols < 40 else 1)
            old = values(dtype, out_shape, rng)
            options = f"dim={dim}" + ("" if name == "abssum"
                                      else f", clear={clear}")
            call = (f"T.reduce(S, R, '{name}', {dim}, {clear})" if general
                    else f"T.reduce_{name}(S, R, {options}, batch=1)")
            launch = (
                [tensor("X", shape, dtype), tensor("O", out_shape, dtype),
                 tensor("Y", out_shape, dtype)],
                [f"S = T.alloc_{scope}({shape}, T.{dtype})",
                 f"R = T.alloc_fragment({out_shape}, T.{dtype})",
                 "T.copy(X, S)", "T.copy(O, R)", call, "T.copy(R, Y)"])
            want = reduced(name, x, dim)
            if not clear and name != "abssum":
                want = combined(name, wide(old), want)
            want = want.astype(ALL[dtype])
            yield Part(launch, {"X": x, "O": old}, {"Y": want})
    return make


def reductions():
    out = []
    for name in ("sum", "max", "min", "absmax", "abssum"):
        dtypes = NUMBERS
        # a sum of 37 threes: 8-bit floats round on the way, in fixed order
        if name in ("sum", "abssum"):
            dtypes = [d for d in dtypes if not d.startswith("float8")]
        out.append((name, dtypes))
    for name in ("bitand", "bitor", "bitxor"):
        out.append((name, [*INTS, *BOOLS]))
    cases = []
    for name, dtypes in out:
        op = f"T.reduce_{name}"
        for scope, dim, clear in (("fragment", -1, True), ("shared", 0, False),
                                  ("shared", 1, True), ("fragment", -2, False)):
            cases.append(Case(f"{op} of a {scope}, dim={dim}, clear={clear}",
                              [op], dtypes, reduction(name, scope, dim, clear)))
        cases.append(Case(f"T.reduce('{name}')", ["T.reduce"], dtypes,
                          reduction(name, "fragment", 1 - 2, True, True)))
    return cases


# ---- scans ---------------------------------------------

def scan(name, dim, reverse, in_place):
    function = {"cumsum": np.cumsum, "cummax": np.maximum.accumulate}[name]

    def make(dtype, rng):
        for rows, cols in SIZES:
            x = values(dtype, (rows, cols), rng, 1)
            if dtype.startswith("float8"):      # sums stay below 16
                x = np.where(sum(np.indices(x.shape)) % 2, x.dtype.type(-1),
                             x.dtype.type(1))
            call = f"T.{name}(S, {'' if in_place else 'D, '}dim={dim}, " \
                   f"reverse={reverse})"
            launch = (
                [tensor("X", x.shape, dtype), tensor("Y", x.shape, dtype)],
                [f"S = T.alloc_shared({x.shape}, T.{dtype})",
                 f"D = T.alloc_fragment({x.shape}, T.{dtype})",
                 "T.copy(X, S)", call,
                 f"T.copy({'S' if in_place else 'D'}, Y)"])
            w = wide(x)
            axis = dim % 2
            want = (np.flip(function(np.flip(w, axis), axis), axis) if reverse
                    else function(w, axis))
            yield Part(launch, {"X": x}, {"Y": want.astype(ALL[dtype])})
    return make


def scans():
    for name in ("cumsum", "cummax"):
        for dim, reverse, in_place in ((0, False, True), (1, True, True),
                                       (-1, False, False), (0, True, False)):
            yield Case(f"T.{name}, dim={dim}, reverse={reverse}, "
                       f"{'in place' if in_place else 'to another tile'}",
                       [f"T.{name}"], NUMBERS,
                       scan(name, dim, reverse, in_place))


# ---- atomics ---------------------------------------------

def atomic(name, form):
    """form: tile, scalar, prev."""
    function = {"add": np.add, "max": np.maximum, "min": np.minimum,
                "or": np.bitwise_or}[name]

    def make(dtype, rng):
        for _, n in SIZES:
            x, old = values(dtype, (n,), rng), values(dtype, (n,), rng)
            order = ", memory_order='relaxed'" if form == "scalar" else ""
            body = [f"T.copy(O, Y)"]
            if form == "tile":
                body += [f"S = T.alloc_shared(({n},), T.{dtype})",
                         "T.copy(X, S)", f"T.atomic_{name}(Y, S)"]
            elif form == "prev":
                body += [f"for i in T.Parallel({n}):",
                         f"    P[i] = T.atomic_{name}(Y[i], X[i], "
                         "return_prev=True)"]
            else:
                body += [f"for i in T.Parallel({n}):",
                         f"    T.atomic_{name}(Y[i], X[i]{order})"]
            if form != "prev":
                body.append("T.copy(O, P)")
            launch = ([tensor(t, (n,), dtype) for t in "XOYP"], body)
            want = function(wide(old), wide(x)).astype(ALL[dtype])
            yield Part(launch, {"X": x, "O": old}, {"Y": want, "P": old})
    return make


def collide(dtype, rng):
    """All iterations on one element; the count is exact."""
    for n in (1, 16, 37):
        x = values(dtype, (n,), rng, 1)
        launch = ([tensor("X", (n,), dtype), tensor("Y", (1,), dtype)],
                  ["T.clear(Y)", f"for i in T.Parallel({n}):",
                   "    T.atomic_add(Y[0], X[i])"])
        want = wide(x).sum(keepdims=True).astype(ALL[dtype])
        yield Part(launch, {"X": x}, {"Y": want})


def row(count, form):
    def make(dtype, rng):
        n = 8
        x, old = values(dtype, (2, n), rng), values(dtype, (2, n), rng)
        call = (f"T.atomic_addx{count}(Y[r, c * {count}], X[r, c * {count}])"
                if form == "element" else
                f"T.atomic_addx{count}(Y[r, c * {count}:(c + 1) * {count}], "
                f"X[r, c * {count}:(c + 1) * {count}])")
        launch = ([tensor(t, (2, n), dtype) for t in "XOY"],
                  ["T.copy(O, Y)",
                   f"for r, c in T.Parallel(2, {n // count}):",
                   f"    {call}"])
        want = (wide(old) + wide(x)).astype(ALL[dtype])
        yield Part(launch, {"X": x, "O": old}, {"Y": want})
    return make


def load_store(dtype, rng):
    for n in (1, 16, 37):
        x = values(dtype, (n,), rng)
        launch = ([tensor("X", (n,), dtype), tensor("Y", (n,), dtype)],
                  [f"for i in T.Parallel({n}):",
                   "    v = T.atomic_load(X[i], memory_order='acquire')",
                   "    T.atomic_store(Y[i], v, memory_order='release')"])
        yield Part(launch, {"X": x}, {"Y": x})


def atomics():
    for name, dtypes in (("add", NUMBERS), ("max", NUMBERS), ("min", NUMBERS),
                         ("or", [*INTS])):
        forms = ("scalar",) if name == "or" else ("tile", "scalar", "prev")
        for form in forms:
            yield Case(f"T.atomic_{name}, {form}", [f"T.atomic_{name}"],
                       dtypes, atomic(name, form))
    exact = [d for d in NUMBERS if not d.startswith("float8")]
    yield Case("T.atomic_add on one element", ["T.atomic_add"], exact, collide)
    for count, dtypes in ((2, ("float16", "bfloat16", "float32")),
                          (4, ("float16", "bfloat16", "float32"))):
        for form in ("element", "slice"):
            yield Case(f"T.atomic_addx{count} of a {form}",
                       [f"T.atomic_addx{count}"], dtypes, row(count, form))
    yield Case("T.atomic_load and T.atomic_store",
               ["T.atomic_load", "T.atomic_store"], NUMBERS, load_store)


# ---- reducers ---------------------------------------------

UPDATES = {"sum": "acc[i] += S[i, j]",
           "max": "acc[i] = T.max(acc[i], S[i, j])",
           "min": "acc[i] = T.min(S[i, j], acc[i])",
           "bitand": "acc[i] = acc[i] & S[i, j]",
           "bitor": "acc[i] = acc[i] | S[i, j]",
           "bitxor": "acc[i] = acc[i] ^ S[i, j]"}


def reducer(name, form):
    """form: plain, init, legacy."""
    def make(dtype, rng):
        for rows, cols in SIZES:
            x = values(dtype, (rows, cols), rng, 1)
            first = values(dtype, (1,), rng)
            body = [f"S = T.alloc_shared({x.shape}, T.{dtype})", "T.copy(X, S)"]
            loop = [f"for i, j in T.Parallel({rows}, {cols}):"]
            if form == "legacy":
                body += [f"acc = T.alloc_reducer({rows}, T.{dtype}, op='{name}'"
                         ", replication='all')", "T.fill(acc, F[0])", *loop,
                         f"    {UPDATES[name]}", "T.finalize_reducer(acc)",
                         "T.copy(acc, Y)"]
            else:
                init = ", F[0]" if form == "init" else ""
                body += [f"acc = T.alloc_reducer(({rows},), T.{dtype}, "
                         f"op='{name}')", f"T.reducer_init(acc{init})", *loop,
                         "    T.reducer_update(acc[i], S[i, j])",
                         f"R = T.alloc_fragment(({rows},), T.{dtype})",
                         "T.finalize_reducer(acc, R)", "T.copy(R, Y)"]
            launch = ([tensor("X", x.shape, dtype),
                       tensor("F", (1,), dtype),
                       tensor("Y", (rows,), dtype)], body)
            want = reduced(name, x, 1)
            if form != "plain":
                want = combined(name, want, wide(first))
            want = want.astype(ALL[dtype])
            yield Part(launch, {"X": x, "F": first}, {"Y": want})
    return make


def reducers():
    exact = [d for d in NUMBERS if not d.startswith("float8")]
    for name in ("sum", "max", "min", "bitand", "bitor", "bitxor"):
        dtypes = [*INTS] if name.startswith("bit") else exact
        for form in ("plain", "init", "legacy"):
            ops = ["T.alloc_reducer", "T.finalize_reducer"]
            if form != "legacy":
                ops += ["T.reducer_init", "T.reducer_update"]
            yield Case(f"reducer {name}, {form}", ops, dtypes,
                       reducer(name, form))


# ---- tests of regions ---------------------------------------------

def tested(name):
    def make(dtype, rng):
        for n in (1, 16, 37):
            x = values(dtype, (3, n), rng, 1)
            x[0] = 0
            x[1] = 1
            launch = ([tensor("X", x.shape, dtype),
                       tensor("Y", (3,), "int32")],
                      [f"S = T.alloc_shared((1, {n}), T.{dtype})",
                       "for r in T.serial(3):",
                       "    T.copy(X[r, 0], S)",
                       f"    if T.{name}(S):", "        Y[r] = 1",
                       f"    elif T.{name}(X[r, :]):", "        Y[r] = 2",
                       "    else:", "        Y[r] = 0"])
            truth = (x != 0).any(1) if name == "any_of" else (x != 0).all(1)
            yield Part(launch, {"X": x}, {"Y": truth.astype(np.int32)})
    return make


def cases():
    out = [*reductions(), *scans(), *atomics(), *reducers(), *matrices.gemms(),
           *matrices.sparse_gemms(), *matrices.moves()]
    for name in ("any_of", "all_of"):
        out.append(Case(f"T.{name}", [f"T.{name}"], [*ALL], tested(name)))
    return out
