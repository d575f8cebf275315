"""Runs the programs of configs.json, with their mi300x settings at the given
sizes, by the gfx942 executor, and holds its counters to the plan's. Prints
TAP."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

from launches import launches, words

tilesim, folder, sizes = sys.argv[1], sys.argv[2], sys.argv[3:]
count = 0


def report(good, what, why=""):
    global count
    count += 1
    print("ok" if good else "not ok", count, "-", what, flush=True)
    for line in str(why).splitlines()[-12:] if not good else []:
        print("#", line)


def gpu(arguments, *more):
    return subprocess.run([tilesim, "gpu", "-q", "--target", "mi300x", *more]
                          + arguments, text=True, capture_output=True)


def settings(p, size):
    return ["" if size == "small" else p["targets"]["mi300x"]]


# ---- programs ----------------------------------------------------------------

def why_wrong(r):
    """What is not as planned, or nothing."""
    if r.returncode:
        return r.stdout + r.stderr
    d = json.loads(r.stdout)["launches"][0]
    for k in d["build"]["kernels"]:
        c = k["code_object"]
        if c["vgpr_spills"] or c["lds_bytes"] != k["shared_bytes"]:
            return f"code object: {c}"
    e = d["executed"]
    conflicts = e["counters"]["SQ_LDS_BANK_CONFLICT"]
    planned = e["planned"]["conflicts"]
    if e["interleavings"] < 3:
        return "fewer than three interleavings"
    if conflicts != planned:
        return f"{conflicts} conflicts, {planned} planned"
    return ""


def run_programs():
    for name, p, d in launches(folder, sizes, settings):
        r = gpu(words(folder, p, d), "--verify", "--json")
        why = why_wrong(r)
        report(not why, f"{name} " + " ".join(f"{k}={v}" for k, v in d.items()),
               why)


def run_tiny():
    """Tensors of a few elements, tiles of many: the compiler leaves out what
    lies in no tensor, and reads less for it, by other banks."""
    for m, n, k in (1, 1, 1), (33, 1, 7), (2, 2, 33), (1, 3, 17), (17, 33, 2):
        r = gpu(["--kernel", "gemm", "-D", f"M={m}", "-D", f"N={n}", "-D",
                 f"K={k}", f"{folder}/gemm.tile"], "--verify")
        report(r.returncode == 0, f"gemm M={m} N={n} K={k}, tiles of 128",
               r.stdout + r.stderr)


def run_registers():
    """Tiles that fill a thread's registers, or nearly: nothing is spilled, and
    nothing lies in scratch memory."""
    here = os.path.dirname(__file__)
    for what, most, path, words in (
            ("a sum of 256 registers", 512, f"{here}/hip_registers.tile", ""),
            ("products by half a wave", 256, f"{here}/hip_registers.tile",
             "block_M=64 block_N=64 block_K=64 K=200 threads=32"),
            ("e4m3fn put right", 512, f"{folder}/gemm.tile",
             "M=130 N=200 K=96 block_M=128 block_N=128 block_K=64 num_stages=1 "
             "threads=128 dtype=float8_e4m3fn"),
            ("attention of 128 x 128", 512, f"{folder}/mha_fwd_bhsd.tile",
             "batch=1 heads=1 seq_q=140 seq_kv=150 dim=64 block_M=128 "
             "block_N=128 num_stages=0 threads=128")):
        r = gpu([w for d in words.split() for w in ("-D", d)] + [path],
                "--json")
        why = r.stdout + r.stderr
        if r.returncode == 0:
            k = json.loads(r.stdout)["launches"][0]["build"]["kernels"][0]
            c = k["code_object"]
            why = "" if c["vgprs"] <= most and not c["scratch_bytes"] else c
        report(not why, f"{what}: in at most {most} registers", why)


# ---- attention ---------------------------------------------------------------

# By the model of a compute unit; 0.6 is what is asked for.
LEAST_UTILISATION = 0.6
ATTENTION = [
    ("mha_fwd_bhsd", ["block_M=128", "block_N=32", "threads=256"]),
    ("mha_fwd_bhsd", ["block_M=64", "block_N=64", "threads=128"]),
    ("fa", ["block_M=64", "block_N=64", "threads=128"]),
    ("fa", ["block_M=128", "block_N=32", "threads=256"]),
]
LENGTHS = {"mha_fwd_bhsd": ["heads=1", "seq_q=256", "seq_kv=2048"],
           "fa": ["heads=1", "seq_len=2048", "num_split_q=32"]}


def is_busy(arguments, what):
    r = gpu(arguments, "--json", "--interleave", "1")
    why, c = r.stdout[-2000:] + r.stderr, {}
    if r.returncode == 0:
        d = json.loads(r.stdout)["launches"][0]
        c = d["executed"]["cycles"]
        code = d["build"]["kernels"][0]["code_object"]
        why = f"{c} {code}"
    report(c and c["matrix_utilisation"] >= LEAST_UTILISATION and
           c["basis"] == "estimate" and not code["vgpr_spills"],
           f"{what}: matrix units are busy, nothing is spilled", why)


def run_attention():
    """Products without pause, and V read by vectors that registers transpose:
    no 16-bit read of shared memory."""
    for name, block in ATTENTION:
        words = ["num_stages=1", "is_causal=False", *block, *LENGTHS[name]]
        arguments = [w for d in words for w in ("-D", d)]
        arguments.append(f"{folder}/{name}.tile")
        is_busy(arguments, f"{name} {' '.join(block)}")
        isa = gpu(arguments, "--emit", "isa").stdout
        report("ds_read" in isa and "ds_read_u16" not in isa and
               "ds_read_u8" not in isa and "ds_read_i16" not in isa,
               f"{name} {' '.join(block)}: no 16-bit read of V", isa[-400:])


# ---- functions ---------------------------------------------------------------

def run_functions():
    """Within 2 units in the last place of `run`, which NumPy checks."""
    path = os.path.join(os.path.dirname(__file__), "hip_math.tile")
    for dtype in "float32", "float64":
        r = gpu(["--kernel", "functions", "-D", "N=640", "-D",
                 f"dtype={dtype}", path], "--no-ref", "--json")
        good = r.returncode == 0
        if good:
            d = json.loads(r.stdout)["launches"][0]["outputs"][0]["run"]
            good = d["ok"] and d["worst_ulps"] <= 2 and d["rel"] < 1e-7
        report(good, f"sin to pow of {dtype}", r.stdout + r.stderr)


def run_float8():
    """From what is rounded to 0 to what saturates: the bits of `run`."""
    path = os.path.join(os.path.dirname(__file__), "hip_float8.tile")
    for dtype in "float8_e4m3fnuz", "float8_e5m2fnuz":
        good, why = True, ""
        for scale in 1e-5, 3e-3, 1.0, 4e2, 1e5:
            r = gpu(["--kernel", "casts", "-D", "N=640", "-D", f"scale={scale}",
                     "-D", f"dtype={dtype}", path], "--no-ref", "--json")
            good = good and r.returncode == 0
            for o in json.loads(r.stdout)["launches"][0]["outputs"] if good else []:
                good = good and o["run"]["bits_equal"] == o["run"]["compared"]
            why += "" if good else f"{scale}: {r.stdout}{r.stderr}"
        report(good, f"conversions to {dtype} and back, every bit", why)


def save_e4m3(path, name, x):
    """NumPy's files know no such type."""
    head = json.dumps({name: {"dtype": "F8_E4M3", "shape": x.shape,
                              "data_offsets": [0, x.size]}}).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + x.tobytes())


def run_e4m3():
    """All 256 codes of e4m3fn, -0 and NaN among them, times small numbers,
    against NumPy: MFMA of e4m3fnuz has twice the bias and other NaNs."""
    codes = np.arange(64 * 64, dtype=np.uint8).reshape(64, 64)
    codes[8:] &= 0xdf               # of small exponents, and no NaN
    codes[9:, 7] = 0x80
    other = np.random.default_rng(5).integers(-8, 9, (64, 64))
    a = codes.view(ml_dtypes.float8_e4m3fn)
    b = other.astype(ml_dtypes.float8_e4m3fn)
    with tempfile.TemporaryDirectory() as folder:
        save_e4m3(f"{folder}/a.safetensors", "A", a)
        save_e4m3(f"{folder}/b.safetensors", "B", b)
        path = os.path.join(os.path.dirname(__file__), "hip_e4m3.tile")
        r = gpu([path], "--no-ref", "--json",
                "--in", f"A={folder}/a.safetensors",
                "--in", f"B={folder}/b.safetensors",
                "--out", f"C={folder}/c.npy")
        why = r.stdout + r.stderr
        if r.returncode == 0:
            got = np.load(f"{folder}/c.npy")
            want = 2 * (a.astype(np.float64) @ b.astype(np.float64).T)
            k = json.loads(r.stdout)["launches"][0]["build"]["kernels"][0]
            good = (np.isnan(got) == np.isnan(want)).all() and np.allclose(
                got, want, rtol=1e-5, atol=1e-3, equal_nan=True)
            why = "" if good and k["code_object"]["instructions"]["mfma"] else \
                f"{k} {np.nanmax(abs(got - want))}"
    report(not why, "e4m3fn by MFMA of e4m3fnuz: every code", why)


def run_loop():
    """clang 19 drops the wait of the fence with which this loop begins."""
    path = os.path.join(os.path.dirname(__file__), "hip_loop.tile")
    r = gpu([path], "--verify")
    report(r.returncode == 0, "what a loop's end stores is there at its "
           "beginning", r.stdout + r.stderr)


def run_masked():
    """Of a product under a mask the compiler keeps what is wanted alone; that
    is as planned."""
    path = os.path.join(os.path.dirname(__file__), "masked.tile")
    for mask in (True, False):
        r = gpu(["-D", f"mask={mask}", path], "--verify")
        why = r.stdout + r.stderr
        found = re.search(r"(\d+) MFMA of (\d+) planned", why)
        if r.returncode == 0 and found:
            left, planned = map(int, found.groups())
            why = "" if (left < planned if mask else left == planned) else why
        report(not why, "a product with a mask" if mask else "... and without",
               why)


# ---- what does not work ------------------------------------------------------

def refusals():
    gemm = ["--kernel", "gemm", "-D", "M=64", "-D", "N=64", "-D", "K=64",
            f"{folder}/gemm.tile"]
    big = ["-D", "block_M=256", "-D", "block_N=256", "-D", "block_K=128"]
    os.environ["TILESIM_CLANG"], kept = "/none/clang", os.environ["TILESIM_CLANG"]
    r = gpu(gemm)
    os.environ["TILESIM_CLANG"] = kept
    report(r.returncode == 6 and "looked for /none/clang" in r.stderr,
           "no clang: exit 6, and what was looked for", r.stderr)
    for code, what, more in ((5, "65536", big), (77, "no time", ["--bench"]),
                             (4, "MI355X", ["--target", "mi355x"])):
        r = gpu(gemm, *more)
        report(r.returncode == code and what in r.stderr,
               f"{' '.join(more)}: exit {code}", r.stderr)


run_programs()
run_tiny()
run_registers()
run_attention()
run_functions()
run_float8()
run_e4m3()
run_loop()
run_masked()
refusals()
print(f"1..{count}")
