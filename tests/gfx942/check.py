"""check.py - kernels of gfx942 against NumPy, and faults sown into them.

Usage: check.py TILESIM PROBE TOP WORK; prints TAP. The code object of
tests/data/gfx942 is run, and where clang-19 is, others built from kernels.cpp
at several levels; llvm-objdump-19 says what their instructions are.
"""
import json
import os
import shutil
import subprocess
import sys

import ml_dtypes
import numpy as np

import listing

tilesim, probe, top, work = sys.argv[1:5]
os.chdir(work)
rng = np.random.default_rng(20)
tests = 0


def report(name, ok, why=""):
    global tests
    tests += 1
    for line in [] if ok else str(why).splitlines()[:30]:
        print("#", line)
    print(f"{'ok' if ok else 'not ok'} {tests} - {name}", flush=True)


def execute(code, kernel, grid, block, *args, options=()):
    words = []
    for i, a in enumerate(args):
        if isinstance(a, np.ndarray):
            np.save(f"in{i}.npy", a)
            a = f"in{i}.npy"
        words.append(str(a))
    done = subprocess.run(
        [tilesim, "exec-isa", code, "--kernel", kernel, "--grid", grid,
         "--block", str(block), "--json", *options, "--args", *words],
        capture_output=True, text=True)
    try:
        return done, json.loads(done.stdout)
    except ValueError:
        return done, {"exit": done.returncode, "findings": [], "counters": {}}


def same(got, want):
    """Bit for bit, but for what kind of NaN."""
    nan = np.isnan(want) if want.dtype.kind == "f" else np.zeros(want.shape, bool)
    return (got.shape == want.shape and bool(np.all(
        (got.view(np.uint8).reshape(-1, got.itemsize)
         == want.view(np.uint8).reshape(-1, got.itemsize)).all(1)
        | (nan & (got != got)).ravel())))


def near(limit):
    return lambda got, want: (np.linalg.norm(got - want)
                              <= limit * np.linalg.norm(want))


# ---- what each kernel computes -----------------------------------------------

def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def bits(n, kind):
    return np.frombuffer(rng.bytes(n * np.dtype(kind).itemsize), kind).copy()


def collatz(x):
    n = 0
    while x != 1:
        x = 3 * x + 1 if x & 1 else x // 2
        n += 1
    return n


def row_sum(row):
    lane = np.arange(64)
    for other in (lane ^ 1, lane ^ 2, (lane & ~7) | (7 - (lane & 7)),
                  (lane & ~15) | (15 - (lane & 15)), lane ^ 16, lane ^ 32):
        row = row + row[other]
    return row[0]


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def cases():
    """name, grid, block, arguments, {file: (value, comparison)}"""
    a, b = floats(1000), floats(1000)
    yield "vector_add", "4", 256, [a, b, "f32[1000]:c.npy", 1000], {
        "c.npy": (a + b, same)}
    x = rng.integers(1, 10000, 200).astype(np.int32)
    yield "collatz", "4", 64, [x, "i32[200]:c.npy", 200], {
        "c.npy": (np.array([collatz(int(v)) for v in x], np.int32), same)}
    a, b = bits(4096, "<f4"), bits(4096, "<f4")
    x, y = bits(4096, "<i4"), bits(4096, "<i4") >> 12
    x[x == -2**31] = y[y == 0] = 7
    with np.errstate(all="ignore"):
        quotient = a / b
    whole = np.trunc(x.astype(np.float64) / y).astype(np.int32)
    yield "divide", "64", 64, [a, b, "f32[4096]:q.npy", x, y,
                               "i32[4096]:w.npy", "i32[4096]:r.npy"], {
        "q.npy": (quotient, same), "w.npy": (whole, same),
        "r.npy": (x - whole * y, same)}
    a, b = rng.standard_normal(256), rng.standard_normal(256)
    x, y = bits(256, "<i8"), bits(256, "<i8")
    with np.errstate(all="ignore"):
        product = x * y + (x >> 7) - (y << 3)
    yield "wide", "4", 64, [a, b, "f64[256]:o.npy", x, y, "i64[256]:p.npy"], {
        "o.npy": (a * b + 1 / b, same), "p.npy": (product, same)}
    a, b = floats(2048).astype(np.float16), floats(2048).astype(np.float16)
    yield "halves", "4", 64, [a, b, "f16[2048]:o.npy"], {
        "o.npy": (a * b + a, same)}
    a, b = bits(256, "i1"), bits(256, "u1")
    yield "bytes", "4", 64, [a, b, "i16[256]:s.npy", "u8[256]:l.npy"], {
        "s.npy": (a.astype(np.int16) + b, same),
        "l.npy": (a.view(np.uint8) * b, same)}
    x = floats(5, 64)
    yield "row_sum", "5", 64, [x, "f32[5]:o.npy"], {
        "o.npy": (np.array([row_sum(row) for row in x]), same)}
    x = floats(3, 256)
    yield "softmax", "3", 256, [x, "f32[3,256]:o.npy"], {
        "o.npy": (softmax(x), near(1e-6))}
    x = floats(128, 128)
    for name in "transpose", "transpose_padded":
        yield name, "4,4", 256, [x, "f32[128,128]:o.npy", 128], {
            "o.npy": (x.T.copy(), same)}
    x = floats(768)
    yield "block_max", "3", 256, [x, "f32[3]:o.npy"], {
        "o.npy": (x.reshape(3, 256).max(1), same)}
    x = bits(5000, "u1")
    yield "histogram", "4", 256, [x, "u32[256]:o.npy", 5000], {
        "o.npy": (np.bincount(x, minlength=256).astype(np.uint32), same)}
    # Small integers: every sum is exact, in any order.
    a = rng.integers(-8, 9, (64, 128)).astype(np.float16)
    b = rng.integers(-8, 9, (64, 128)).astype(np.float16)
    want = a.astype(np.float32) @ b.astype(np.float32).T
    for name, grid, block in (("gemm_16x16x16_f16", "4,4", 64),
                              ("gemm_32x32x8_f16", "1,1", 256)):
        yield name, grid, block, [a, b, "f32[64,64]:o.npy", 64, 128], {
            "o.npy": (want, same)}
    fnuz = ml_dtypes.float8_e4m3fnuz
    a = rng.integers(-8, 9, (32, 64)).astype(fnuz)
    b = rng.integers(-8, 9, (32, 64)).astype(fnuz)
    yield "gemm_16x16x32_fp8", "2,2", 64, [
        a.view(np.uint8), b.view(np.uint8), "f32[32,32]:o.npy", 32, 64], {
        "o.npy": (a.astype(np.float32) @ b.astype(np.float32).T, same)}


def run_kernels(code, label, wanted=None):
    counters = {}
    for name, grid, block, args, outputs in cases():
        if wanted and name not in wanted:
            continue
        done, doc = execute(code, name, grid, block, *args)
        bad = [f for f, (want, match) in outputs.items()
               if done.returncode or not match(np.load(f), want)]
        report(f"{label}: {name}", not bad,
               f"{bad} exit {done.returncode}\n{done.stdout}{done.stderr}")
        counters[name] = doc["counters"]
    return counters


# ---- counters ------------------------------------------------------------------

def check_counters(counters):
    """By hand, with the 32 banks of gfx942."""
    got = counters["transpose"]
    # 16 blocks, 4 waves, 4 writes without conflict and 4 reads: each half of a
    # wave reads 32 words of one bank, 31 cycles too many, twice.
    report("counters: conflicts of a transpose",
           got["SQ_LDS_BANK_CONFLICT"] == 16 * 4 * 4 * 2 * 31, got)
    got = counters["transpose_padded"]
    report("counters: a padded transpose has none",
           got["SQ_LDS_BANK_CONFLICT"] == 0, got)
    report("counters: cycles of it", got["SQ_LDS_IDX_ACTIVE"]
           == 16 * 4 * 8 * 2, got)
    got = counters["vector_add"]
    # 1000 floats from aligned buffers: 63 pieces of 64 bytes, three times.
    report("counters: pieces of memory of an addition",
           (got["load_sectors"], got["store_sectors"]) == (126, 63), got)
    report("counters: matrix instructions",
           counters["gemm_32x32x8_f16"]["SQ_INSTS_MFMA"] == 4 * 4 * 4, "")


# ---- sown faults ---------------------------------------------------------------

NOP = (0xBF800000).to_bytes(4, "little")


def places(code, kernel, mnemonic):
    """File offsets of an instruction; code lies in the file as in memory."""
    lines = subprocess.run(
        [tilesim, "exec-isa", code, "--kernel", kernel, "--disassemble"],
        text=True, capture_output=True, check=True).stdout.splitlines()
    data = open(code, "rb").read()
    words = [bytes.fromhex(line.split()[1])[::-1] for line in lines]
    first = data.find(b"".join(words[:1]))
    offsets = [int(line.split()[0], 16) for line in lines]
    while first >= 0:
        if all(data[first + o:first + o + 4] == w
               for o, w in zip(offsets, words)):
            break
        first = data.find(words[0], first + 1)
    return [first + o for o, line in zip(offsets, lines)
            if mnemonic in (None, line.split()[2])]


def sow(code, kernel, mnemonic, expected):
    """Drops one instruction after another; each must be noticed."""
    found = {name: rest for name, *rest in cases()}
    grid, block, args, _ = found[kernel]
    data = open(code, "rb").read()
    where = places(code, kernel, mnemonic)
    missed, ids = [], set()
    for at in where:
        with open("sown.hsaco", "wb") as f:
            f.write(data[:at] + NOP + data[at + 4:])
        done, doc = execute("sown.hsaco", kernel, grid, block, *args)
        ids |= {f["id"] for f in doc["findings"]}
        if done.returncode != 1:
            missed.append(hex(at))
    report(f"faults: each {mnemonic} dropped from {kernel} is noticed",
           where and not missed and ids & expected,
           f"{len(where)} places, missed {missed}, {ids}")


def sow_faults(code):
    late, race = {"isa-not-waited"}, {"isa-lds-race", "isa-lds-in-flight"}
    for kernel in "vector_add", "row_sum", "gemm_16x16x16_f16":
        sow(code, kernel, "s_waitcnt", late)
    for kernel in "transpose", "softmax", "histogram", "gemm_32x32x8_f16":
        sow(code, kernel, "s_waitcnt", late | race)
    for kernel in "transpose", "softmax", "histogram", "gemm_32x32x8_f16":
        sow(code, kernel, "s_barrier", race)


# ---- wrong arguments -----------------------------------------------------------

def check_usage(code):
    a = floats(1000)
    for name, options, args, want, words in (
            ("a missing argument", ["--kernel", "vector_add"], ["a.npy"], 2,
             "has 4 arguments and 1 was given"),
            ("no such kernel", ["--kernel", "nothing"], ["1"], 2, "one of:"),
            ("a number where memory is wanted", ["--kernel", "vector_add"],
             ["a.npy", "f32[4]", "x", "1"], 2, "is neither a number"),
            ("memory where a number is wanted", ["--kernel", "vector_add"],
             ["f32[4]"] * 4, 2, "wants a number"),
            ("no such file", ["--kernel", "vector_add"],
             ["none.npy", "f32[4]", "f32[4]", "1"], 6, "cannot read"),
            ("a bad size", ["--kernel", "vector_add"],
             ["f32[0]", "f32[4]", "f32[4]", "1"], 2, "positive sizes"),
            ("a bad grid", ["--kernel", "vector_add", "--grid", "1,x"],
             ["f32[4]", "f32[4]", "f32[4]", "1"], 2, "expected X"),
            ("too many threads", ["--kernel", "vector_add", "--block", "512"],
             ["f32[4]", "f32[4]", "f32[4]", "1"], 2, "fewer threads"),
            ("reads beyond a buffer", ["--kernel", "vector_add", "--block",
                                       "64"],
             ["f32[4]", "f32[4]", "f32[64]", "64"], 1, "isa-out-of-bounds")):
        np.save("a.npy", a)
        done = subprocess.run([tilesim, "exec-isa", code, *options, "--args",
                               *args], capture_output=True, text=True)
        report(f"usage: {name}", done.returncode == want
               and words in done.stderr, done.stderr)
    done, _ = execute(code, "vector_add", "0", 256, "f32[4]", "f32[4]",
                      "f32[4]", 4)
    report("usage: a grid of nothing", done.returncode == 0, done.stderr)


# ---- damaged files and programs without end --------------------------------------

def patched(code, kernel, index, word):
    """The kernel's instruction number `index` replaced by a word."""
    at = places(code, kernel, None)[index]
    data = open(code, "rb").read()
    with open("patched.hsaco", "wb") as f:
        f.write(data[:at] + word.to_bytes(4, "little") + data[at + 4:])
    return "patched.hsaco"


def check_damage(code):
    args = ["--grid", "1", "--block", "64", "--args", "f32[64]", "f32[64]",
            "f32[64]", "64"]
    for name, word, want, words, options in (
            ("an unknown instruction", 0x7e00da00, 4,
             "word 7e00da00; the nearest known is", []),
            ("one that is not executed", 0xd3ea0000, 4, "v_smfmac_i32", []),
            ("a jump to nowhere", 0xbf827fff, 1, "isa-bad-jump", []),
            ("a loop without end", 0xbf82ffff, 4, "", ["--timeout", "1"])):
        done = subprocess.run(
            [tilesim, "exec-isa", patched(code, "vector_add", 1, word),
             "--kernel", "vector_add", *options, *args],
            capture_output=True, text=True)
        report(f"damage: {name}", done.returncode == want
               and words in done.stderr, f"{done.returncode} {done.stderr}")
    data = open(code, "rb").read()
    bad = []
    for n in range(60):
        broken = bytearray(data)
        for _ in range(1 + n % 8):
            at = rng.integers(0, len(data) if n % 2 else 4096)
            broken[at] = rng.integers(0, 256)
        if n % 10 == 0:
            broken = broken[:rng.integers(0, len(data))]
        with open("broken.hsaco", "wb") as f:
            f.write(broken)
        done = subprocess.run(
            [tilesim, "exec-isa", "broken.hsaco", "--kernel", "vector_add",
             "--timeout", "5", *args], capture_output=True, text=True)
        if done.returncode not in (0, 1, 2, 4, 6):
            bad.append(f"{n}: exit {done.returncode} {done.stderr[:200]}")
    report("damage: 60 broken files end well", not bad, "\n".join(bad))


# ---- against the compiler's tools ------------------------------------------------

def compare_listing(code, label):
    count, bad = listing.differences(probe, code)
    report(f"{label}: {count} instructions print as llvm-objdump does",
           count and not bad, "\n".join(bad))


def check_builds():
    source = f"{top}/tests/gfx942/kernels.cpp"
    for level in "-O3", "-O0", "-O1", "-Os":
        code = f"built{level}.hsaco"
        done = subprocess.run(["sh", f"{top}/tests/gfx942/build.sh", source,
                               code, level], capture_output=True, text=True)
        report(f"clang-19 {level} builds", done.returncode == 0, done.stderr)
        compare_listing(code, f"clang-19 {level}")
        run_kernels(code, f"clang-19 {level}")


stored = f"{top}/tests/data/gfx942/kernels.hsaco"
check_counters(run_kernels(stored, "stored"))
sow_faults(stored)
check_usage(stored)
check_damage(stored)
if shutil.which("clang-19") and shutil.which("llvm-objdump-19"):
    check_builds()
else:
    report("built kernels # SKIP no clang-19 and llvm-objdump-19", True)
print(f"1..{tests}")
