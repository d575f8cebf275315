#!/usr/bin/env python3
"""eval_vs_python.py - the stage evaluator held against CPython.

    eval_vs_python.py TOOL [--random N] [--seed S] [FILE...]

TOOL is the program made of run_lang.c; FILEs are programs (default: all of
tests/lang/py, and N programs of random operations). CPython runs each one,
then TOOL; both must print the same bytes and end alike (exit code 0 or not).
Prints TAP.
"""
import argparse
import difflib
import glob
import os
import subprocess
import sys
import tempfile

import random_programs

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, path):
    done = subprocess.run([*command, os.path.basename(path), "one", "--two=2"],
                          cwd=os.path.dirname(path), capture_output=True,
                          timeout=600)
    return done.stdout, done.returncode, done.stderr


def compare(tool, path):
    """None, or what differs."""
    want, code, errors = run([sys.executable, "-B", "-W", "ignore"], path)
    got, got_code, got_errors = run([tool], path)
    if want == got and (code == 0) == (got_code == 0):
        return None
    lines = difflib.unified_diff(
        want.decode(errors="replace").splitlines(),
        got.decode(errors="replace").splitlines(), "CPython", "tilesim",
        lineterm="", n=1)
    return "\n".join([*lines, f"exit codes {code}, {got_code}",
                      got_errors.decode(errors="replace"),
                      errors.decode(errors="replace")[-300:]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--random", type=int, default=4, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return check(args, folder)


def random_files(args, folder):
    out = []
    for seed in range(args.seed, args.seed + args.random):
        out.append(os.path.join(folder, f"random_{seed}.py"))
        with open(out[-1], "w", encoding="utf-8") as f:
            f.write(random_programs.program(seed, 2000))
    return out


def check(args, folder):
    tool = os.path.abspath(args.tool)
    files = [os.path.abspath(f) for f in args.files] or sorted(
        glob.glob(os.path.join(HERE, "py", "*.py"))) + random_files(args, folder)
    bad = 0
    print(f"1..{len(files)}")
    for i, path in enumerate(files, 1):
        name = os.path.basename(path)
        why = compare(tool, path)
        print(f"{'not ok' if why else 'ok'} {i} - {name}")
        if why:
            bad += 1
            for line in why.splitlines():
                print("# " + line)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
