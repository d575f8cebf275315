#!/usr/bin/env python3
"""eval_vs_python.py - the stage evaluator held against CPython.

    eval_vs_python.py TOOL [--verbose] [FILE...]

TOOL is the program made of run_lang.c; FILEs are programs (default: all of
tests/lang/py). CPython runs each one, then TOOL; both must print the same
bytes and end alike (exit code 0 or not). Prints TAP.
"""
import argparse
import difflib
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, path):
    done = subprocess.run([*command, os.path.basename(path), "one", "--two=2"],
                          cwd=os.path.dirname(path), capture_output=True,
                          timeout=60)
    return done.stdout, done.returncode, done.stderr


def compare(tool, path):
    """None, or what differs."""
    want, code, errors = run([sys.executable, "-B"], path)
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
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    files = [os.path.abspath(f) for f in args.files] or sorted(
        glob.glob(os.path.join(HERE, "py", "*.py")))
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
