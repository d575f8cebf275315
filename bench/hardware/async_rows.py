#!/usr/bin/env python3
"""async_rows.py - cp.async instructions for async_source.py: op, active lanes,
lanes that only clear, 32 shared and 32 global byte offsets; fixed seeds.

    async_rows.py KNOWN.tsv.gz > rows.txt       tiles, ragged and narrow ones
    async_rows.py lines > rows.txt              few lanes of two lines
    async_rows.py predicates > rows.txt         the same by six predicates

KNOWN is tests/data/hardware/h200_async_copy.tsv.gz, whose rows come first. An op
that ends in b has its inactive lanes behind a branch and not a predicate, one
that ends in p comes in groups of six, for which see async_source.py.
"""
import gzip
import random
import sys

WIDTH = {"cpa4": 4, "cpa8": 8, "cpa16": 16, "cpg16": 16}
FULL = 0xffffffff


def mask(lanes):
    return sum(1 << i for i in lanes)


# ---- tiles -----------------------------------------------------------------

def known(path):
    with gzip.open(path, "rt") as f:
        lines = [x.rstrip("\n").split("\t") for x in f if x[0] != "#"][1:]
    for op, active, near, far, *_ in lines:
        yield [op, active, "0", *near.split(), *far.split()]


def masks(rng, per_row):
    """Lanes of a tile's rows of so many lanes that end early."""
    whole = range(32)
    yield 0
    yield FULL
    for rows in (1, 2, 3, 5):
        yield mask(i for i in whole if i // per_row >= rows)
    for columns in (1, 3, per_row // 2):
        yield mask(i for i in whole if i % per_row >= max(1, columns))
    yield mask(i for i in whole if i % 2)
    yield mask(i for i in whole if i < 5)
    yield rng.getrandbits(32)
    yield rng.getrandbits(32) & rng.getrandbits(32)
    yield rng.getrandbits(32) | rng.getrandbits(32)


def places(rng, w):
    """(lanes a row, shared offsets, global offsets)"""
    for row in (w, 2 * w, 4 * w, 32, 48, 64, 96, 128, 256, 512):
        if row % w or row // w > 32:
            continue
        n = row // w
        for near in (row, row + w, 128, 144, 256):
            if near < row:
                continue
            far = rng.choice([row, 2048, 1024 + w, 3 * row, 90 * w, 50 * w])
            a, b = (w * rng.randrange(128 // w) if rng.random() < .4 else 0
                    for _ in range(2))
            twist = rng.random() < .4 and row <= 128 and w == 16
            yield n, [a + near * (i // n) + (w * (i % n) ^ (
                        16 * (i // n % min(8, n)) if twist else 0))
                      for i in range(32)], \
                [b + far * (i // n) + w * (i % n) for i in range(32)]
    for span in (128, 512, 4096, 32768):
        for other in (0, 128, 512, 32768):
            near = [w * rng.randrange(span // w) for _ in range(32)]
            far = ([w * rng.randrange(other // w) for _ in range(32)] if other
                   else [w * i for i in range(32)])
            yield 8, near, far
            yield 8, far, near
    for n in range(8):
        order = rng.sample(range(256), 32)
        yield 4, [w * i for i in order], [w * i for i in range(32)]
        yield 4, [w * i for i in range(32)], [w * i for i in order]
        yield 4, [w * i for i in order], [w * i for i in
                                          rng.sample(range(256), 32)]


def tiles(path):
    rng = random.Random(7)
    yield from known(path)
    for op, w in WIDTH.items():
        for n, near, far in places(rng, w):
            fills = list(masks(rng, n))
            for fill in {0, *rng.sample(fills, 3)}:
                yield [op, "%x" % FULL, "%x" % fill, *near, *far]
            act, fill = rng.sample(fills, 2)
            yield [op, "%x" % (FULL & ~act or 1), "%x" % fill, *near, *far]
            moved = [far[(i + 5) % 32] + 64 * w if fill >> i & 1 else far[i]
                     for i in range(32)]        # of lanes that only clear
            yield [op, "%x" % FULL, "%x" % fill, *near, *moved]
            yield [op, "%x" % FULL, "%x" % fill, *near, *far]


# ---- few lanes -------------------------------------------------------------

def few(rng, pairs, order=None, pad=0):
    """cp.async.cg of (global, shared) offsets; the other lanes repeat one."""
    lanes = list(pairs) + [pairs[pad]] * (32 - len(pairs))
    if order:
        rng.shuffle(lanes)
    return ["cpg16", "%x" % FULL, "0", *[b for _, b in lanes],
            *[a for a, _ in lanes]]


def lines():
    rng = random.Random(11)
    all_pairs = [(16 * c, 16 * d) for c in range(8) for d in range(8)]
    for i in range(64):
        for j in range(i):
            yield few(rng, [all_pairs[j], all_pairs[i]])
    for k in (3,) * 300 + (4,) * 300 + tuple(rng.randrange(5, 17)
                                             for _ in range(400)):
        near = rng.sample(range(8), min(k, 8))
        if rng.random() < .5 and k <= 8:
            far = rng.sample(range(8), k)
        else:
            far = [rng.randrange(8) for _ in near]
        yield few(rng, [(16 * a, 16 * b) for a, b in zip(far, near)])
    for _ in range(120):
        a, b = rng.sample(all_pairs, 2)
        yield few(rng, [a, (b[0], b[1] + 128)])
        yield few(rng, [a, (b[0] + 128, b[1])])
        yield few(rng, [a, (b[0] + 128, b[1] + 128)])
    for _ in range(400):
        near = rng.sample(range(16), rng.randrange(2, 9))
        yield few(rng, [(16 * rng.randrange(16), 16 * x) for x in near])
    for _ in range(100):
        k = rng.randrange(2, 9)
        near = rng.sample(range(16), k)
        far = [16 * rng.randrange(16) for _ in near]
        pairs = [(a, 16 * b) for a, b in zip(far, near)]
        yield few(rng, pairs)
        yield few(rng, pairs, order=True)
        yield few(rng, pairs[::-1])
        yield few(rng, pairs, pad=len(pairs) - 1)
    for _ in range(150):
        yield few(rng, [(16 * rng.randrange(8), 16 * rng.randrange(4))
                        for _ in range(rng.randrange(2, 6))])
    yield from branches(rng)


def branches(rng):
    for op, w in (("cpg16b", 16), ("cpa4b", 4), ("cpa8b", 8), ("cpa16b", 16)):
        for i in range(100 if op == "cpg16b" else 30):
            near = [(16 if i % 2 else w) * lane for lane in range(32)]
            far = [w * lane + i % 3 * w for lane in range(32)]
            if i % 5 == 0:
                rng.shuffle(near)
            active = [0xffff, 0xff, 0xf, 3, 1, 0x0fffffff, 0xffff0000,
                      rng.getrandbits(32) | 1][i % 8]
            fill = [0, 0, FULL, rng.getrandbits(32), 0xf0][i // 8 % 5]
            yield [op, "%x" % active, "%x" % fill, *near, *far]


# ---- predicates ------------------------------------------------------------

def shape(rng, w):
    lanes = range(32)
    k = rng.randrange(5)
    if k == 3:
        return ([w * x for x in rng.sample(range(64), 32)],
                [w * x for x in rng.sample(range(64), 32)])
    near = {2: [128 * i for i in lanes],
            4: [64 * (i // 4) + w * (i % 4) for i in lanes]}
    far = {1: [128 * (i // 2) + w * (i % 2) for i in lanes],
           4: [256 * (i // 4) + w * (i % 4) for i in lanes]}
    line = [w * i for i in lanes]
    return near.get(k, line), far.get(k, line)


def predicates():
    rng = random.Random(5)
    for op, count in (("cpg16p", 480), ("cpa4p", 120)):
        for _ in range(count):
            k = rng.randrange(6)
            fill = [0, FULL, 0xfc000000, rng.getrandbits(32),
                    rng.getrandbits(32), 0xffff0000][k]
            near, far = shape(rng, WIDTH[op[:-1]])
            yield [op, "%x" % FULL, "%x" % fill, *near, *far]


def main(what):
    seen = set()
    rows = {"lines": lines, "predicates": predicates}.get(
        what, lambda: tiles(what))()
    for row in rows:
        text = " ".join(map(str, row))
        if text not in seen or row[0][-1] == "p":
            seen.add(text)
            print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
