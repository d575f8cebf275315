"""scalar.py - scalar operations: what NumPy says of each, by dtype."""
import math

import numpy as np

from dtypes import ALL, INTS, is_float, is_unsigned, rounded

erf = np.vectorize(math.erf, otypes=[np.float64])


def sign_of_zero(x, y):
    """Of two zeros +0 is the larger (docs/arithmetic.md)."""
    return np.where((x == 0) & (y == 0), np.signbit(y), x < y)


def larger(x, y):
    r = np.where(sign_of_zero(x, y), y, x)
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, r))


def smaller(x, y):
    r = np.where(sign_of_zero(x, y), x, y)
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, r))


def away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


# name: (expression, function of float64 values, places it may be off)
FLOAT = {
    "T.exp": ("T.exp(x)", np.exp, 1),
    "T.exp2": ("T.exp2(x)", np.exp2, 1),
    "T.exp10": ("T.exp10(x)", lambda x: np.power(10.0, x), 1),
    "T.log": ("T.log(x)", np.log, 1),
    "T.log2": ("T.log2(x)", np.log2, 1),
    "T.log10": ("T.log10(x)", np.log10, 1),
    "T.log1p": ("T.log1p(x)", np.log1p, 1),
    "T.sqrt": ("T.sqrt(x)", np.sqrt, 0),
    "T.rsqrt": ("T.rsqrt(x)", lambda x: 1 / np.sqrt(x), 1),
    "T.sin": ("T.sin(x)", np.sin, 1),
    "T.cos": ("T.cos(x)", np.cos, 1),
    "T.tan": ("T.tan(x)", np.tan, 1),
    "T.asin": ("T.asin(x)", np.arcsin, 1),
    "T.acos": ("T.acos(x)", np.arccos, 1),
    "T.atan": ("T.atan(x)", np.arctan, 1),
    "T.sinh": ("T.sinh(x)", np.sinh, 1),
    "T.cosh": ("T.cosh(x)", np.cosh, 1),
    "T.tanh": ("T.tanh(x)", np.tanh, 1),
    "T.sigmoid": ("T.sigmoid(x)", lambda x: 1 / (1 + np.exp(-x)), 1),
    "T.erf": ("T.erf(x)", erf, 1),
    "T.__exp": ("T.__exp(x)", np.exp, 1),
    "T.__exp10": ("T.__exp10(x)", lambda x: np.power(10.0, x), 1),
    "T.__log": ("T.__log(x)", np.log, 1),
    "T.__log2": ("T.__log2(x)", np.log2, 1),
    "T.__log10": ("T.__log10(x)", np.log10, 1),
    "T.__sin": ("T.__sin(x)", np.sin, 1),
    "T.__cos": ("T.__cos(x)", np.cos, 1),
    "T.__tan": ("T.__tan(x)", np.tan, 1),
    "T.floor": ("T.floor(x)", np.floor, 0),
    "T.ceil": ("T.ceil(x)", np.ceil, 0),
    "T.trunc": ("T.trunc(x)", np.trunc, 0),
    "T.round": ("T.round(x)", np.rint, 0),
    "round, ties away": ("T.round(x, 'ties-away-from-zero')", away, 0),
    "T.abs": ("T.abs(x)", np.abs, 0),
    "-x": ("-x", np.negative, 0),
    "+": ("x + y", np.add, 0),
    "-": ("x - y", np.subtract, 0),
    "*": ("x * y", np.multiply, 0),
    "/": ("x / y", np.divide, 0),
    "**": ("x ** 3", lambda x: x * x * x, None),
    "T.fmod": ("T.fmod(x, y)", np.fmod, 0),
    "T.atan2": ("T.atan2(x, y)", np.arctan2, 1),
    "T.max": ("T.max(x, y)", larger, 0),
    "T.min": ("T.min(x, y)", smaller, 0),
    "T.pow": ("T.pow(x, y)", np.power, 1),
    "T.fast_rcp": ("T.fast_rcp(x)", lambda x: 1 / x, 0),
    "T.ieee_add": ("T.ieee_add(x, y, 'rn')", np.add, 0),
    "T.ieee_sub": ("T.ieee_sub(x, y)", np.subtract, 0),
    "T.ieee_mul": ("T.ieee_mul(x, y)", np.multiply, 0),
    "T.ieee_fdiv": ("T.ieee_fdiv(x, y)", np.divide, 0),
    "T.ieee_frcp": ("T.ieee_frcp(x)", lambda x: 1 / x, 0),
    "T.ieee_fsqrt": ("T.ieee_fsqrt(x)", np.sqrt, 0),
    "T.ieee_frsqrt": ("T.ieee_frsqrt(x)", lambda x: 1 / np.sqrt(x), 1),
    "T.ieee_fmaf": ("T.ieee_fmaf(T.abs(x), T.abs(y), T.abs(x))",
                    lambda x, y: abs(x) * abs(y) + abs(x), 1),
    "T.infinity": ("T.infinity(dt)", lambda x: np.full_like(x, np.inf), 0),
    "T.clamp": ("T.clamp(x, T.cast(-1, dt), T.cast(2, dt))",
                lambda x: smaller(larger(x, -1.0), 2.0), 0),
}

EXACT = ("T.floor", "T.ceil", "T.trunc", "T.round", "round, ties away", "T.abs",
         "-x", "T.max", "T.min", "T.infinity")

# Operations that give bool.
TRUTH = {
    "==": ("x == y", np.equal),
    "!=": ("x != y", np.not_equal),
    "<": ("x < y", np.less),
    "<=": ("x <= y", np.less_equal),
    ">": ("x > y", np.greater),
    ">=": ("x >= y", np.greater_equal),
    "T.isnan": ("T.isnan(x)", np.isnan),
    "T.isinf": ("T.isinf(x)", np.isinf),
    "T.isfinite": ("T.isfinite(x)", np.isfinite),
    "and": ("T.And(x < y, y != x)", lambda x, y: (x < y) & (y != x)),
    "or": ("T.Or(x < y, x == y)", lambda x, y: (x < y) | (x == y)),
    "not": ("T.Not(x < y)", lambda x, y: ~(x < y)),
}

CHOICE = {
    "T.if_then_else": ("T.if_then_else(x < y, x, y)",
                       lambda x, y: np.where(x < y, x, y)),
    "T.Select": ("T.Select(x < y, y, x)",
                 lambda x, y: np.where(x < y, y, x)),
}


def truncated(x, y):
    q = np.abs(x) // np.abs(np.where(y == 0, 1, y))
    return np.where((x < 0) != (y < 0), -q, q)


# Functions of arrays of Python integers; the result is wrapped. `nonzero`
# takes y with zeros replaced by 3, `shift` y as a count.
INT = {
    "+": ("x + y", lambda x, y: x + y),
    "-": ("x - y", lambda x, y: x - y),
    "*": ("x * y", lambda x, y: x * y),
    "//": ("x // nonzero", lambda x, y: x // y),
    "%": ("x % nonzero", lambda x, y: x % y),
    "T.truncdiv": ("T.truncdiv(x, nonzero)", truncated),
    "T.truncmod": ("T.truncmod(x, nonzero)",
                   lambda x, y: x - truncated(x, y) * y),
    "T.ceildiv": ("T.ceildiv(x, T.cast(3, dt))", lambda x: (x - 1) // 3),
    "T.align_up": ("T.align_up(x, T.cast(3, dt))", lambda x: (x - 1) // 3 * 3),
    "**": ("x ** 3", lambda x: x * x * x),
    "&": ("x & y", lambda x, y: x & y),
    "|": ("x | y", lambda x, y: x | y),
    "^": ("x ^ y", lambda x, y: x ^ y),
    "~": ("~x", lambda x: ~x),
    "<<": ("x << shift", lambda x, y: x << y),
    ">>": ("x >> shift", lambda x, y: x >> y),
    "-x": ("-x", lambda x: -x),
    "T.max": ("T.max(x, y)", np.maximum),
    "T.min": ("T.min(x, y)", np.minimum),
    "T.clamp": ("T.clamp(x, T.cast(1, dt), T.cast(5, dt))",
                lambda x: np.minimum(np.maximum(x, 1), 5)),
    "T.abs": ("T.abs(x)", abs),
    "T.popcount": ("T.popcount(x)", None),
    "T.clz": ("T.clz(x)", None),
    # what integers are already; and the float32 of small ones, cut off
    "T.floor": ("T.floor(x)", lambda x: x),
    "T.ceil": ("T.ceil(x)", lambda x: x),
    "T.trunc": ("T.trunc(x)", lambda x: x),
    "T.round": ("T.round(x)", lambda x: x),
    "round, ties away": ("T.round(x, 'ties-away-from-zero')", lambda x: x),
    "T.exp": ("T.exp(x & T.cast(3, dt))",
              lambda x: np.exp((x & 3).astype(float)).astype(int)),
}
# Of unsigned integers alone.
UNSIGNED = {"/": ("x / nonzero", truncated)}
# Truth values as numbers, of which "not 0" is kept.
BOOL = {
    "&": ("x & y", np.bitwise_and), "|": ("x | y", np.bitwise_or),
    "^": ("x ^ y", np.bitwise_xor), "+": ("x + y", np.logical_or),
    "-": ("x - y", np.logical_xor), "*": ("x * y", np.logical_and),
    "T.max": ("T.max(x, y)", np.maximum),
    "T.min": ("T.min(x, y)", np.minimum),
    "T.clamp": ("T.clamp(x, y, T.bool(True))", np.maximum),
    **{name: INT[name] for name in ("T.floor", "T.ceil", "T.trunc", "T.round",
                                    "round, ties away")},
}
INT_AND_UNSIGNED = {**INT, **UNSIGNED}
# The bits as an unsigned integer of the same width.
BITS = ("T.reinterpret", "T.reinterpret(x, T.uint{bits})")


def arguments(function):
    code = getattr(function, "__code__", None)
    return code.co_argcount if code else getattr(function, "nin", 1)


def call(function, x, y):
    with np.errstate(all="ignore"):
        return function(x, y) if arguments(function) == 2 else function(x)


def float_expected(name, dtype, x, y):
    """Values as float64, rounded to dtype; None: not to be compared."""
    name = "T.fmod" if name == "T.truncmod" else name
    x, y = x.astype(np.float64), y.astype(np.float64)
    if name == "**":                    # multiplies, rounding each time
        with np.errstate(all="ignore"):
            return rounded(rounded(x * x, dtype) * x, dtype)
    result = call(FLOAT[name][1], x, y)
    want = rounded(result, dtype)
    if name in EXACT and dtype == "float8_e5m2":    # nothing is rounded
        want = np.where(np.isinf(result), result.astype(want.dtype), want)
    return want


def bits_of(x, bits):
    return [int(v) & ((1 << bits) - 1) for v in x]


def int_expected(name, dtype, x, y):
    bits = np.dtype(dtype).itemsize * 8
    if name == "T.popcount":
        return np.array([bin(v).count("1") for v in bits_of(x, bits)], object)
    if name == "T.clz":                 # narrow ones count as int32
        bits = max(bits, 32)
        return np.array([bits - v.bit_length() for v in bits_of(x, bits)],
                        object)
    a, b = x.astype(object), y.astype(object)
    if name in ("T.ceildiv", "T.align_up"):     # (x + y - 1) // y, which wraps
        a = wrapped(a + 3, dtype).astype(object)
    expression, function = INT_AND_UNSIGNED[name]
    if "nonzero" in expression:
        b = np.where(b == 0, 3, b)
    if "shift" in expression:
        b = b % bits
    return call(function, a, b)


def wrapped(values, dtype):
    bits = np.dtype(dtype).itemsize * 8
    low = [int(v) & ((1 << bits) - 1) for v in values]
    unsigned = np.array(low, dtype=f"uint{bits}")
    return unsigned.view(dtype)


def operations(dtype):
    """(name, expression, kind) of all that dtype has."""
    out = []
    if is_float(dtype):
        out += [(n, e, "float") for n, (e, _, _) in FLOAT.items()]
    elif dtype in INTS:
        table = INT_AND_UNSIGNED if is_unsigned(dtype) else INT
        out += [(n, e, "int") for n, (e, _) in table.items()]
    else:
        out += [(n, e, "bool") for n, (e, _) in BOOL.items()]
    if dtype in ("float32", "float64"):         # C's fmod under a second name
        out.append(("T.truncmod", "T.truncmod(x, y)", "float"))
    if dtype != "bool":
        bits = 8 * np.dtype(ALL[dtype]).itemsize
        out.append((BITS[0], BITS[1].format(bits=bits), "bits"))
    for name, (expression, _) in TRUTH.items():
        out.append((name, expression, "truth"))
    for name, (expression, _) in CHOICE.items():
        out.append((name, expression, "choice"))
    return out


def expected(name, kind, dtype, x, y):
    if kind == "float":
        return float_expected(name, dtype, x, y)
    if kind == "int":
        result = int_expected(name, dtype, x, y)
        return wrapped(result, np.int32 if name == "T.clz" else dtype)
    if kind == "bool":
        return call(BOOL[name][1], x, y)
    if kind == "bits":
        bits = x.view(f"uint{8 * x.dtype.itemsize}")
        # a NaN of e5m2 is kept as the one with all bits
        nan = is_float(dtype) and np.isnan(x.astype(np.float64))
        return np.where(nan, 127, bits) if dtype == "float8_e5m2" else bits
    wide = np.float64 if is_float(dtype) else dtype
    if kind == "truth":
        return call(TRUTH[name][1], x.astype(wide), y.astype(wide))
    picked = call(CHOICE[name][1], x.astype(wide), y.astype(wide))
    return picked.astype(ALL[dtype])
