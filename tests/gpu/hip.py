"""Runs the programs of configs.json, with their mi300x settings at the given
sizes, by the gfx942 executor, and holds its counters to the plan's; then puts
faults into generated code, each of which has to be found. Prints TAP."""
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np

from launches import launches, words

tilesim, folder, work, sizes = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
count = 0

# Conflicts are fewer than planned where the compiler joins what is planned one
# by one: neighbours that a lane stores or loads as 16 bits.
JOINED = {"mha_fwd_bhsd", "mha_fwd_pipelined", "mla_decode_hopper", "mha_bwd",
          "flash_decoding", "mla_decode_paged", "linear_attention"}


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

def why_wrong(name, r):
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
    if conflicts > planned or (name not in JOINED and conflicts != planned):
        return f"{conflicts} conflicts, {planned} planned"
    return ""


def run_programs():
    for name, p, d in launches(folder, sizes, settings):
        r = gpu(words(folder, p, d), "--verify", "--json")
        why = why_wrong(name, r)
        report(not why, f"{name} " + " ".join(f"{k}={v}" for k, v in d.items()),
               why)


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


# ---- faults ------------------------------------------------------------------

M, N, K = 64, 64, 640
GEMM = ["--kernel", "gemm", "-D", f"M={M}", "-D", f"N={N}", "-D", f"K={K}",
        "-D", "block_M=64", "-D", "block_N=64", "-D", "block_K=32", "-D",
        "num_stages=1", "-D", "threads=256", f"{folder}/gemm.tile"]
FLAGS = ["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output",
         "-nogpulib", "-nogpuinc", "-O3", "--offload-arch=gfx942",
         "-std=c++17", "-ffp-contract=off", "-w", "-fno-math-errno"]


def execute(code):
    return subprocess.run([tilesim, "exec-isa", code, "--block", "256",
                           "--args", f"{work}/a.npy", f"{work}/b.npy",
                           f"f16[{M},{N}]:{work}/c.npy"], text=True,
                          capture_output=True)


def is_right():
    a, b = np.load(f"{work}/a.npy"), np.load(f"{work}/b.npy")
    exact = np.maximum(a.astype(float) @ b.astype(float), 0)
    return np.allclose(np.load(f"{work}/c.npy").astype(float), exact,
                       rtol=1e-2, atol=1e-2)


def places(word, mask):
    """Offsets in the code object's kernel of instructions like this one."""
    r = gpu(GEMM, "--emit", "isa")
    for line in r.stdout.splitlines():
        m = re.match(r" *([0-9a-f]+)  ([0-9a-f]{8})  (.*)", line)
        if m and int(m[2], 16) & mask == word:
            yield int(m[1], 16), m[3]


def code_start(image, first):
    """Where the kernel's first instructions lie in the file."""
    return image.index(b"".join(struct.pack("<I", w) for w in first))


def first_words(n):
    r = gpu(GEMM, "--emit", "isa")
    found = re.findall(r"^ *[0-9a-f]+  ([0-9a-f]{8})  ", r.stdout, re.M)
    return [int(w, 16) for w in found[:n]]


def drop_each(name, word, mask, finding):
    NOP = struct.pack("<I", 0xbf800000)
    image = open(f"{work}/gemm.hsaco", "rb").read()
    start = code_start(image, first_words(1))
    missed, all_of_them = [], list(places(word, mask))
    for at, text in all_of_them:
        bad = bytearray(image)
        bad[start + at:start + at + 4] = NOP
        with open(f"{work}/bad.hsaco", "wb") as f:
            f.write(bad)
        r = execute(f"{work}/bad.hsaco")
        if r.returncode != 1 or not re.search(finding, r.stderr):
            missed.append(f"+0x{at:x} {text}: exit {r.returncode}")
    report(all_of_them and not missed,
           f"each of the {name} dropped is noticed", "\n".join(missed))


def build(text):
    with open(f"{work}/bad.hip", "w") as f:
        f.write(text)
    subprocess.run([os.environ["TILESIM_CLANG"], *FLAGS, "-o",
                    f"{work}/bad.hsaco", f"{work}/bad.hip"], check=True)
    return execute(f"{work}/bad.hsaco")


def faults():
    rng = np.random.default_rng(7)
    for name, shape in (("a", (M, K)), ("b", (K, N))):
        np.save(f"{work}/{name}.npy", rng.uniform(-1, 1, shape)
                .astype(np.float16))
    gpu(GEMM, "--emit", "isa", "-o", f"{work}/gemm.hsaco")
    r = execute(f"{work}/gemm.hsaco")
    report(r.returncode == 0 and is_right(), "gemm's code object alone is right",
           r.stdout + r.stderr)
    drop_each("s_waitcnt", 0xbf8c0000, 0xffff0000, "isa-not-waited|in-flight")
    drop_each("s_barrier", 0xbf8a0000, 0xffff0000, "isa-lds-race")
    text = gpu(GEMM, "--emit", "hip").stdout
    r = build(text)
    report(r.returncode == 0 and is_right(), "its source, built here, is right",
           r.stdout + r.stderr)
    for what, old, new in (
            ("lanes have each other's k", "lane / 16 * 8", "(3 - lane / 16) * 8"),
            ("rows of A in another order", "lane % 16", "(lane ^ 1) % 16"),
            ("halves exchanged", "0x05040100u", "0x07060302u"),
            ("waves at each other's columns", "n0 = warp / 2", "n0 = warp % 2")):
        if old not in text:
            report(False, what, f"the source has no {old}")
            continue
        r = build(text.replace(old, new, 1))
        report(r.returncode != 0 or not is_right(), f"wrong map: {what}", r.stderr)


run_programs()
run_functions()
run_float8()
refusals()
faults()
print(f"1..{count}")
