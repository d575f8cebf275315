# torch_vs_data.py - torch as tilesim has it against answers of torch itself.
#
# Runs torch_script.py's program by torch_probe and compares every tensor,
# number and error with tests/data/torch/expected.json.gz, which
# tools/make-torch-data.py made by torch. Prints what differs.
import gzip
import json
import os
import sys

import probe
import tensors
import torch_cases
import torch_script

DATA = os.environ.get("TORCH_DATA") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "data", "torch",
    "expected.json.gz")
SHOWN = 60


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
    saved, lines = probe.run(cases)
    of = {c["id"]: c for c in cases}
    got, want = reading(lines), reading(document["lines"])
    wrong = {}
    for name, expected in document["results"].items():
        c = of[name.split(".")[0]]
        why = tensors.differs(saved[name], expected, c["tol"]) if name in saved \
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
