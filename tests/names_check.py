#!/usr/bin/env python3
# names_check.py - every name of T.* that upstream uses is taken, or refused by
# name: tests/data/names.tsv.
#
#   names_check.py TILESIM TOP
import os
import subprocess
import sys
import tempfile

PROGRAM = '''import tilelang
import tilelang.language as T


def macro_of(annotation):
    @T.macro
    def inner(x: annotation):
        T.evaluate(0)

    return inner


@T.prim_func
def main(
        A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32"),
        P: T.Tensor((128,), "float32"), I: T.Tensor((64,), "int32"),
        U: T.Tensor((64,), "uint32"), W: T.Tensor((64,), "uint64"),
        E: T.Tensor((64, 4), "int16"),
        IMG: T.Tensor((1, 8, 8, 64), "float16"),
        B8: T.Tensor((64,), "int8"){parameter},
):
    with T.Kernel(1, threads=128, prelude="// text") as bx:
        tx = T.get_thread_binding(0)
        As = T.alloc_shared((64, 64), "float16")
        Bs = T.alloc_shared((64, 64), "float16")
        Ss = T.alloc_shared((64, 32), "float16")
        SH = T.alloc_shared((128,), "float32")
        acc = T.alloc_fragment((64, 64), "float32")
        v = T.alloc_fragment((64,), "float32")
        loc = T.alloc_local((16,), "int32")
        one = T.alloc_local((1,), "float32")
        bar = T.alloc_barrier([128])
        {statement}
'''

# Names that only an eager kernel has.
EAGER = '''import tilelang
import tilelang.language as T


@tilelang.jit
def main(A):
    {statement}
    A: T.Tensor([n], "float32")
    B = T.empty((4,), dtype="float32")
    with T.Kernel(1, threads=32):
        B[0] = A[0]
    return B
'''
EAGER_NAMES = ("const", "empty", "dynamic", "symbolic")


def program(name, text):
    if name in EAGER_NAMES:
        sizes = text[1:] if name != "empty" else 'n = T.const("n")'
        return EAGER.format(statement=sizes), ["-D", "n=4"]
    parameter = ""
    if text.startswith("="):
        parameter, _, text = text[1:].partition("; ")
        parameter = ",\n        " + parameter
    return PROGRAM.format(parameter=parameter,
                          statement=text.lstrip("!") or "pass"), []


def check(tilesim, path, name, text):
    source, defines = program(name, text)
    with open(path, "w") as file:
        file.write(source)
    done = subprocess.run([tilesim, "dump", "--stage=code", path, *defines],
                          text=True, stdin=subprocess.DEVNULL,
                          capture_output=True)
    if not text.startswith("!"):
        return "" if done.returncode == 0 else \
            f"exit {done.returncode}\n{done.stderr}"
    named = f"T.{name}" in done.stderr and "not supported" in done.stderr
    return "" if done.returncode == 4 and named else \
        f"exit {done.returncode}, not refused by name\n{done.stderr}"


def main(tilesim, top):
    with open(os.path.join(top, "tests", "data", "names.tsv")) as file:
        rows = [line.rstrip("\n").split("\t") for line in file
                if not line.startswith("#")]
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        for n, (name, where, text) in enumerate(rows, 1):
            why = check(tilesim, os.path.join(work, "names.tile"), name, text)
            bad += bool(why)
            for line in why.splitlines()[:8]:
                print("#", line)
            what = "is refused by name" if text.startswith("!") else "is taken"
            print("not ok" if why else "ok", n, f"- T.{name} {what} ({where})")
    print(f"1..{len(rows)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
