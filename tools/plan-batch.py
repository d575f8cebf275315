#!/usr/bin/env python3
"""plan-batch.py - a batch of unseen cases for plans.

Usage: plan-batch.py SEED COUNT [PREFIX] >CASES

Draws arguments for the kernels of tests/plan. The lines are those of
tests/plan/cases.txt: tools/upstream-plan.py makes facts of them, and plan.tap
compares (CASES=... TABLE=... tests/plan.tap).
"""
import random
import sys

KERNELS, MORE, AREAS = ("tests/plan/%s.tile" % n
                        for n in ("kernels", "more", "areas"))
WARPS = ["Square", "FullRow", "FullCol"]
ROWS = [16, 32, 48, 64, 64, 80, 96, 112, 128, 128, 192, 256]
COLUMNS = [16, 32, 48, 64, 64, 80, 96, 112, 128, 128, 160, 192, 256]
THREADS = [64, 128, 128, 128, 256, 256]

# kernel: file and, for each argument, what it may be.
SPACE = {
    "gemm": (KERNELS, dict(
        bM=ROWS, bN=COLUMNS, bK=[16, 32, 32, 48, 64, 64, 128],
        dtype=["float16", "float16", "bfloat16"], tA=[False, False, True],
        tB=[False, True], policy=WARPS, stages=[0, 1, 2, 3, 4],
        threads=THREADS, epilogue=["shared", "direct"])),
    "gemm:8": (KERNELS, dict(
        bM=ROWS, bN=COLUMNS, bK=[32, 64, 64, 128],
        dtype=["float8_e4m3fn", "float8_e5m2"], tB=[True],
        out=["float16", "float32"], policy=WARPS, stages=[0, 1, 2, 3],
        threads=THREADS, epilogue=["shared", "direct"])),
    "gemm:i8": (KERNELS, dict(
        bM=ROWS, bN=COLUMNS, bK=[32, 64, 64, 128], dtype=["int8"],
        accum=["int32"], out=["int32"], tB=[True], policy=WARPS,
        stages=[0, 1, 2], threads=THREADS, epilogue=["shared", "direct"])),
    "gemm:f32": (KERNELS, dict(
        bM=ROWS, bN=COLUMNS, bK=[16, 32], dtype=["float32"], out=["float32"],
        tB=[True, False], policy=WARPS, stages=[0, 2, 3], threads=THREADS,
        epilogue=["shared", "direct"])),
    "gemm_no_ws": (KERNELS, dict(
        bM=ROWS, bN=COLUMNS, bK=[16, 32, 64], stages=[0, 1, 2, 3, 4],
        threads=THREADS, dtype=["float16", "bfloat16"])),
    "gemm_rs": (KERNELS, dict(
        bM=ROWS, bN=COLUMNS, bK=[16, 32, 64], stages=[0, 1, 2, 3],
        threads=THREADS)),
    "through_shared": (KERNELS, dict(
        bM=[16, 24, 32, 64, 96, 128], bN=[16, 24, 32, 48, 64, 128],
        dtype=["float16", "float32", "int8", "bfloat16"], threads=THREADS)),
    "add": (KERNELS, dict(
        bM=[8, 16, 32, 64], bN=[16, 32, 48, 64, 128],
        dtype=["float16", "float32"], threads=THREADS)),
    "softmax": (KERNELS, dict(
        bM=[1, 2, 4, 8, 16, 32], N=[64, 128, 256, 512, 1024],
        threads=THREADS, dtype=["float16", "float32"])),
    "column_sum": (KERNELS, dict(
        bM=[16, 32, 64, 128], bN=[16, 32, 64, 128], threads=THREADS,
        dtype=["float16", "float32"])),
    "three_tiles": (KERNELS, dict(
        bM=[16, 32, 64], bN=[16, 32, 64], threads=THREADS)),
    "split_k": (KERNELS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64], split=[2, 4],
        stages=[0, 1, 2, 3], threads=THREADS)),
    "dequant": (KERNELS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64, 128],
        stages=[0, 1, 2, 3], threads=THREADS)),
    "two_loops": (KERNELS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64],
        stages=[0, 1, 2, 3], threads=THREADS)),
    "attention": (KERNELS, dict(
        D=[32, 64, 128], bM=[64, 128], bN=[32, 64, 128],
        stages=[0, 1, 2, 3], threads=[128, 256])),
    "mixed_copies": (MORE, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64],
        stages=[1, 2, 3], threads=THREADS)),
    "persistent": (MORE, dict(
        bM=[64, 128], bN=[64, 128], bK=[32, 64], stages=[0, 1, 2, 3],
        threads=THREADS)),
    "row_norm": (MORE, dict(
        bM=[1, 2, 4, 8, 16], N=[128, 256, 512, 1024], threads=THREADS)),
    "middle": (MORE, dict(
        H=[2, 4, 8], D=[32, 64, 128], bM=[8, 16, 32], threads=THREADS)),
    "gemm_rowsum": (MORE, dict(
        bM=[32, 64, 128], bN=[32, 64, 128, 256], bK=[32, 64],
        stages=[0, 2, 3], threads=THREADS, policy=[0, 1, 2])),
    "gemm_colmax": (MORE, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64], threads=THREADS)),
    "twice": (MORE, dict(
        D=[64, 128], bM=[64, 128], bN=[32, 64, 128], stages=[0, 1, 2],
        threads=[128, 256])),
    "biased": (MORE, dict(
        bM=[32, 64, 128], bN=[64, 128], bK=[16, 32, 64],
        stages=[0, 1, 2, 3], threads=THREADS, extra=[4, 24, 40, 64])),
    "stream": (MORE, dict(
        bM=[16, 32, 64], bN=[64, 128, 256], stages=[0, 1, 2, 3, 4],
        threads=THREADS)),
    "gate_up": (AREAS, dict(
        bM=[32, 64, 128], bN=[32, 64, 96, 128], bK=[32, 64],
        stages=[0, 1, 2, 3], threads=THREADS, policy=WARPS)),
    "scaled": (AREAS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64, 128],
        stages=[0, 1, 2, 3], threads=THREADS, policy=WARPS)),
    "skipping": (AREAS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64],
        stages=[0, 1, 2, 3], threads=THREADS)),
    "nested": (AREAS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64],
        stages=[0, 1, 2, 3], threads=THREADS, policy=WARPS)),
    "unpack": (AREAS, dict(
        bM=[32, 64, 128], bN=[32, 64, 128], bK=[32, 64, 128],
        stages=[0, 1, 2, 3], threads=THREADS)),
    "reduced": (AREAS, dict(
        bM=[4, 8, 16, 32, 64], bN=[32, 64, 128, 256], dim=[0, 1],
        op=["sum", "absmax", "min"], threads=THREADS,
        through=[True, False], dtype=["float16", "float32"])),
    "cube": (AREAS, dict(
        bB=[1, 2, 4], bM=[8, 16, 32], bN=[16, 32, 64], threads=THREADS,
        swap=[True, False], dtype=["float16", "float32", "int8"])),
    "edges": (AREAS, dict(
        M=[250, 256, 255], N=[248, 250, 256, 255], bM=[16, 32, 48, 64],
        bN=[32, 48, 64, 96, 128], threads=THREADS,
        way=["shared", "fragment", "both"],
        dtype=["float16", "float32", "int8"])),
    "counted": (AREAS, dict(
        bM=[16, 32, 64], bN=[32, 64, 128], threads=THREADS,
        dtype=["float16", "float32"])),
    "laid_out": (AREAS, dict(
        bM=[64, 128], bN=[64, 128], bK=[32, 64], stages=[0, 1, 2, 3],
        threads=THREADS, panel=[4, 10], layout=["swizzled", "padded"])),
    "scores": (AREAS, dict(
        D=[32, 64, 128], bM=[64, 128], bN=[32, 64, 128], stages=[0, 1, 2],
        threads=[128, 256], policy=["FullRow", "Square", "FullCol"],
        back=["fragment", "shared"])),
    "two_passes": (AREAS, dict(
        bM=[1, 2, 4, 8], bN=[64, 128, 256, 512], stages=[0, 1, 2, 3],
        threads=THREADS)),
}


def main():
    draw = random.Random(int(sys.argv[1]))
    prefix = sys.argv[3] if len(sys.argv) > 3 else f"b{sys.argv[1]}"
    names = sorted(SPACE)
    for i in range(int(sys.argv[2])):
        name = names[i % len(names)]
        path, space = SPACE[name]
        chosen = [f"{k}={draw.choice(v)}" for k, v in space.items()]
        print(f"{prefix}-{i}", path, name.split(":")[0], *chosen)


if __name__ == "__main__":
    main()
