#!/usr/bin/env python3
# check.py - runs the programs with tilesim and prints TAP.
#
#   check.py TILESIM TOP [SECTION...]
#
# Sections: python, truth, launches, scripts, threads, faults, tails. The truth
# is tests/data/programs; limits are those that a right program must keep:
# 1e-8 for the algorithm in f64, 1e-3 for an f16 output beside float64.
import json
import os
import py_compile
import subprocess
import sys
import tempfile

import faults

ALGORITHM, ROUNDED = 1e-8, 1e-3


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def check(self, name, why_not):
        """`why_not` is empty when all is well."""
        self.n += 1
        self.bad += bool(why_not)
        for line in str(why_not).splitlines() if why_not else []:
            print("#", line)
        print("not ok" if why_not else "ok", self.n, "-", name, flush=True)


class Checker:
    def __init__(self, tilesim, top):
        self.tilesim, self.top = tilesim, top
        self.tap = Tap()
        with open(self.path("programs", "configs.json")) as file:
            self.programs = json.load(file)["programs"]

    def path(self, *parts):
        return os.path.join(self.top, *parts)

    def program(self, name):
        return self.path("programs", self.programs[name]["file"])

    def call(self, *args):
        return subprocess.run([self.tilesim, *args], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def run(self, path, launch, *options):
        """(exit code, JSON document or None, text for a failing test)."""
        defines = [d for item in launch.split() for d in ("-D", item)]
        done = self.call("run", "--json", "-q", path, *defines, *options)
        try:
            return done.returncode, json.loads(done.stdout), done.stderr
        except ValueError:
            return done.returncode, None, done.stdout + done.stderr


def outputs(document):
    return [o for launch in document["launches"] for o in launch["outputs"]]


def right(code, document, text):
    """Why this is not the run of a right program."""
    if code != 0 or document is None:
        return f"exit {code}\n{text}"
    for o in outputs(document):
        rel = o["algorithm"]["rel"]
        if not rel < ALGORITHM:
            return f"{o['name']}: algorithm error {rel}"
    return "" if outputs(document) else "no output was judged"


def wrong(code, document, text):
    """Why this is not a report of a wrong output and where."""
    if code != 1 or document is None:
        return f"exit {code}\n{text}"
    bad = [o for o in outputs(document) if not o["ok"]]
    if not bad:
        return "no output is called wrong"
    if not all(isinstance(i, int) for i in bad[0]["mismatch"]["first"]):
        return "no first index"
    return ""


# ---- sections ----------------------------------------------------------------

def python(c):
    names = [c.program(name) for name in c.programs]
    names.append(c.path("tests", "programs", "mla_unmasked.tile"))
    with tempfile.TemporaryDirectory() as out:
        for path in names:
            try:
                py_compile.compile(path, os.path.join(out, "x"), doraise=True)
                why = ""
            except py_compile.PyCompileError as error:
                why = error
            c.tap.check(f"{os.path.basename(path)} is Python", why)


def truth(c):
    folder = c.path("tests", "data", "programs")
    for file in sorted(f for f in os.listdir(folder) if f.endswith(".txt")):
        case = file[:-4]
        name = case.rsplit("-", 1)[0]
        tensors = os.path.join(folder, case + ".safetensors")
        with open(os.path.join(folder, file)) as launch:
            line = launch.read()
        result = "C" if name == "gemm" else "Output"
        given = {"gemm": "AB"}.get(name, ["Q", "Q_pe", "KV", "K_pe"]
                                   if name.startswith("mla") else "QKV")
        options = [o for t in given for o in ("--in", f"{t}={tensors}")]
        code, document, text = c.run(c.program(name), line, *options,
                                     "--expect", f"{result}={tensors}")
        why = right(code, document, text)
        if not why:
            o = outputs(document)[0]
            sums = o["expect_rel"], o["expect_reference_rel"]
            if not max(sums) < ROUNDED:
                why = "program, reference against torch: %g, %g" % sums
        c.tap.check(f"{case}: program and reference agree with torch", why)


def launches(c):
    for name, entry in c.programs.items():
        lines = [line for s in ("default", "must", "odd")
                 for line in entry["sizes"][s]]
        for line in dict.fromkeys(lines):
            c.tap.check(f"{name} {line}",
                        right(*c.run(c.program(name), line)))


def scripts(c):
    for name in c.programs:
        done = c.call("run", "-q", c.program(name))
        why = "" if done.returncode == 0 and "All checks pass." in done.stdout \
            else f"exit {done.returncode}\n{done.stdout}{done.stderr}"
        c.tap.check(f"{name}: its script passes", why)


def threads(c):
    for name, entry in c.programs.items():
        line = entry["sizes"]["odd"][2]
        defines = [d for item in line.split() for d in ("-D", item)]
        result = "C" if name == "gemm" else "Output"
        seen = set()
        with tempfile.TemporaryDirectory() as out:
            for jobs in "1", "2", "7":
                file = os.path.join(out, jobs + ".npy")
                c.call("run", "-q", "--no-ref", "-j", jobs, c.program(name),
                       *defines, "--out", f"{result}={file}")
                with open(file, "rb") as npy:
                    seen.add(npy.read())
        c.tap.check(f"{name}: the same bytes on 1, 2 and 7 threads",
                    "" if len(seen) == 1 else f"{len(seen)} results")


FAULT_SIZES = {
    "fa": ["", "heads=2 seq_len=4096", "heads=1 seq_len=8192"],
    "mha_fwd_bhsd": ["", "heads=2 seq_q=4096 seq_kv=4096",
                     "heads=1 seq_q=8192 seq_kv=8192"],
}


def fault_runs(c):
    with tempfile.TemporaryDirectory() as out:
        faults.write(c.path("programs"), out)
        for program, fault, where, _ in faults.FAULTS:
            path = os.path.join(out, f"{program}-{fault}.tile")
            for size in FAULT_SIZES[program]:
                for causal in "True", "False":
                    line = f"{size} is_causal={causal}".strip()
                    shows = where == faults.ALWAYS or causal == "True"
                    judge = wrong if shows else right
                    c.tap.check(f"{program} with {fault}, {line}: "
                                + ("wrong" if shows else "right"),
                                judge(*c.run(path, line)))


def tails(c):
    path = c.path("tests", "programs", "mla_unmasked.tile")
    for line, judge in (("seqlen_kv=8192", right), ("seqlen_kv=8000", wrong),
                        ("seqlen_kv=4098", wrong), ("seqlen_kv=1000", wrong)):
        c.tap.check(f"mla_unmasked {line}: {judge.__name__}",
                    judge(*c.run(path, line)))
    for seqlen_kv, expected in (1024, 24), (2048, 8):
        code, document, text = c.run(path, f"seqlen_kv={seqlen_kv}",
                                     "--sweep", "autotune")
        why = text if document is None else ""
        if document:
            runs = document["launches"]
            bad = sum(launch["exit"] != 0 for launch in runs)
            if (code, len(runs), bad) != (1, 192, expected):
                why = f"exit {code}, {bad} of {len(runs)} wrong"
        c.tap.check(f"mla_unmasked seqlen_kv={seqlen_kv}: {expected} of its "
                    "192 configurations are wrong", why)


SECTIONS = {"python": python, "truth": truth, "launches": launches,
            "scripts": scripts, "threads": threads, "faults": fault_runs,
            "tails": tails}


def main(args):
    if len(args) < 2 or not set(args[2:]) <= set(SECTIONS):
        sys.exit("usage: check.py TILESIM TOP [SECTION...]")
    checker = Checker(args[0], args[1])
    for name in args[2:] or SECTIONS:
        SECTIONS[name](checker)
    print(f"1..{checker.tap.n}")
    sys.exit(1 if checker.tap.bad else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
