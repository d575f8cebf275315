#!/usr/bin/env python3
"""patterns.py - rows for access.cu: one warp instruction each, fixed seed.

    patterns.py > rows.txt

A row is the op, the mask of active lanes and 32 byte offsets each of shared
and global memory, aligned to the op's width. For cp.async the two sides get
different patterns in turn.
"""
import random

WIDTH = {"ldg8": 1, "ldg16": 2, "ldg32": 4, "ldg64": 8, "ldg128": 16,
         "stg8": 1, "stg16": 2, "stg32": 4, "stg64": 8, "stg128": 16,
         "cpa4": 4, "cpa8": 8, "cpa16": 16, "cpg16": 16,
         "atoms_add32": 4, "reds_max32": 4, "atoms_exch32": 4,
         "atoms_cas32": 4, "atoms_exch64": 8, "atoms_cas64": 8,
         "reds_add64": 8, "redg_add32": 4, "redg_addf32": 4,
         "redg_add64": 8, "redg_addf16x2": 4, "redg_addv2f32": 8,
         "redg_addv4f32": 16, "atomg_add32": 4, "lds32": 4, "sts128": 16}
SHARED = 64 << 10
FULL = 0xffffffff


def patterns(w, rng):
    """Lists of 32 offsets below SHARED, multiples of w."""
    yield [w * i for i in range(32)]
    yield [0] * 32
    yield [w * (31 - i) for i in range(32)]
    for shift in (w, 32, 64, 96, 128 - w, 16):
        if shift % w == 0:
            yield [shift + w * i for i in range(32)]
    for stride in (2, 3, 4, 5, 8, 16, 17, 32, 33, 64):
        if stride * w * 31 < SHARED:
            yield [w * stride * i for i in range(32)]
    for pitch in (64, 128, 132, 136, 144, 256, 264, 272, 512):
        if pitch % w:
            continue
        yield [pitch * (i // 8) + w * (i % 8) for i in range(32)]
        yield [pitch * (i % 8) + w * (i // 8) for i in range(32)]
        yield [pitch * (i % 16) + w * (i // 16) for i in range(32)]
    for bits in (1, 2, 4, 8, 16):
        yield [w * (i ^ bits) for i in range(32)]
        yield [w * (i & ~bits) for i in range(32)]
    yield [128 * (i // 8) + 16 * ((i % 8) ^ (i // 8)) // w * w
           for i in range(32)]
    order = list(range(32))
    rng.shuffle(order)
    yield [w * i for i in order]
    for span in (64, 256, 1024, 4096, 32768):
        yield [w * rng.randrange(max(1, span // w)) for i in range(32)]


def masks(rng, k):
    if k % 3 == 0:
        return FULL
    return (0xffff, 0xffff0000, 0x55555555, 0x0f0f0f0f, 0xff, 1 << 31,
            0x80000001, rng.getrandbits(32), rng.getrandbits(32) | 1)[k % 9]


def main():
    rng = random.Random(1)
    rows = []
    for op, w in WIDTH.items():
        rows.append([op, "0", *[0] * 64])       # what the kernel alone costs
        known = list(patterns(w, rng))
        for k, lanes in enumerate(known):
            other = known[(7 * k + 3) % len(known)]
            for mask in {FULL, masks(rng, k)}:
                rows.append([op, f"{mask:x}", *lanes,
                             *(other if op.startswith("cp") else lanes)])
                if op.startswith("cp") and mask == FULL:
                    rows.append([op, f"{mask:x}", *lanes, *known[0]])
                    rows.append([op, f"{mask:x}", *known[0], *lanes])
    rng.shuffle(rows)                           # any part of them is fair
    for row in rows:
        print(*row)


if __name__ == "__main__":
    main()
