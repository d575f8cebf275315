# torch_vs_data.py - torch as tilesim has it against answers of torch itself.
#
# Runs torch_script.py's program by torch_probe and compares every tensor,
# number and error with tests/data/torch/expected.json.gz, which
# tools/make-torch-data.py made by torch. Prints what differs.
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import tensors
import torch_cases
import torch_script

PROBE = os.environ.get("TORCH_PROBE", "./torch_probe")
DATA = os.environ.get("TORCH_DATA") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "data", "torch",
    "expected.json.gz")
SHOWN = 60


def run(cases):
    with tempfile.TemporaryDirectory() as folder:
        tensors.write_safetensors(f"{folder}/inputs.safetensors",
                                  torch_script.inputs_of(cases))
        with open(f"{folder}/cases.py", "w") as f:
            f.write(torch_script.text_of(cases, folder))
        done = subprocess.run([PROBE, f"{folder}/cases.py"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode:
            print(done.stderr[-3000:], done.stdout[-300:])
            raise SystemExit(f"torch_probe: exit {done.returncode}")
        saved = tensors.read_safetensors(f"{folder}/outputs.safetensors")
    return saved, done.stdout.splitlines()


def differs(got, expected, tol):
    """Why a tensor is not what it should be, or None."""
    dtype, shape, data = expected
    if tensors.name_of(got) != dtype or list(got.shape) != shape:
        return (f"{tensors.name_of(got)}{list(got.shape)}, "
                f"not {dtype}{shape}")
    if tol == 0:
        return None if tensors.digest(got) == data \
            else f"other bits: {got.tolist()}"
    want = tensors.unpack(dtype, shape, data)
    tol, scale = tol if isinstance(tol, tuple) else (tol, 0)
    off = tensors.ulps(got, want, scale) if tensors.is_float(dtype) \
        else np.where(got == want, 0, np.inf)
    if got.size and off.max() > tol:
        i = np.unravel_index(off.argmax(), off.shape)
        return f"{off.max():.3g} ulp: {got[i]} for {want[i]}"
    return None


ERRORS = {"NotImplementedError": "RuntimeError"}


def reading(lines):
    """name -> ("error", "TypeError"), ("value", "3"), ("items", "2")."""
    out = {}
    for line in lines:
        name, kind, text = line.split(" ", 2)
        out[name] = (kind, ERRORS.get(text, text))
    return out


def main():
    with gzip.open(DATA) as f:
        document = json.load(f)
    cases = torch_cases.CASES
    if document["cases"] != torch_script.stamp(cases):
        raise SystemExit("the stored answers are for other cases: run "
                         "tools/make-torch-data.py")
    saved, lines = run(cases)
    of = {c["id"]: c for c in cases}
    got, want = reading(lines), reading(document["lines"])
    wrong = {}
    for name, expected in document["results"].items():
        c = of[name.split(".")[0]]
        why = differs(saved[name], expected, c["tol"]) if name in saved \
            else "nothing: " + " ".join(got.get(c["id"], ("missing", "")))
        if why:
            wrong[name] = why
    for name in sorted(set(got) | set(want)):
        a, b = got.get(name), want.get(name)
        if a != b and not (a is None and name.split(".")[0] in wrong):
            wrong.setdefault(name, f"{a} for {b}")
    for name in list(wrong)[:SHOWN]:
        c = of[name.split(".")[0]]
        inputs = " ".join(f"{n}:{t}{s}{'@' + l if l else ''}"
                          for n, t, s, _, l in c["inputs"])
        print(f"{name}: {c['body']}\n    {inputs}\n    {wrong[name]}")
    print(f"torch: {len(document['results'])} tensors and {len(want)} answers "
          f"of {len(cases)} cases compared, {len(wrong)} wrong")
    if wrong:
        sys.exit(1)


main()
