# conversions.py - conversions against NumPy and ml_dtypes, exhaustive at 16 bits.
#
# The oracle of a narrow float is the list of its values as ml_dtypes decodes
# them: the nearest is searched for exactly, in long double. It is itself
# compared with ml_dtypes' own rounding from float32.
import functools
import warnings

import numpy as np

from probe import (DTYPES, FLOATS, FP8, INTS, LANES, NARROW, bits, check,
                   compare, finish, isas, run, same)

warnings.simplefilter("ignore", RuntimeWarning)   # NaN and overflow are tests
rng = np.random.default_rng(1)


class Format:
    """All finite values of a narrow float, ascending in magnitude."""

    def __init__(self, name):
        self.name, self.dtype = name, DTYPES[name]
        size = np.dtype(self.dtype).itemsize
        codes = np.arange(1 << (8 * size - 1), dtype=f"u{size}")
        values = codes.view(self.dtype).astype(np.longdouble)
        finite = np.isfinite(values)
        self.codes, self.values = codes[finite], values[finite]
        self.has_inf = bool(np.isinf(values).any())
        self.fnuz = name.endswith("uz")

    def nearest(self, x, overflow):
        """x: long double. overflow: "max", or "inf" (NaN if there is none)."""
        v, ax = self.values, np.abs(x)
        last = len(v) - 1
        up = np.clip(np.searchsorted(v, ax), 1, last)
        low, high = v[up - 1], v[up]
        middle = (low + high) / 2
        pick = np.where(ax > middle, up, up - 1)
        pick = np.where((ax == middle) & (self.codes[up] % 2 == 0), up, pick)
        limit = v[last] + (v[last] - v[last - 1]) / 2
        odd_last = self.codes[last] % 2 == 1
        over = (ax > limit) | ((ax == limit) & odd_last)
        pick = np.where(ax >= v[last], last, pick)
        out = v[pick].astype(self.dtype)
        if overflow == "inf":
            out[over] = np.inf if self.has_inf else np.nan
        out = np.where(np.signbit(x), -out.astype(np.float64),
                       out.astype(np.float64))
        out = np.where(np.isnan(x), np.nan, out).astype(self.dtype)
        if self.fnuz:
            zero = (ax <= middle) & (pick == 0)
            bits(out)[zero] = 0
        return out


def to_int(x, name):
    """Truncation with clamping, NaN to 0; x long double."""
    info = np.iinfo(DTYPES[name])
    t = np.trunc(np.where(np.isnan(x), 0, x))
    low, high = np.longdouble(info.min), np.longdouble(info.max)
    return np.clip(t, low, high).astype(DTYPES[name])


@functools.lru_cache(maxsize=None)
def expected(source, name, mode):
    """every(source) converted to dtype `name`, exactly."""
    src, target = every(source), DTYPES[name]
    x = src.astype(np.longdouble)
    if name == "bool":
        return x != 0
    if src.dtype == target:
        return src
    if name in NARROW:
        saturates = name in FP8 and (
            mode in ("sat", "scalar") or
            (mode == "torch" and name == "float8_e4m3fn"))
        return formats[name].nearest(x, "max" if saturates else "inf")
    if name in FLOATS:
        return x.astype(target)
    if src.dtype.kind in "iub":
        return src.astype(target)
    return to_int(x, name)


def edges(name, dtype):
    """Every value of the narrow type and every midpoint, and what is next."""
    f = formats[name]
    v = f.values
    middles = (v[1:] + v[:-1]) / 2
    end = v[-1] + (v[-1] - v[-2]) / 2
    points = np.concatenate([v, middles, [end, 2 * v[-1]]]).astype(dtype)
    all_points = np.concatenate([points, np.nextafter(points, dtype(np.inf)),
                                 np.nextafter(points, dtype(-np.inf))])
    special = np.array([np.inf, np.nan, np.finfo(dtype).max,
                        np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal],
                       dtype)
    return np.concatenate([all_points, -all_points, special, -special])


@functools.lru_cache(maxsize=None)
def every(name):
    """All values of a type of at most 16 bits, else the telling ones."""
    t = np.dtype(DTYPES[name])
    if name == "bool":
        return np.array([False, True])
    if t.itemsize <= 2:
        return np.arange(1 << 8 * t.itemsize, dtype=f"u{t.itemsize}").view(t)
    if name in INTS:
        one = np.array(1, f"u{t.itemsize}")
        powers = one << np.arange(8 * t.itemsize, dtype=one.dtype)
        near = np.concatenate([powers + np.array(d, np.int8).astype(one.dtype)
                               for d in range(-3, 4)])
        halves = np.concatenate([p + (powers >> np.array(s, one.dtype)) + d
                                 for p in [powers] for s in range(2, 30)
                                 for d in near[:0].tolist() + [0, 1]
                                 for d in [np.array(d, one.dtype)]])
        loose = rng.integers(0, 1 << 8 * t.itemsize - 1, 20000, dtype=one.dtype)
        u = np.concatenate([near, halves, halves - one, loose])
        return np.concatenate([u, ~u + one]).view(t)
    size = {"float32": np.uint32, "float64": np.uint64}[name]
    loose = rng.integers(0, np.iinfo(size).max, 50000, dtype=size).view(t)
    near = (np.ldexp(1.0, np.arange(-20, 70))[:, None]
            * np.array([1, 1 - 2.0 ** -24, 1 + 2.0 ** -23, 1.5, 0.999])).ravel()
    near = np.concatenate([near, near + 0.5, near - 0.5]).astype(t)
    points = [edges(n, t.type) for n in NARROW]
    return np.concatenate([loose, near, -near] + points)


def modes(src, dst):
    yield "sat"
    if dst in FP8:
        yield "nosat"
        yield "torch"
    # One at a time: uint64 travels as int64, and fp8 infinity is put anew.
    if not (src == "uint64" and dst in FLOATS or src == dst):
        yield "scalar"


def check_pairs():
    for src in DTYPES:
        values = every(src)
        for dst in DTYPES:
            for mode in modes(src, dst):
                got = run(DTYPES[dst], "convert", mode, dst, src, data=[values])
                want = expected(src, dst, mode)
                compare(f"{mode} {src} -> {dst}", got, want, values)


def check_oracle():
    """The search agrees with ml_dtypes where that rounds once."""
    for name in NARROW:
        x = every("float32")
        theirs = x.astype(DTYPES[name])
        compare(f"oracle {name}", formats[name].nearest(
            x.astype(np.longdouble), "inf"), theirs, x)


def check_lanes():
    """Load, store and rounding rows of every instruction set."""
    for isa in isas():
        for name in DTYPES:
            lane = np.float64 if name == "float64" else np.float32 \
                if name in FLOATS else LANES[
                    {"uint32": "u32", "int64": "i64",
                     "uint64": "u64"}.get(name, "i32")]
            values = every(name)
            up = values.astype(lane)
            n = len(values)
            compare(f"{isa} load {name}",
                    run(lane, "memory", isa, "load", name, n, data=[values]),
                    up, values)
            compare(f"{isa} load_f64 {name}",
                    run(np.float64, "memory", isa, "load_f64", name, n,
                        data=[values]), values.astype(np.float64), values)
            check_stores(isa, name, lane)


def check_stores(isa, name, lane):
    source = {"f": "float32", "d": "float64", "i": "int32", "I": "uint32",
              "l": "int64", "L": "uint64"}[np.dtype(lane).char]
    values = every(source)
    n = len(values)
    got = run(DTYPES[name], "memory", isa, "store", name, n, data=[values])
    want = expected(source, name, "sat")
    compare(f"{isa} store {name}", got, want, values)
    if name in NARROW or np.dtype(DTYPES[name]).itemsize < 4:
        rounded = run(lane, "memory", isa, "round", name, n, data=[values])
        compare(f"{isa} round {name}", rounded, want.astype(lane), values)
    if name in FP8:
        want = expected(source, name, "nosat")
        got = run(DTYPES[name], "memory", isa, "store_nosat", name, n,
                  data=[values])
        compare(f"{isa} store_nosat {name}", got, want, values)
        got = run(lane, "memory", isa, "round_nosat", name, n, data=[values])
        compare(f"{isa} round_nosat {name}", got, want.astype(lane), values)
    values = every("float64")
    got = run(DTYPES[name], "memory", isa, "store_f64", name, len(values),
              data=[values])
    compare(f"{isa} store_f64 {name}", got, expected("float64", name, "sat"),
            values)


def check_changes():
    """Between lane types, on every instruction set."""
    names = {"f32": "float32", "f64": "float64", "i32": "int32",
             "u32": "uint32", "i64": "int64", "u64": "uint64"}
    for isa in isas():
        for a in LANES:
            values = every(names[a])
            n = len(values)
            for b in LANES:
                got = run(LANES[b], "change", isa, a, b, n, data=[values])
                compare(f"{isa} {a} -> {b}", got,
                        expected(names[a], names[b], "sat"), values)
            check_odd(isa, a, values)


def check_odd(isa, a, values):
    got = run(np.float32, "change", isa, a, "odd", len(values), data=[values])
    x, g = values.astype(np.longdouble), got.astype(np.longdouble)
    below = np.nextafter(got, np.float32(-np.inf)).astype(np.longdouble)
    above = np.nextafter(got, np.float32(np.inf)).astype(np.longdouble)
    odd = (bits(got) & 1 == 1) & (x > below) & (x < above)
    check(f"{isa} {a} to odd", (g == x) | odd | (np.isnan(g) & np.isnan(x)),
          lambda i: f"{values[i]!r} gave {got[i]!r}")


formats = {name: Format(name) for name in NARROW}
check_oracle()
check_pairs()
check_lanes()
check_changes()
finish()
