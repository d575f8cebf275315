# probe.py - runs num_probe on NumPy arrays; counts and prints checks.
import os
import subprocess
import sys

import ml_dtypes
import numpy as np

PROBE = os.environ.get("NUM_PROBE", "./num_probe")

DTYPES = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "uint8": np.uint8, "uint16": np.uint16,
    "uint32": np.uint32, "uint64": np.uint64, "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16, "float32": np.float32,
    "float64": np.float64, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
LANES = {"f32": np.float32, "f64": np.float64, "i32": np.int32,
         "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
NARROW = [t for t in DTYPES if t.startswith(("float8", "bfloat"))] + ["float16"]
FP8 = [t for t in NARROW if t.startswith("float8")]
FLOATS = NARROW + ["float32", "float64"]
INTS = [t for t in DTYPES if "int" in t]

failures = 0
checks = 0


def run(result, *args, data=()):
    """Bytes of the arrays in `data` in, an array of dtype `result` out."""
    command = [PROBE] + [str(a) for a in args]
    done = subprocess.run(command, input=b"".join(d.tobytes() for d in data),
                          stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}")
    return np.frombuffer(done.stdout, result)


def lines(command):
    out = subprocess.run([PROBE, command], stdout=subprocess.PIPE, check=True)
    return out.stdout.decode().splitlines()


def isas():
    return lines("isas")


def bits(a):
    return a.view(f"u{a.dtype.itemsize}")


def same(a, b):
    """Bit equality, all NaN counting as one."""
    if a.dtype.kind in "iub":
        return a == b
    return (bits(a) == bits(b)) | (np.isnan(a) & np.isnan(b))


def check(what, ok, show=None):
    """ok: a bool or an array of them; show(i) tells about element i."""
    global failures, checks
    checks += 1
    bad = np.flatnonzero(~np.atleast_1d(ok))
    if len(bad):
        failures += 1
        tell = f"; first: {show(bad[0])}" if show else ""
        print(f"FAIL {what}: {len(bad)} of {np.size(ok)}{tell}", flush=True)


def compare(what, got, want, source=None):
    def show(i):
        of = "" if source is None else f" of {source[i]!r}"
        return f"[{i}]{of}: {got[i]!r} {bits(got)[i]:#x}, " \
               f"expected {want[i]!r} {bits(want)[i]:#x}"
    check(what, same(got, want), show)


def finish():
    print(f"{checks} checks, {failures} failed")
    sys.exit(failures != 0)
