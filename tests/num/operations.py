# operations.py - every lane operation: the same bits from every instruction
# set, and NumPy's answer where NumPy has the operation.
#
# Elementary functions are functions.py's affair; here only their bits are
# compared between instruction sets.
import warnings
from fractions import Fraction

import numpy as np

from probe import LANES, bits, check, compare, finish, isas, lines, run, same

warnings.simplefilter("ignore", RuntimeWarning)
rng = np.random.default_rng(11)
KINDS = {"f": ("f32", "f64"), "i": ("i32", "i64"), "u": ("u32", "u64")}
COUNT = 6007                                    # not a multiple of 16


def floats(t):
    f = np.finfo(t)
    v = np.array([0, 1, 0.5, 1.5, 2.5, 3, 7, 0.1, 1e9, f.max, f.tiny,
                  f.smallest_subnormal, f.eps, np.inf, np.nan, 2.0 ** 23,
                  2.0 ** 31, 2.0 ** 52, 2.0 ** 63], t)
    return np.concatenate([v, -v])


def integers(t):
    info = np.iinfo(t)
    v = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, info.max, info.max - 1,
         info.max // 2, info.min, info.min // 2]
    v += [-1, -2, -3, -7, -64, info.min + 1] if info.min else []
    return np.array(v, t)


def operands(lane, arity):
    """All pairs of special values, then random ones."""
    t = LANES[lane]
    real = lane[0] == "f"
    s = floats(t) if real else integers(t)
    a, b, c = np.repeat(s, len(s)), np.tile(s, len(s)), rng.permutation(
        np.repeat(s, len(s)))
    u = f"u{np.dtype(t).itemsize}"
    top = np.iinfo(u).max

    def loose(n):
        return rng.integers(0, top, n, dtype=u, endpoint=True).view(t)

    def small(n):
        x = rng.uniform(-40, 40, n)
        return x.astype(t) if real else rng.integers(
            0 if lane[0] == "u" else -40, 40, n).astype(t)

    n = (COUNT - len(a)) // 2
    args = [np.concatenate([x, loose(n), small(COUNT - len(a) - n)])
            for x in (a, b, c)]
    return args[:arity]


def nearest(x, t):
    """A Fraction as the nearest value of float type t."""
    f = np.finfo(t)
    if x == 0:
        return t(0)
    e = max(abs(x.numerator).bit_length() - x.denominator.bit_length() - 1,
            f.minexp - 1)
    while abs(x) >= Fraction(2) ** (e + 1):
        e += 1
    unit = Fraction(2) ** (max(e, f.minexp) - f.nmant)
    whole = round(x / unit) * unit              # ties to even
    return t(float(whole)) if abs(whole) < Fraction(2) ** f.maxexp \
        else t(np.inf) * np.sign(float(np.sign(whole)))


def fma(a, b, c):
    out = np.where(np.isfinite(a) & np.isfinite(b), c, a * b + c)
    for i in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + \
            Fraction(float(c[i]))
        v = nearest(exact, a.dtype.type)
        if exact:                               # keeps its sign if it is lost
            out[i] = np.copysign(v, float(np.sign(exact)))
        else:                                   # cancelled, or zeros added
            out[i] = 0 if c[i] else a[i] * b[i] + c[i]
    return out


def larger(a, b, drop):
    m = (np.fmax if drop else np.maximum)(a, b)
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0),
                    m).astype(a.dtype)


def smaller(a, b, drop):
    return -larger(-a, -b, drop)


def checked(f):
    """An integer division with 0 where the divisor is."""
    return lambda a, b: np.where(b == 0, 0, f(a, np.where(b == 0, 1, b)))


def truncdiv(a, b):
    wide = [int(x) // int(y) if (x < 0) == (y < 0) else -(-int(x) // int(y))
            for x, y in zip(a, b)]
    return wrap(wide, a.dtype)


def wrap(values, t):
    top = 1 << 8 * np.dtype(t).itemsize
    return np.array([v % top for v in values],
                    f"u{np.dtype(t).itemsize}").view(t)


def power(a, b):
    top = 1 << 8 * a.dtype.itemsize
    return wrap([pow(int(x), int(y), top) if y >= 0 else
                 int(x) ** abs(int(y)) if abs(int(x)) == 1 else 0
                 for x, y in zip(a, b)], a.dtype)


def shift(a, b, left):
    width = 8 * a.dtype.itemsize
    out = []
    for x, y in zip(a.tolist(), b.tolist()):
        inside = 0 <= y < width
        if left:
            out.append(x << y if inside else 0)
        else:
            out.append(x >> (y if inside else width))
    return wrap(out, a.dtype)


def bit_count(a):
    return wrap([bin(v).count("1") for v in bits(a).tolist()], a.dtype)


def leading_zeros(a):
    width = 8 * a.dtype.itemsize
    return wrap([width - v.bit_length() for v in bits(a).tolist()], a.dtype)


def away(a):
    t = np.trunc(a)
    return np.where(np.abs(a - t) >= 0.5, t + np.copysign(1, a), t).astype(
        a.dtype)


FLOAT = {
    "FMA": fma, "DIV": lambda a, b: a / b,
    "FLOORDIV": lambda a, b: np.floor(a / b),
    "FLOORMOD": lambda a, b: a - np.floor(a / b) * b,
    "PYDIV": np.floor_divide,
    "TRUNCDIV": lambda a, b: np.trunc(a / b), "TRUNCMOD": np.fmod,
    "MAX": lambda a, b: larger(a, b, True),
    "MIN": lambda a, b: smaller(a, b, True),
    "MAXNAN": lambda a, b: larger(a, b, False),
    "MINNAN": lambda a, b: smaller(a, b, False),
    "ABS": np.abs, "SQRT": np.sqrt, "FLOOR": np.floor, "CEIL": np.ceil,
    "RSQRT": lambda a: 1 / np.sqrt(a), "TRUNC": np.trunc, "RINT": np.rint,
    "SIGN": lambda a: np.nan_to_num(np.sign(a)), "ROUNDAWAY": away,
    "ISNAN": np.isnan, "ISINF": np.isinf, "ISFINITE": np.isfinite,
}
INTEGER = {
    "FLOORDIV": checked(np.floor_divide), "FLOORMOD": checked(np.remainder),
    "TRUNCDIV": checked(truncdiv), "TRUNCMOD": checked(np.fmod),
    "MAX": np.maximum, "MIN": np.minimum, "POW": power, "AND": np.bitwise_and,
    "OR": np.bitwise_or, "XOR": np.bitwise_xor,
    "SHL": lambda a, b: shift(a, b, True),
    "SHR": lambda a, b: shift(a, b, False), "BITNOT": np.invert,
    "NOT": lambda a: (a == 0).astype(a.dtype), "ABS": np.abs,
    "SIGN": np.sign, "POPCOUNT": bit_count, "CLZ": leading_zeros,
}
ANY = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "EQ": np.equal,
    "NE": np.not_equal, "LT": np.less, "LE": np.less_equal,
    "NEG": np.negative, "SELECT": lambda a, b, c: np.where(a != 0, b, c),
}
MOVES = ("NEG", "ABS", "SELECT")                # NaN keep their bits


def python_mod(a, b, got):
    """Checked against its definition: NumPy gives zeros another sign."""
    r = np.fmod(a, b)
    want = np.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)
    return same(got, want.astype(got.dtype))


def check_operation(name, arity, lane, truth):
    args = operands(lane, arity)
    if name == "SELECT":
        args[0] = rng.integers(-1, 2, len(args[1]), dtype=np.int32)
    result = np.int32 if truth else LANES[lane]
    n = len(args[-1])
    got = {isa: run(result, "lane", isa, name, lane, n, data=args)
           for isa in isas()}
    for isa, r in got.items():
        check(f"{name} {lane} {isa}: same bits",
              bits(r) == bits(got["generic"]),
              lambda i: f"{[a[i] for a in args]}: {r[i]!r}, generic "
                        f"{got['generic'][i]!r}")
    r = got["generic"]
    oracle = (FLOAT if lane[0] == "f" else INTEGER).get(name, ANY.get(name))
    if name == "PYMOD":
        check(f"PYMOD {lane}", python_mod(*args, r))
    elif oracle:
        compare(f"{name} {lane}", r, oracle(*args).astype(result),
                list(zip(*args)))
    if lane[0] == "f" and not truth and name not in MOVES:
        quiet = bits(np.array(np.nan, result))
        check(f"{name} {lane}: one NaN", ~np.isnan(r) | (bits(r) == quiet))


def main():
    without = set()
    for line in lines("ops"):
        name, arity, kinds, truth = line.split()
        for kind in kinds:
            for lane in KINDS[kind]:
                check_operation(name, int(arity), lane, truth == "1")
            table = FLOAT if kind == "f" else INTEGER
            if name not in table and name not in ANY and name != "PYMOD":
                without.add(name)
    print("bits only:", " ".join(sorted(without)))
    finish()


main()
