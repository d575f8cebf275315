#!/usr/bin/env python3
"""check.py - runs primitives on each dtype and compares them with NumPy.

    check.py TILESIM TOP [SECTION...]

Each run has loops of 0, 1, 16 and 37 iterations: none, one, a full vector and
an odd tail. What was compared is the table docs/coverage.md; with
UPDATE=1 the table is written.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

import carried
import coverage
import scalar
import tensors
import tiles
from dtypes import ALL, CARRIED, INTS, is_float, places

LOOPS = (0, 1, 16, 37)
TOTAL = sum(LOOPS)
TOGETHER = 24               # launches of one program


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def check(self, name, why_not):
        self.n += 1
        self.bad += bool(why_not)
        for line in why_not.splitlines() if why_not else []:
            print("#", line[:200])
        print("not ok" if why_not else "ok", self.n, "-", name, flush=True)

    def close(self):
        print(f"1..{self.n}")
        return 1 if self.bad else 0


class Runner:
    """Runs kernel `k` of a program text on arrays, in a folder of its own."""

    def __init__(self, tilesim, folder):
        self.tilesim, self.folder, self.n = tilesim, folder, 0

    def run(self, text, inputs, outputs, options=()):
        self.n += 1
        base = os.path.join(self.folder, str(self.n))
        with open(base + ".tile", "w", encoding="utf-8") as out:
            out.write("import tilelang.language as T\n\n" + text)
        tensors.write(base + ".safetensors", inputs)
        command = [self.tilesim, "run", "--no-ref", "-q", *options,
                   "--in", base + ".safetensors",
                   "--out", base + ".out.safetensors"]
        done = subprocess.run([*command, base + ".tile"], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        if done.returncode:
            raise RuntimeError(f"exit {done.returncode}\n{done.stderr}\n{text}")
        results = tensors.read(base + ".out.safetensors")
        return [results[name] for name in outputs]


# ---- scalar operations ---------------------------------------------

def floats_of(dtype, rng):
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, np.inf, -np.inf,
               np.nan, 1e-3, -7.75, 30.0]
    x = np.concatenate([special, rng.normal(0, 2, TOTAL)])[:TOTAL]
    y = rng.permutation(np.concatenate([special, rng.normal(0, 3, TOTAL)]))
    with np.errstate(all="ignore"):
        return x.astype(ALL[dtype]), y[:TOTAL].astype(ALL[dtype])


def ints_of(dtype, rng):
    if dtype == "bool":
        return rng.random(TOTAL) < 0.5, rng.random(TOTAL) < 0.5
    limits = np.iinfo(dtype)
    special = [0, 1, limits.max, limits.min, 2, limits.max // 2]
    pick = rng.integers(limits.min, limits.max, TOTAL, dtype, endpoint=True)
    x = np.concatenate([np.array(special, dtype), pick])[:TOTAL]
    y = np.concatenate([pick[20:], rng.integers(0, 9, TOTAL).astype(dtype)])
    return x, y[:TOTAL]


def scalar_program(dtype, operations):
    """Kernel with one output row an operation; comparisons as uint8 rows."""
    lines = [f"dt = T.{dtype}", "",
             "@T.prim_func",
             f"def k(X: T.Tensor(({TOTAL},), dt), Y: T.Tensor(({TOTAL},), dt),"]
    bits = np.dtype(ALL[dtype]).itemsize * 8
    kinds = {n: "T.bool" if k == "truth" else "T.int32" if n == "T.clz"
             else f"T.uint{bits}" if k == "bits" else "dt"
             for n, _, k in operations}
    lines += [f"      R{i}: T.Tensor(({TOTAL},), {kinds[n]})"
              + ("," if i + 1 < len(operations) else "):")
              for i, (n, _, _) in enumerate(operations)]
    lines.append("    with T.Kernel(1, threads=32):")
    at = 0
    for extent in LOOPS:
        lines.append(f"        for i in T.Parallel({extent}):")
        lines.append(f"            x = X[{at} + i]")
        lines.append(f"            y = Y[{at} + i]")
        if dtype in INTS:
            lines.append("            nonzero = T.if_then_else("
                         "y == T.cast(0, dt), T.cast(3, dt), y)")
            lines.append(f"            shift = y & T.cast({bits - 1}, dt)")
        for i, (_, expression, _) in enumerate(operations):
            lines.append(f"            R{i}[{at} + i] = {expression}")
        at += extent
    return "\n".join(lines) + "\n"


def difference(name, kind, dtype, got, want):
    if kind != "float" and not (kind == "choice" and is_float(dtype)):
        wrong = np.asarray(got) != np.asarray(want)
    else:
        got = got.view(ALL[dtype])
        allowed = scalar.FLOAT.get(name, (0, 0, 0))[2] if kind == "float" else 0
        wrong = places(got, want, dtype) > (allowed or 0)
        if dtype == "float64" and allowed:      # NumPy's libm may be off too
            wrong = places(got, want, dtype) > 2
    if not wrong.any():
        return ""
    i = int(np.flatnonzero(wrong)[0])
    return f"element {i}: {got[i]!r}, NumPy has {want[i]!r}"


def section_scalar(tap, runner, seen):
    rng = np.random.default_rng(7)
    for dtype in ALL:
        make = floats_of if is_float(dtype) else ints_of
        x, y = make(dtype, rng)
        operations = scalar.operations(dtype)
        for first in range(0, len(operations), 24):
            part = operations[first:first + 24]
            rows = runner.run(scalar_program(dtype, part), {"X": x, "Y": y},
                              [f"R{i}" for i in range(len(part))])
            for (name, _, kind), got in zip(part, rows):
                want = scalar.expected(name, kind, dtype, x, y)
                tap.check(f"{name} of {dtype}",
                          difference(name, kind, dtype, got, want))
                seen.add((name, dtype))


# ---- tiles ---------------------------------------------

def section_tiles(tap, runner, seen):
    rng = np.random.default_rng(11)
    cases = tiles.cases()
    for dtype in ALL:
        mine = [(case, part) for case in cases if dtype in case.dtypes
                for part in case.parts(dtype, rng)]
        why = {}
        for first in range(0, len(mine), TOGETHER):
            some = mine[first:first + TOGETHER]
            found = tiles.run(runner, [part for _, part in some])
            for (case, _), text in zip(some, found):
                why[case.name] = why.get(case.name) or text
        for case in cases:
            if dtype in case.dtypes:
                tap.check(f"{case.name} of {dtype}", why[case.name])
                seen.update((op, dtype) for op in case.ops)


def section_carried(tap, runner, seen):
    rng = np.random.default_rng(13)
    for dtype in CARRIED:
        for name, why in carried.checks(runner, dtype, rng):
            tap.check(f"{name} of {dtype}", why)
            seen.add((name, dtype))


SECTIONS = {"scalar": section_scalar, "tiles": section_tiles,
            "carried": section_carried}


def main():
    tilesim, top, *wanted = sys.argv[1:]
    tap, seen = Tap(), set()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(os.path.abspath(tilesim), folder)
        for name, section in SECTIONS.items():
            if not wanted or name in wanted:
                section(tap, runner, seen)
    if not wanted:
        tap.check("docs/coverage.md is what was compared",
                  coverage.compare(top, seen))
    return tap.close()


if __name__ == "__main__":
    sys.exit(main())
