# tensors.py - arrays for the torch tests: dtypes, random values, files.
import base64
import hashlib
import json

import ml_dtypes
import numpy as np

# Our short names, NumPy's types, safetensors' words.
DTYPES = {
    "bool": (np.bool_, "BOOL"), "u8": (np.uint8, "U8"), "i8": (np.int8, "I8"),
    "i16": (np.int16, "I16"), "i32": (np.int32, "I32"),
    "i64": (np.int64, "I64"), "f16": (np.float16, "F16"),
    "bf16": (ml_dtypes.bfloat16, "BF16"), "f32": (np.float32, "F32"),
    "f64": (np.float64, "F64"), "e4m3": (ml_dtypes.float8_e4m3fn, "F8_E4M3"),
    "e5m2": (ml_dtypes.float8_e5m2, "F8_E5M2"),
    "e4m3z": (ml_dtypes.float8_e4m3fnuz, "F8_E4M3FNUZ"),
    "e5m2z": (ml_dtypes.float8_e5m2fnuz, "F8_E5M2FNUZ"),
    "u16": (np.uint16, "U16"), "u32": (np.uint32, "U32"),
    "u64": (np.uint64, "U64"),
}
FLOATS = ["f16", "bf16", "f32", "f64"]
INTS = ["u8", "i8", "i16", "i32", "i64"]
FP8 = ["e4m3", "e5m2", "e4m3z", "e5m2z"]
MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52, "e4m3": 3, "e5m2": 2,
            "e4m3z": 3, "e5m2z": 2}
LEAST = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022, "e4m3": -6,
         "e5m2": -14, "e4m3z": -7, "e5m2z": -15}
WORDS = {word: name for name, (_, word) in DTYPES.items()}


def name_of(array):
    for name, (kind, _) in DTYPES.items():
        if array.dtype == np.dtype(kind):
            return name
    raise SystemExit(f"no name for {array.dtype}")


def is_float(name):
    return name in MANTISSA


# ---- random values, the same everywhere -----------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"),
           65504.0, 1e-7, -3e38, 0.5, 2.5]


def raw(seed, n):
    """n numbers in [0, 1), multiples of 2^-24; PCG64's stream is fixed."""
    bits = np.random.PCG64(seed).random_raw(n) if n else np.zeros(0, np.uint64)
    return (np.asarray(bits, np.uint64) >> np.uint64(40)).astype(np.float64) \
        * 2.0**-24


def values(domain, dtype, shape, seed):
    """An array of random values of a domain, rounded to dtype."""
    n = int(np.prod(shape, dtype=np.int64))
    u = raw(seed, n)
    kind = DTYPES[dtype][0]
    if domain == "special":
        x = np.array([SPECIAL[i % len(SPECIAL)] for i in range(n)])
    elif domain == "q":                         # quarters: sums are exact
        x = np.floor(u * 33 - 16) / 4
    elif domain == "i":
        x = np.floor(u * 11 - 5)
    elif domain == "pos":
        x = u * 4 + 0.125
    elif domain == "nz":                        # far enough from 0
        step = 1 if is_float(dtype) else 2
        x = np.where(u < 0.5, -1, 1) * step * (np.floor(u * 4096) % 12 + 1) / 2
    elif domain == "unit":
        x = u * 2 - 1
    elif domain == "far":
        x = (u * 2 - 1) * 30
    elif domain == "bits":
        x = np.floor(u * 2)
    elif domain == "big":                       # integers only
        raw64 = np.random.PCG64(seed).random_raw(n) if n else []
        return np.asarray(raw64, np.uint64).astype(np.int64).astype(kind) \
            .reshape(shape)
    elif domain.startswith("<"):                # indices below, from 0
        x = np.floor(u * int(domain[1:]))
    elif domain.startswith("~"):                # and from minus that
        k = int(domain[1:])
        x = np.floor(u * 2 * k) - k
    else:                                       # "n"
        x = u * 6 - 3
    if dtype == "bool":
        x = u < 0.5 if domain != "ones" else u >= 0
    elif not is_float(dtype):
        x = np.nan_to_num(np.trunc(x), posinf=7, neginf=-7)
        if dtype.startswith("u"):
            x = np.abs(x)
        x = np.clip(x, -100, 100)
    with np.errstate(all="ignore"):
        if is_float(dtype) and dtype != "f64":
            x = np.asarray(x, np.float64).astype(np.float32)
        return np.asarray(x).astype(kind).reshape(shape)


# ---- .safetensors ----------------------------------------------------------------

def write_safetensors(path, arrays):
    header, at, parts = {}, 0, []
    for name, a in arrays.items():
        data = np.ascontiguousarray(a).tobytes()
        header[name] = {"dtype": DTYPES[name_of(a)][1],
                        "shape": list(a.shape),
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + b"".join(parts))


def read_safetensors(path):
    with open(path, "rb") as f:
        data = f.read()
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + n])
    out = {}
    for name, h in header.items():
        if name == "__metadata__":
            continue
        a, b = h["data_offsets"]
        kind = DTYPES[WORDS[h["dtype"]]][0]
        out[name] = np.frombuffer(data[8 + n + a:8 + n + b], kind) \
            .reshape(h["shape"])
    return out


# ---- comparison -------------------------------------------------------------------

def bits(a):
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")


def same_bits(a, b):
    """Bit equality, all NaN counting as one."""
    if not is_float(name_of(a)):
        return a == b
    with np.errstate(invalid="ignore"):
        nan = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    return (bits(a).reshape(a.shape) == bits(b).reshape(b.shape)) | nan


def ulps(got, want, scale=0):
    """How far apart, in units of want's last place (or of scale's, where that
    is larger); 0 for equal NaN, inf."""
    name = name_of(want)
    with np.errstate(all="ignore"):
        g, w = got.astype(np.float64), want.astype(np.float64)
        large = np.maximum(np.abs(np.where(np.isfinite(w), w, 0)), scale)
        e = np.frexp(large)[1] - 1
        unit = np.ldexp(1.0, np.maximum(e, LEAST[name]) - MANTISSA[name])
        off = np.abs(g - w) / unit
    off = np.where((g == w) | (np.isnan(g) & np.isnan(w)), 0, off)
    return np.where(np.isnan(off), np.inf, off)


def pack(a):
    return base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()


def unpack(name, shape, text):
    return np.frombuffer(base64.b64decode(text), DTYPES[name][0]).reshape(shape)


def digest(a):
    """Of the bits, all NaN being one."""
    a = np.ascontiguousarray(a).copy()
    if is_float(name_of(a)):
        with np.errstate(invalid="ignore"):
            a[np.isnan(a.astype(np.float64))] = np.nan
    return hashlib.blake2b(a.tobytes(), digest_size=6).hexdigest()


def differs(got, expected, tol):
    """Why a tensor is not what it should be, or None."""
    dtype, shape, data = expected
    if name_of(got) != dtype or list(got.shape) != shape:
        return (f"{name_of(got)}{list(got.shape)}, "
                f"not {dtype}{shape}")
    if tol == 0:
        return None if digest(got) == data \
            else f"other bits: {got.tolist()}"
    want = unpack(dtype, shape, data)
    tol, scale = tol if isinstance(tol, tuple) else (tol, 0)
    off = ulps(got, want, scale) if is_float(dtype) \
        else np.where(got == want, 0, np.inf)
    if got.size and off.max() > tol:
        i = np.unravel_index(off.argmax(), off.shape)
        return f"{off.max():.3g} ulp: {got[i]} for {want[i]}"
    return None
