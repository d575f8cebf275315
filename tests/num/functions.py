# functions.py - elementary functions: errors in ulp, special values, and the
# same bits from every instruction set.
#
# Usage: functions.py [POINTS]. The oracle is the C library in long double,
# whose own error is about 1/1000 ulp of a double.
import sys
import warnings

import numpy as np

from probe import LANES, bits, check, finish, isas, run, same

warnings.simplefilter("ignore", RuntimeWarning)
rng = np.random.default_rng(7)
POINTS = int(sys.argv[1]) if len(sys.argv) > 1 else 60000

# Operation: largest error in ulp for f32 and f64, ranges that matter.
BOUNDS = {
    "EXP": (1, 1, [(-110, 95), (-1, 1), (-750, 715)]),
    "EXP2": (1, 1, [(-152, 130), (-1, 1), (-1080, 1030)]),
    "EXP10": (1, 1, [(-46, 39), (-1, 1), (-325, 310)]),
    "EXPM1": (1, 1.5, [(-1, 1), (-50, 95), (-40, 715)]),
    "LOG": (1, 1, [(0, 4), (0.5, 1.5), (0, 1e9)]),
    "LOG2": (1, 1, [(0, 4), (0.5, 1.5), (0, 1e9)]),
    "LOG10": (1, 1, [(0, 4), (0.5, 1.5), (0, 1e9)]),
    "LOG1P": (1, 1, [(-1, 3), (-0.1, 0.1), (0, 1e9)]),
    "SQRT": (0.5, 0.5, [(0, 10)]),
    "RSQRT": (1.5, 1.5, [(0, 10)]),
    "SIN": (1, 1, [(-4, 4), (-1e3, 1e3), (-1e8, 1e8)]),
    "COS": (1, 1, [(-4, 4), (-1e3, 1e3), (-1e8, 1e8)]),
    "TAN": (1, 1.5, [(-4, 4), (-1e3, 1e3), (-1e8, 1e8)]),
    "ASIN": (1, 1.5, [(-1.1, 1.1), (0.4, 0.6)]),
    "ACOS": (1, 1.5, [(-1.1, 1.1), (0.4, 0.6), (0.99, 1)]),
    "ATAN": (1, 1.5, [(-4, 4), (0.3, 0.5), (2.3, 2.5)]),
    "SINH": (1, 2, [(-2, 2), (-95, 95), (-715, 715)]),
    "COSH": (1, 2, [(-2, 2), (-95, 95), (-715, 715)]),
    "TANH": (2, 2, [(-1, 1), (-10, 10), (-25, 25)]),
    "SIGMOID": (2, 2, [(-3, 3), (-100, 100), (-750, 40)]),
    "ERF": (1, 1.5, [(-1.2, 1.2), (-7, 7)]),
    "ATAN2": (1, 2, [(-4, 4), (-1e3, 1e3)]),
    "POW": (1, 1, [(0, 4), (0.9, 1.1), (-40, 40)]),
}
TWO = ("ATAN2", "POW")


def specials(t):
    f = np.finfo(t)
    v = [0, 1, 0.5, 2, 3, 10, 100, np.pi, np.pi / 2, np.pi / 4, np.inf, np.nan,
         f.max, f.tiny, f.smallest_subnormal, f.eps, f.eps / 2, 1e-5, 6, 0.55,
         2.0 ** 24, 2.0 ** 60, 709.78, 88.72, 745.13, 1024, 1023.99, 0.41421]
    v = np.array(v, t)
    v = np.concatenate([v, np.nextafter(v, t(np.inf)), np.nextafter(v, t(0))])
    return np.concatenate([v, -v])


def any_bits(t, n):
    u = np.dtype(f"u{np.dtype(t).itemsize}")
    return rng.integers(0, np.iinfo(u).max, n, dtype=u, endpoint=True).view(t)


def points(op, t, n):
    """Random over the ranges, over all exponents, and the special ones."""
    parts = [rng.uniform(*r, n).astype(t) for r in BOUNDS[op][2]]
    return np.concatenate(parts + [any_bits(t, n), specials(t)])


def pairs(op, t, n):
    a, b = points(op, t, n), points(op, t, n)
    s = specials(t)
    a = np.concatenate([a, np.repeat(s, len(s))])
    b = np.concatenate([rng.permutation(b), np.tile(s, len(s))])
    if op == "POW":         # results near 1 and at both ends of the range too
        x = np.abs(any_bits(t, n))
        y = (rng.uniform(-1080, 1080, n) / np.log2(x)).astype(t)
        a, b = np.concatenate([a, x]), np.concatenate([b, y])
        whole = rng.integers(-30, 30, n).astype(t)
        a, b = np.concatenate([a, rng.uniform(-3, 3, n).astype(t)]), \
            np.concatenate([b, whole])
    return a, b


def errors(got, want):
    """In units of the last place of `want` as a value of got's type."""
    t = np.finfo(got.dtype)
    places = t.nmant + 1
    _, e = np.frexp(want)
    e = np.maximum(e - places, t.minexp - t.nmant)
    error = np.abs((got.astype(np.longdouble) - want)) / np.ldexp(
        np.longdouble(1), e)
    exact = want.astype(got.dtype)
    return np.where(same(got, exact) | (np.isnan(want) & np.isnan(got)), 0,
                    error)


def judge(op, t, got, want, args, bound):
    e = errors(got, want)
    # Overflow may come half an ulp early or late, no more.
    e = np.where(np.isinf(got) & (np.abs(want) >= np.finfo(t).max), 0, e)
    e = np.where(np.isnan(e), np.inf, e)
    zero = (want == 0) & (got == 0)
    signs = np.signbit(want) == np.signbit(got)
    check(f"{op} {t.__name__}", (e <= bound) & (signs | ~zero),
          lambda i: f"{[a[i] for a in args]} gave {got[i]!r}, "
                    f"not {want[i]!r} ({float(e[i]):.3f} ulp)")
    return e.max()


def check_function(op):
    row = []
    for lane, bound in (("f32", BOUNDS[op][0]), ("f64", BOUNDS[op][1])):
        t = LANES[lane]
        args = pairs(op, t, POINTS) if op in TWO else (points(op, t, POINTS),)
        n = len(args[0])
        want = run(np.longdouble, "libm", op, n,
                   data=[a.astype(np.float64) for a in args])
        results = {}
        for isa in isas():
            few = n if isa != "generic" else min(n, 40000)
            part = [np.concatenate([a[:few // 2], a[n - few + few // 2:]])
                    for a in args]
            results[isa] = run(t, "lane", isa, op, lane, few, data=part)
        best = results[isas()[-1]]
        for isa, r in results.items():
            few = len(r)
            ours = np.concatenate([best[:few // 2], best[n - few + few // 2:]])
            check(f"{op} {lane} {isa}: same bits", bits(r) == bits(ours))
        row.append(judge(op, t, best, want, args, bound))
    told = ["nearest" if e == 0 else f"{float(e):.3f} ulp" for e in row]
    print(f"{op:8} f32 {told[0]}, f64 {told[1]}")


if __name__ == "__main__":
    for name in BOUNDS:
        check_function(name)
    finish()
