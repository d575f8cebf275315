#!/usr/bin/env python3
"""upstream_steps.py - steps of upstream's solver for a reduction's proof.

Usage: upstream_steps.py TIMES >tests/data/plan/steps.tsv

Needs the wheel `tilelang` (pip install tilelang==0.1.13), no GPU. Before it
lowers a reduction, upstream proves that which elements a thread has does not
depend on what of the reduced index is threads. What its own rules leave of
that goes to a solver (Z3), which may take 10,000 steps. This asks the question
of many forms, TIMES each with other proofs before it and no limit, and prints
how many steps it took.
"""
import logging
import random
import re
import sys

logging.disable(logging.CRITICAL)
from tilelang import tvm  # noqa: E402

tirx = tvm.tirx
floordiv, floormod, Range = tirx.floordiv, tirx.floormod, tvm.ir.Range
BUDGET = 10000


def variable(name, extent, analyzer):
    v = tirx.Var(name, "int32")
    analyzer.bind(v, Range(0, extent))
    return v


def unsettle(rnd, kept):
    """Leave the solver, which all analyzers share, other terms to begin with."""
    for _ in range(rnd.randrange(6)):
        analyzer = tvm.arith.Analyzer()
        v = variable("v", rnd.randrange(2, 300), analyzer)
        w = variable("w", rnd.randrange(2, 300), analyzer)
        for _ in range(rnd.randrange(4)):
            part = v * rnd.randrange(1, 9) + floordiv(w, rnd.choice((2, 4, 8)))
            part = floormod(part, rnd.choice((2, 4, 8, 16)))
            analyzer.can_prove(floordiv(part, rnd.choice((2, 4))) !=
                               rnd.randrange(9))
        kept.append(analyzer)
    rnd.shuffle(kept)
    del kept[rnd.randrange(12):]


def taken(analyzer):
    """All steps so far: the solver counts them for all analyzers together."""
    return int(re.search(r"rlimit-count\s+(\d+)",
                         analyzer.get_z3_stats()).group(1))


def steps(low, first, between, top, past, others):
    """Of one proof. The digits of the reduced index, from the lowest: `low`
    elements of a thread, `first` threads, `between` elements, `top` threads,
    `past` elements; `others` are extents of the dimensions around it (0)."""
    before = tvm.arith.Analyzer()
    z = variable("z", 9, before)
    before.can_prove(floormod(z, 7) < z)
    start = taken(before)
    analyzer = tvm.arith.Analyzer()
    analyzer.set_z3_rlimit(10**7)
    lane = low * first
    extent = lane * between * top * past
    for i, n in enumerate(others):
        if n:
            variable("ijkl"[i], n, analyzer)
        else:
            r = variable("rv", extent, analyzer)
    local = floormod(r, low)
    local += floordiv(floormod(r, lane * between), lane) * low * 2
    local += floordiv(r, lane * between * top) * low * 16
    rest = r - floormod(floordiv(r, low), first) * low
    rest -= floormod(floordiv(r, lane * between), top) * lane * between
    local = analyzer.simplify(local)
    without = tirx.stmt_functor.substitute(local, {r: analyzer.simplify(rest)})
    analyzer.can_prove(analyzer.simplify(without) - local == 0)
    return taken(analyzer) - start


def forms():
    for low, first in ((2, 4), (4, 4)):
        for top in (2, 4, 8, 16):
            for between in (2, 3, 4, 8, 16):
                if low * first * between * top <= 1024:
                    yield low, first, between, top, 1, (64, 0)
        for top in (2, 4, 8):
            for others in ((0,), (0, 64), (4, 64, 0), (4, 0, 64)):
                yield low, first, 2, top, 1, others
        yield low, first, 1, 4, 4, (64, 0)
    for first in (8, 16):
        for top in (2, 4, 8, 16):
            for between in (2, 4, 8):
                if first * between * top <= 1024:
                    yield 1, first, between, top, 1, (0, 64)
    for past in (2, 3, 4, 8):
        yield 1, 8, 2, 1, past, (0, 64)
    for top in (2, 4):
        for low, first in ((1, 8), (2, 4), (4, 4)):
            yield low, first, 2, top, 2, (0, 64)


def main():
    rnd, kept = random.Random(1), []
    times = int(sys.argv[1])
    print("# made by tools/upstream_steps.py, budget", BUDGET)
    print("# low\tfirst\tbetween\ttop\tpast\tothers\ttimes\tover\tleast\tmost")
    for form in forms():
        found = []
        for _ in range(times):
            unsettle(rnd, kept)
            found.append(steps(*form))
        print(*form[:-1], ",".join(map(str, form[-1])), times,
              sum(n > BUDGET for n in found), min(found), max(found),
              sep="\t", flush=True)


if __name__ == "__main__":
    main()
