"""T.gemm under --numerics against what an H200 computed (tests/data/hardware)
and against the model in fractions, matrix_model.py.

Usage: gemm_bits.py TILESIM TOP WORK COUNT; prints TAP that goes on behind
COUNT results and ends with the plan.
"""
import gzip
import json
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

import matrix_model as model

TILESIM, TOP, WORK = sys.argv[1:4]
BEFORE = int(sys.argv[4])
PROGRAM = f"{TOP}/tests/num/gemm_bits.tile"
GOLD = f"{TOP}/tests/data/hardware/h200_matrix_cores.gold.gz"

# number in captures: dtype in TileLang, in .safetensors, bytes
TYPES = {
    0: ("float16", "F16", 2), 1: ("bfloat16", "BF16", 2),
    2: ("tfloat32", "F32", 4), 3: ("float8_e4m3fn", "F8_E4M3", 1),
    4: ("float8_e5m2", "F8_E5M2", 1), 5: ("float32", "F32", 4),
    6: ("float8_e4m3fnuz", "F8_E4M3FNUZ", 1),
    7: ("float8_e5m2fnuz", "F8_E5M2FNUZ", 1), 20: ("int8", "I8", 1),
    21: ("uint8", "U8", 1), 22: ("float64", "F64", 8), 23: ("int32", "I32", 4),
}
NUMBER = {name: row[0] for name, row in model.FORMATS.items()}
results = []


def report(name, problem):
    results.append(not problem)
    for line in problem or []:
        print("#", line)
    print("not ok" if problem else "ok", BEFORE + len(results), "-", name)


# ---- tensors and runs

def save(path, tensors):
    """tensors: name, type, shape, bytes"""
    header, at = {}, 0
    for name, kind, shape, data in tensors:
        header[name] = {"dtype": TYPES[kind][1], "shape": shape,
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for *_, data in tensors:
            f.write(data)


def load(path):
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        f.seek(8 + size)
        return f.read()


def run(numerics, kernel, tensors, **defines):
    """D's bytes; raises what tilesim said where it failed."""
    save(f"{WORK}/in.safetensors", tensors)
    words = [TILESIM, "run", PROGRAM, "--kernel", kernel, "--no-ref", "-q",
             "--numerics", numerics, "--in", f"{WORK}/in.safetensors",
             "--out", f"D={WORK}/out.safetensors"]
    for name, value in defines.items():
        words += ["-D", f"{name}={value}"]
    p = subprocess.run(words, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f"exit {p.returncode}: {p.stderr}")
    return load(f"{WORK}/out.safetensors")


def codes(data, size):
    return [int.from_bytes(data[i:i + size], "little")
            for i in range(0, len(data), size)]


def packed(values, size):
    return b"".join(v.to_bytes(size, "little") for v in values)


def turned(data, tiles, rows, cols, size):
    """Each of the row-major matrices transposed."""
    out = []
    for t in range(tiles):
        at = t * rows * cols * size
        for c in range(cols):
            for r in range(rows):
                i = at + (r * cols + c) * size
                out.append(data[i:i + size])
    return b"".join(out)


def differences(want, got, size, columns):
    """Of two arrays of codes, as lines to print; None in want: anything."""
    if len(want) != len(got):
        return [f"{len(got)} elements, {len(want)} expected"]
    bad = [i for i in range(len(want))
           if want[i] is not None and want[i] != got[i]]
    lines = [f"element {i // columns}, {i % columns}: {got[i]:0{2 * size}x}, "
             f"expected {want[i]:0{2 * size}x}" for i in bad[:3]]
    return lines and [f"{len(bad)} of {len(want)} differ"] + lines


# ---- what the H200 computed

class Record:
    def __init__(self, data, at):
        name, *head = struct.unpack_from("<64s12i", data, at)
        self.name = name.rstrip(b"\0").decode()
        self.M, self.N, self.K = head[:3]
        self.tiles, self.types = head[7], head[8:]
        at += 112
        self.parts = []
        for size in head[3:7]:
            self.parts.append(data[at:at + size * self.tiles])
            at += size * self.tiles
        self.end = at

    def size(self, part):
        return TYPES[self.types[part]][2]


def records():
    with gzip.open(GOLD) as f:
        data = f.read()
    at = 0
    while at < len(data):
        r = Record(data, at)
        at = r.end
        yield r


# T.gemm has no word for these: a sign, a clamp, operands of two types, an
# instruction that it does not choose.
def is_gemm(r):
    shapes = ("k8.f32.f16", "k8.f16.f16", "k8.f32.bf16", "k4.f32", "m8n8k4")
    words = ("negA", "satfinite") + shapes
    return not any(w in r.name for w in words) and r.types[0] == r.types[1]


def gemm(r, a, b, K, **defines):
    c = r.parts[2]
    tensors = [("A", r.types[0], a[0], a[1]), ("B", r.types[1], b[0], b[1]),
               ("C", r.types[2], [r.tiles, r.M, r.N], c)]
    got = run("h100", "gemm", tensors, tiles=r.tiles, M=r.M, N=r.N, K=K,
              dtype=TYPES[r.types[0]][0], acc=TYPES[r.types[2]][0],
              threads=128 if r.name.startswith("wgmma") else 32, **defines)
    size = r.size(3)
    return differences(codes(r.parts[3], size), codes(got, size), size, r.N)


def times(r):
    return 4 if "x4" in r.name else 1


def captured(r):
    A, B = r.parts[:2]
    b = [r.tiles, r.N, r.K], B
    return gemm(r, ([r.tiles, r.M, r.K], A), b, r.K, repeat=times(r),
                in_fragment="A in regs" in r.name)


def captured_turned(r):
    """A stored K x M and B stored K x N."""
    A, B = r.parts[:2]
    a = [r.tiles, r.K, r.M], turned(A, r.tiles, r.M, r.K, r.size(0))
    b = [r.tiles, r.K, r.N], turned(B, r.tiles, r.N, r.K, r.size(1))
    return gemm(r, a, b, r.K, trans_a=True, trans_b=False, repeat=times(r))


def repeated(data, row, count):
    return b"".join(data[i:i + row] * count
                    for i in range(0, len(data), row))


def captured_chain(r):
    """The four instructions of an "x4" record as one T.gemm of 4 K."""
    A = repeated(r.parts[0], r.K * r.size(0), 4)
    B = repeated(r.parts[1], r.K * r.size(1), 4)
    K = 4 * r.K
    return gemm(r, ([r.tiles, r.M, K], A), ([r.tiles, r.N, K], B), K)


def blocks(r, count):
    """Tiles side by side as one T.gemm of count M x count N: the blocks on the
    diagonal were measured; a tenth of the others is held against the model."""
    M, N, K = count * r.M, count * r.N, r.K
    a, b, c, d = ([codes(part, r.size(i)) for i, part in enumerate(r.parts)])
    draws = random.Random(5)
    C, want = [0] * (M * N), [None] * (M * N)
    A = a[:M * K]
    B = b[:N * K]
    da = [model.decode(x, "f16") for x in A]
    db = [model.decode(x, "f16") for x in B]
    for i in range(M):
        for j in range(N):
            t = i // r.M
            at = (t * r.M + i % r.M) * r.N + j % r.N
            if j // r.N == t:
                C[i * N + j], want[i * N + j] = c[at], d[at]
            elif draws.random() < 0.1:
                want[i * N + j] = model.fused(
                    da[i * K:i * K + K], db[j * K:j * K + K],
                    model.decode(0, "f32"), "f32", 25, 24, -133)
    tensors = [("A", 0, [1, M, K], packed(A, 2)),
               ("B", 0, [1, N, K], packed(B, 2)),
               ("C", 5, [1, M, N], packed(C, 4))]
    got = run("h100", "gemm", tensors, tiles=1, M=M, N=N, K=K,
              dtype="float16", acc="float32", threads=128)
    return differences(want, codes(got, 4), 4, N)


def check_hardware():
    for r in records():
        if not is_gemm(r):
            continue
        report(f"H200: {r.name}", captured(r))
        if "x4" in r.name:
            report(f"H200: {r.name}, one T.gemm", captured_chain(r))
        if r.size(0) == 2 and "regs" not in r.name:
            report(f"H200: {r.name}, transposed", captured_turned(r))
        if r.name == "wgmma.m64n8k16.f32.f16":
            report("H200: four tiles as one T.gemm", blocks(r, 4))


# ---- the model

def chain32(a, b, c, acc):
    """Fused multiply-adds in IEEE float32; finite values that stay so."""
    x = c[1] * c[2]
    for (_, sa, ma, _), (_, sb, mb, _) in zip(a, b):
        x += sa * sb * ma * mb
        if x:
            x = model.to_grid(x, max(model.leading(x), -126) - 23, "even")
    return model.encode(x, acc)


def natural(K, inst, pack):
    return list(range(K))


def packed_k(K, inst, pack):
    """numerics: instruction p of a chunk of pack * inst products covers
    k = P * pack * q + P * p + e for q in 0..3, e in 0..P-1, P = inst / 4."""
    P = inst // 4
    return [chunk + P * pack * q + P * p + e
            for chunk in range(0, K, pack * inst) for p in range(pack)
            for q in range(4) for e in range(P)]


MI300X = [
    ("f16", 16, 8, lambda a, b, c, acc: model.late(a, b, c, 0)),
    ("bf16", 16, 8, lambda a, b, c, acc: model.late(a, b, c, 0)),
    ("e4m3fnuz", 32, 16, lambda a, b, c, acc: model.late(a, b, c, 1)),
    ("e5m2fnuz", 32, 16, lambda a, b, c, acc: model.late(a, b, c, 1)),
    ("f32", 4, 4, chain32),
]
H100 = [
    ("f16", "f32", 16, 16, model.hopper(25, 24, -133)),
    ("f16", "f16", 16, 16, model.hopper(25, 11, -21)),
    ("bf16", "f32", 16, 16, model.hopper(25, 24, -133)),
    ("tf32", "f32", 8, 8, model.hopper(25, 24, -133)),
    ("e5m2", "f32", 32, 32, model.hopper(13, 14, -133)),
]


def operands(r, fmt, acc, M, N, K):
    mode, meet = (0, 0) if r.random() < 0.2 and fmt != "f32" else (3, 0)
    return ([model.draw(r, fmt, mode, meet) for _ in range(M * K)],
            [model.draw(r, fmt, mode, meet) for _ in range(N * K)],
            [model.draw(r, acc, 3, meet) for _ in range(M * N)])


def expected(abc, fmt, acc, M, N, K, step, order, rule):
    a, b, c = abc
    da = [model.decode(x, fmt) for x in a]
    db = [model.decode(x, fmt) for x in b]
    out = []
    for i in range(M):
        for j in range(N):
            x = c[i * N + j]
            ra = [da[i * K + k] for k in order]
            rb = [db[j * K + k] for k in order]
            for s in range(0, K, step):
                x = rule(ra[s:s + step], rb[s:s + step],
                         model.decode(x, acc), acc)
            out.append(x)
    return out


def against_model(numerics, fmt, acc, M, N, K, step, order, rule, threads,
                  seed, **defines):
    r = random.Random(seed)
    want, parts, tiles = [], [[], [], []], 2
    for _ in range(tiles):
        abc = operands(r, fmt, acc, M, N, K)
        want += expected(abc, fmt, acc, M, N, K, step, order, rule)
        for part, values in zip(parts, abc):
            part += values
    kinds = [NUMBER[fmt], NUMBER[fmt], NUMBER[acc]]
    shapes = [[tiles, M, K], [tiles, N, K], [tiles, M, N]]
    tensors = [(name, kind, shape, packed(part, TYPES[kind][2]))
               for name, kind, shape, part in zip("ABC", kinds, shapes, parts)]
    got = run(numerics, "gemm", tensors, tiles=tiles, M=M, N=N, K=K,
              dtype=TYPES[kinds[0]][0], acc=TYPES[kinds[2]][0],
              threads=threads, **defines)
    size = TYPES[kinds[2]][2]
    return want, differences(want, codes(got, size), size, N)


def check_model():
    for n, (fmt, inst, step, rule) in enumerate(MI300X):
        wants, K = [], 2 * inst
        for pack, order in ((1, natural), (2, packed_k)):
            want, bad = against_model("mi300x", fmt, "f32", 16, 16, K, step,
                                      order(K, inst, pack), rule, 64, n,
                                      k_pack=pack)
            wants.append(want)
            report(f"mi300x: {fmt}, k_pack {pack}", bad)
        report(f"mi300x: {fmt}, k_pack 1 and 2 are different sums",
               ["they agree"] if wants[0] == wants[1] else None)
    for n, (fmt, acc, inst, step, rule) in enumerate(H100):
        M, threads = (64, 128) if fmt in ("e5m2", "tf32") else (16, 32)
        K = 2 * inst
        _, bad = against_model("h100", fmt, acc, M, 8, K, step,
                               natural(K, inst, 1), rule, threads, 50 + n)
        report(f"h100: {fmt} -> {acc}, k {K}", bad)


def check_promotion():
    """Each 32 k through wgmma from zero, then an IEEE addition."""
    M, N, K, r = 64, 8, 128, random.Random(9)
    a = [model.draw(r, "e4m3", 2, 0) for _ in range(M * K)]
    b = [model.draw(r, "e4m3", 2, 0) for _ in range(N * K)]
    da = [model.decode(x, "e4m3") for x in a]
    db = [model.decode(x, "e4m3") for x in b]
    zero, want, plain = model.decode(0, "f32"), [], []
    for i in range(M):
        for j in range(N):
            total, chain = Fraction(0), 0
            for s in range(0, K, 32):
                ra = da[i * K + s:i * K + s + 32]
                rb = db[j * K + s:j * K + s + 32]
                part = model.fused(ra, rb, zero, "f32", 13, 14, -133)
                chain = model.fused(ra, rb, model.decode(chain, "f32"), "f32",
                                    13, 14, -133)
                _, sign, size, _ = model.decode(part, "f32")
                total += sign * size
                if total:
                    total = model.to_grid(total, model.leading(total) - 23,
                                          "even")
            want.append(model.encode(total, "f32"))
            plain.append(chain)
    tensors = [("A", 3, [M, K], packed(a, 1)), ("B", 3, [N, K], packed(b, 1))]
    got = codes(run("h100", "promoted", tensors, M=M, N=N, K=K,
                    dtype="float8_e4m3fn", threads=128), 4)
    report("h100: promotion that the program does",
           differences(want, got, 4, N))
    report("h100: promotion is not the chain",
           ["they agree"] if want == plain else None)


def main():
    os.makedirs(WORK, exist_ok=True)
    try:
        check_hardware()
        check_model()
        check_promotion()
    except RuntimeError as e:
        report("a run", str(e).splitlines())
    print(f"1..{BEFORE + len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
