# supply.py - generated inputs: Philox's published vectors, upstream's rules.
#
# The rules (tilelang's TensorSupplyType): Auto is U(-1,1) for floats of 16 bits
# and more, randint[-2,3) for signed and [0,3) for unsigned integers, {0,1} for
# bool, int8's range for fp8; Integer is Auto with floats from randint[-2,3);
# Uniform is U(-1,1), for integers all ones; Normal is N(-1,1), Randn N(0,1).
# Element i is drawn from Philox4x32-10 with key (seed, parameter) and counter
# i; written here again in Python.
import os
import subprocess
import sys

import numpy as np

import tensors

PROBE = os.environ.get("SUPPLY_PROBE", "./supply_probe")
AUTO, INTEGER, UNIFORM, NORMAL, RANDN, ZERO, ONE = range(7)
WORDS = {"bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16",
         "i32": "int32", "i64": "int64", "f16": "float16", "bf16": "bfloat16",
         "f32": "float32", "f64": "float64", "e4m3": "float8_e4m3fn",
         "e5m2": "float8_e5m2", "e4m3z": "float8_e4m3fnuz", "u32": "uint32"}
FAILED = []

# Random123's kat_vectors: philox4x32 10, counter, key, result.
VECTORS = [
    ("00000000 00000000 00000000 00000000 00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def check(good, what):
    if not good:
        print("wrong:", what)
        FAILED.append(what)


def philox(counter, key):
    """Rows of four words: the definition of Salmon et al., vectorised."""
    c = [np.asarray(x, np.uint64) for x in counter]
    k0, k1 = key
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), b & low,
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def filled(kind, dtype, seed, param, n):
    out = subprocess.run([PROBE, str(kind), WORDS[dtype], str(seed), str(param),
                          str(n)], stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(out, tensors.DTYPES[dtype][0])


def expected(kind, dtype, seed, param, n):
    i = np.arange(n, dtype=np.uint64)
    w = philox([i, 0 * i, 0 * i + np.uint64(seed >> 32), 0 * i],
               (seed & 0xFFFFFFFF, param))
    unit = [(x >> np.uint64(8)).astype(np.float64) * 2.0**-24 for x in w]
    low, count = {"b": (0, 2), "u": (0, 3)}.get(
        np.dtype(tensors.DTYPES[dtype][0]).kind, (-2, 5))
    ints = low + ((w[0] * np.uint64(count)) >> np.uint64(32)).astype(np.int64)
    normal = np.sqrt(-2 * np.log((w[0] + 1.0) * 2.0**-32)) \
        * np.cos(unit[1] * 2 * np.pi)
    floats = tensors.is_float(dtype)
    if kind == ZERO or kind == ONE:
        return np.full(n, float(kind == ONE))
    if kind in (NORMAL, RANDN):
        return normal - (kind == NORMAL)
    if kind == INTEGER:
        return ints.astype(np.float64)
    if kind == AUTO and dtype in tensors.FP8:
        return ((w[0] * np.uint64(256)) >> np.uint64(32)).astype(np.float64) \
            - 128
    if floats:
        return 2 * unit[0] - 1
    return np.ones(n) if kind == UNIFORM else ints.astype(np.float64)


def main():
    for given, want in VECTORS:
        got = subprocess.run([PROBE, "philox", *given.split()], check=True,
                             stdout=subprocess.PIPE, text=True).stdout.strip()
        check(got == want, f"philox {given}: {got}")
        words = philox([int(x, 16) for x in given.split()[:4]],
                       [int(x, 16) for x in given.split()[4:]])
        check([f"{int(x):08x}" for x in words] == want.split(), "this philox")
    for kind in range(7):
        for dtype in WORDS:
            if kind in (NORMAL, RANDN) and not tensors.is_float(dtype):
                continue
            for seed, param, n in [(0, 0, 5000), (7, 3, 100),
                                   (2**40 + 5, 2, 100)]:
                got = filled(kind, dtype, seed, param, n)
                want = expected(kind, dtype, seed, param, n)
                if dtype in tensors.FP8:        # T.cast's rule: saturate
                    top = {"e4m3": 448, "e5m2": 57344, "e4m3z": 240,
                           "e5m2z": 57344}[dtype]
                    want = np.clip(want, -top, top)
                want = want.astype(tensors.DTYPES[dtype][0])
                # log and cos of two libraries: an ulp of the dtype apart
                close = tensors.ulps(got, want, 1).max() <= (
                    8 if dtype == "f64" else 1) \
                    if kind in (NORMAL, RANDN) and got.size else \
                    np.array_equal(got, want)
                check(close, f"kind {kind} of {dtype}, seed {seed}, {param}")
    x = filled(RANDN, "f64", 1, 1, 100000)
    check(abs(x.mean()) < 0.02 and abs(x.std() - 1) < 0.02, "N(0,1)")
    check(len(np.unique(filled(UNIFORM, "f32", 1, 1, 20000))) > 19900, "U(-1,1)")
    check(not np.array_equal(filled(AUTO, "f32", 1, 1, 9),
                             filled(AUTO, "f32", 1, 2, 9)), "streams")
    print(f"supply: {len(FAILED)} wrong")
    sys.exit(bool(FAILED))


main()
