# torch_f64.py - torch as a reference sees it when the verdict is computed.
#
# Then every float of 16 bits and more is an f64 and conversions among those do
# nothing; 8-bit floats, integers and bool keep their meaning. Besides, the
# cases of torch_cases.py with float64 inputs must give what torch gives.
import gzip
import json
import os
import sys

import numpy as np

import probe
import tensors
import torch_cases
import torch_script

HERE = os.path.dirname(os.path.abspath(__file__))
F64 = np.float64
CASES, WANT = [], {}


def add(body, want, shape=(6,), dtype="f64", domain="n"):
    CASES.append({"id": str(len(CASES)), "body": body, "tol": 0, "inputs": [
        ("a", dtype, list(shape), domain, "")]})
    WANT[CASES[-1]["id"]] = want


def fp8(a):
    """float64 to float8_e4m3fn and back, as torch's .to() does."""
    kind = tensors.DTYPES["e4m3"][0]
    return np.clip(a.astype(np.float32), -448, 448).astype(kind).astype(F64)


for word in ("float()", "half()", "bfloat16()", "double()",
             "to(torch.float16)", "type(torch.bfloat16)",
             "to(dtype=torch.float32)"):
    add(f"a.{word}", lambda a: a)
add("a.half() * 0.1", lambda a: a * 0.1)
add("a + torch.ones(6, dtype=torch.float16) / 3", lambda a: a + 1 / F64(3))
add("torch.ones(6) / 3", lambda a: np.ones(6) / 3)
add("torch.full((2,), 0.1)", lambda a: np.full(2, 0.1))
add("torch.zeros(3, dtype=torch.bfloat16)", lambda a: np.zeros(3))
add("torch.arange(3.0)", lambda a: np.arange(3.0))
add("torch.arange(3)", lambda a: np.arange(3))
add("torch.tensor([0.1, 0.2])", lambda a: np.array([0.1, 0.2]))
add("torch.tensor([1, 2])", lambda a: np.array([1, 2]))
add("torch.tensor(0.1, dtype=torch.float16)", lambda a: np.array(0.1))
add("torch.zeros_like(a, dtype=torch.float16)", lambda a: a * 0)
add("a / 2", lambda a: a / 2, dtype="i32")
add("a * 0.1", lambda a: a * 0.1, dtype="i32")
add("a + 1", lambda a: a + np.int32(1), dtype="i32")
add("a.sum()", lambda a: a.astype(np.int64).sum(), dtype="i32")
add("a.float().mean()", lambda a: a.astype(F64).sum() / 6, dtype="i32")
add("a.int()", lambda a: a.astype(np.int32))
add("a.to(torch.int8)", lambda a: a.astype(np.int8))
add("a > 0.1", lambda a: a > 0.1)
add("a.to(torch.float8_e4m3fn).float()", fp8, domain="far")
add("(a * 100).to(torch.float8_e4m3fn).to(torch.float16)",
    lambda a: fp8(a * 100), domain="far")
add("a.float() * 0.5", lambda a: a.astype(F64) * 0.5, dtype="e4m3")
add("a.to(torch.float16)", lambda a: a.astype(F64), dtype="e5m2")
add("a.sum(dtype=torch.float32)", lambda a: a.sum(), domain="q")
add("torch.cat([a, a.half()])", lambda a: np.concatenate([a, a]))
add("(a.half() @ a.half().T)", lambda a: a @ a.T, shape=(3, 4), domain="q")
add("torch.softmax(a, -1, dtype=torch.float32).sum(-1).round()",
    lambda a: np.ones(3), shape=(3, 4))
add("a.masked_fill(a < 0, float('-inf'))",
    lambda a: np.where(a < 0, -np.inf, a))
add("a.long().float() / 3", lambda a: np.trunc(a) / 3)
add("torch.where(a > 0, a, 0.1)", lambda a: np.where(a > 0, a, 0.1))
add("torch.sqrt(a * a)", lambda a: np.sqrt(a * a), dtype="f64")
add("torch.randn(4).dtype == torch.float64 and a.half().dtype == a.dtype",
    None)


def own_cases():
    saved, lines = probe.run(CASES, options=["--f64"])
    inputs = torch_script.inputs_of(CASES)
    wrong = 0
    for c in CASES:
        want = WANT[c["id"]]
        if want is None:
            good = f"{c['id']} value True" in lines
        else:
            w, got = np.asarray(want(inputs[f"{c['id']}.a"])), saved.get(c["id"])
            good = got is not None and got.dtype == w.dtype \
                and got.shape == w.shape and np.array_equal(got, w)
        if not good:
            print(c["body"], saved.get(c["id"]), "for",
                  want and want(inputs[f"{c['id']}.a"]))
            wrong += 1
    return wrong


def stored_cases():
    with gzip.open(os.path.join(HERE, "..", "data", "torch",
                                "expected.json.gz")) as f:
        results = json.load(f)["results"]
    cases = [c for c in torch_cases.CASES if c["inputs"]
             and all(i[1] in ("f64", "bool", "i64") for i in c["inputs"])
             and "torch.float" not in c["body"] and ".half" not in c["body"]]
    inputs = torch_script.inputs_of(torch_cases.CASES)
    saved, _ = probe.run(cases, options=["--f64"], inputs=inputs)
    wrong = 0
    for name, expected in results.items():
        c = next((c for c in cases if c["id"] == name.split(".")[0]), None)
        if c and expected[0] in ("f64", "bool", "i64"):
            why = tensors.differs(saved[name], expected, c["tol"])
            wrong += bool(why)
            if why:
                print(name, c["body"], why, sep="\n    ")
    return wrong, len(cases)


def main():
    wrong = own_cases()
    stored, count = stored_cases()
    print(f"torch in f64: {len(CASES)} and {count} cases compared, "
          f"{wrong + stored} wrong")
    sys.exit(bool(wrong + stored))


main()
