#!/usr/bin/env python3
# make-torch-data.py - what torch answers, for tests that run without it.
#
#   tools/make-torch-data.py >tests/data/torch/expected.json.gz
#
# Needs torch, numpy and ml_dtypes. Evaluates the cases of
# tests/host/torch_cases.py by torch on the CPU. Of results that must be equal
# to the bit a digest is kept, of others the bits.
import contextlib
import gzip
import io
import json
import os
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "host"))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import tensors  # noqa: E402
import torch_cases  # noqa: E402
import torch_script  # noqa: E402

TORCH = {"bool": torch.bool, "u8": torch.uint8, "i8": torch.int8,
         "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
         "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
         "f64": torch.float64, "e4m3": torch.float8_e4m3fn,
         "e5m2": torch.float8_e5m2, "e4m3z": torch.float8_e4m3fnuz,
         "e5m2z": torch.float8_e5m2fnuz}
NAMES = {t: n for n, t in TORCH.items()}


def to_torch(a):
    raw = torch.from_numpy(np.frombuffer(bytearray(a.tobytes()), np.uint8)) if a.size \
        else torch.zeros(0, dtype=torch.uint8)
    t = raw.view(TORCH[tensors.name_of(a)])
    return t.reshape(a.shape)


def to_numpy(t):
    kind = np.dtype(tensors.DTYPES[NAMES[t.dtype]][0])
    t = t.detach().contiguous()
    if t.numel() == 0:
        return np.zeros(tuple(t.shape), kind)
    data = t.reshape(-1).view(torch.uint8).numpy().tobytes()
    return np.frombuffer(data, kind).reshape(tuple(t.shape))


def evaluate(cases):
    """The arrays that torch makes, and the lines it prints."""
    saved = {}
    files = types.ModuleType("safetensors.torch")
    files.load_file = lambda path: {
        n: to_torch(a)
        for n, a in tensors.read_safetensors(path).items()}
    files.save_file = lambda out, path: saved.update(
        {n: to_numpy(t) for n, t in out.items()})
    sys.modules["safetensors"] = types.ModuleType("safetensors")
    sys.modules["safetensors.torch"] = files
    lines = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        tensors.write_safetensors(f"{folder}/inputs.safetensors",
                                  torch_script.inputs_of(cases))
        with contextlib.redirect_stdout(lines):
            exec(compile(torch_script.text_of(cases, folder), "cases", "exec"),
                 {})
    return saved, lines.getvalue().splitlines()


def main():
    torch.set_num_threads(1)
    cases = torch_cases.CASES
    saved, lines = evaluate(cases)
    tol = {c["id"]: c["tol"] for c in cases}
    results = {}
    for name, a in saved.items():
        exact = tol[name.split(".")[0]] == 0
        results[name] = [tensors.name_of(a), list(a.shape),
                         tensors.digest(a) if exact else tensors.pack(a)]
    document = {"torch": torch.__version__, "cases": torch_script.stamp(cases),
                "lines": lines, "results": results}
    data = json.dumps(document, separators=(",", ":")).encode()
    sys.stdout.buffer.write(gzip.compress(data, 9, mtime=0))


main()
