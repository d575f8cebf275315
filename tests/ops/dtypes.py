"""dtypes.py - tilesim's dtypes as NumPy and ml_dtypes have them."""
import ml_dtypes
import numpy as np

FLOATS = {
    "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32, "float64": np.float64,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
INTS = {name: np.dtype(name) for name in (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}
BOOLS = {"bool": np.bool_}
# What travels in another dtype, which holds all of their values.
CARRIED = {"int4": np.dtype("int8"), "uint4": np.dtype("uint8"),
           "float4_e2m1fn": np.dtype("float32"),
           "tfloat32": np.dtype("float32")}
ALL = {**FLOATS, **INTS, **BOOLS}


def is_float(name):
    return name in FLOATS


def is_unsigned(name):
    return name.startswith("uint")


def largest(name):
    return float(ml_dtypes.finfo(FLOATS[name]).max)


def rounded(values, name):
    """float64 to the dtype; 8-bit floats saturate, as T.cast does."""
    values = np.asarray(values, np.float64)
    if name.startswith("float8"):
        top = largest(name)
        values = np.clip(values, -top, top)
    if name in ("float32", "float64"):
        with np.errstate(all="ignore"):
            return values.astype(FLOATS[name])
    return direct(values, FLOATS[name])


def direct(values, dtype):
    """One rounding: ml_dtypes goes through float32, which rounds twice."""
    narrow = np.float32(values)
    wide = narrow.astype(np.float64)
    bits = narrow.view(np.uint32)
    inexact = (wide != values) & np.isfinite(wide)
    away = np.abs(wide) > np.abs(values)
    bits = np.where(inexact & away, bits - 1, bits)     # toward zero
    bits = np.where(inexact, bits | 1, bits)            # and sticky
    with np.errstate(all="ignore"):
        return bits.astype(np.uint32).view(np.float32).astype(dtype)


def places(a, b, name):
    """How many representable values lie between a and b; NaN equals NaN."""
    size = np.dtype(FLOATS[name]).itemsize
    kind = np.dtype(f"int{8 * size}")
    def order(x):
        bits = x.view(kind).astype(object)
        top = 1 << (8 * size - 1)
        return np.array([v if v >= 0 else -(v + top) for v in bits], object)
    both = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    return np.where(both, 0, abs(order(a) - order(b)))
