"""gemm.tile on the GPU against `tilesim run` with the bits of its matrix cores:
every element, at three shapes, with random inputs and inputs made to part sums.

usage: bits.py OUT.json
"""

import json
import os
import struct
import sys
import tempfile

import numpy as np

import common

SHAPES = ["M=512 N=768 K=512", "M=300 N=136 K=1040", "M=1024 N=1024 K=256"]
# How a dtype is called, its bits, exponent bits, mantissa bits, bias, and in
# safetensors.
TYPES = {"float16": (16, 5, 10, 15, "F16"), "bfloat16": (16, 8, 7, 127, "BF16"),
         "tfloat32": (32, 8, 23, 127, "F32"),
         "float8_e4m3fn": (8, 4, 3, 7, "F8_E4M3"),
         "float8_e5m2": (8, 5, 2, 15, "F8_E5M2")}
KINDS = ["random", "wide", "cancel", "tiny"]


def encode(x, t):
    """float64 to codes of a dtype, towards zero; all are finite."""
    bits, e_bits, m_bits, bias, _ = TYPES[t]
    mantissa, exponent = np.frexp(np.abs(x))        # 0.5 <= mantissa < 1
    e = exponent - 1 + bias
    top = 2 ** e_bits - 2
    normal = np.floor((2 * mantissa - 1) * 2 ** m_bits)
    small = np.floor(np.abs(x) * 2.0 ** (bias - 1 + m_bits))
    small = np.minimum(small, 2 ** m_bits - 1)
    code = np.where(e >= 1, np.clip(e, 1, top) * 2 ** m_bits + normal, small)
    code = code.astype(np.uint64) | (np.signbit(x).astype(np.uint64)
                                     << np.uint64(bits - 1))
    return code.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits])


def values(kind, shape, rng, t):
    x = rng.uniform(-1, 1, shape)
    reach = 2 ** (TYPES[t][1] - 1) - 3      # powers of two either way
    reach = min(reach, 20)
    if kind == "wide":                      # exponents all over
        return x * 2.0 ** rng.integers(-reach // 2, reach // 2 + 1, shape)
    if kind == "cancel":                    # what is large goes again
        y = x * 2.0 ** rng.integers(-reach // 2, 1, shape)
        large = 2.0 ** (reach // 2)
        y[..., ::4] = large
        y[..., 1::4] = -large
        return y
    if kind == "tiny":                      # subnormal for the most part
        return x * 2.0 ** (2 - 2 ** (TYPES[t][1] - 1))
    return x


def write_tensors(path, arrays, t):
    head, data = {}, b""
    for name, a in arrays.items():
        raw = a.tobytes()
        head[name] = {"dtype": TYPES[t][4], "shape": list(a.shape),
                      "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def main():
    entry, rows = common.configs()["gemm"], []
    seed = 0
    for t in TYPES:
        for shape in SHAPES:
            m, n, k = (int(w.split("=")[1]) for w in shape.split())
            for kind in KINDS:
                rng = np.random.default_rng(seed := seed + 1)
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "in.safetensors")
                    other = "wide" if kind == "wide" else "random"
                    write_tensors(path, {
                        "A": encode(values(kind, (m, k), rng, t), t),
                        "B": encode(values(other, (k, n), rng, t), t)}, t)
                    words = "%s dtype=%s" % (shape, t)
                    code, launch, why = common.gpu(
                        entry, words, ["--no-ref", "--in", path])
                row = {"what": words, "inputs": kind, "exit": code,
                       "why": why}
                for o in (launch or {}).get("outputs", []):
                    row[o["name"]] = o.get("run")
                rows.append(row)
                print(row, flush=True)
    common.write(sys.argv[1], rows)


if __name__ == "__main__":
    main()
