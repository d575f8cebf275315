#!/usr/bin/env python3
# check.py - runs the programs with tilesim and prints TAP.
#
#   check.py TILESIM TOP [SECTION...]
#
# Sections: python, truth, odd, scripts, threads, faults, tails, checks, and
# those that take minutes: launches, faults-long, tails-long, checks-long. Without one: all but these.
# The truth is tests/data/programs; limits are those that a right program must
# keep: 1e-8 for the algorithm in f64, 1e-3 for an f16 output beside float64.
import json
import os
import py_compile
import re
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

    def call(self, *args, environment=None):
        return subprocess.run([self.tilesim, *args], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, **(environment or {})})

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
    name, shape = bad[0]["name"], bad[0]["shape"]
    first = bad[0]["mismatch"].get("first", [])
    if len(first) != len(shape) or any(
            not 0 <= i < n for i, n in zip(first, shape)):
        return f"{name}: no first index, {first}"
    size = bad[0]["algorithm"]["rel"]
    if size != "inf" and not size > 100 * ALGORITHM:
        return f"{name}: no size of the error, {size}"
    return ""


def wrong_in_words(path, done):
    """The report for people names the tensor, its first index and the size."""
    text = done.stdout
    found = re.search(r"error: (\w+) is not what ref_program computes: it "
                      r"differs by ([\d.e+-]+|inf) even in f64", text)
    if done.returncode != 1 or not found:
        return f"exit {done.returncode}\n{text}{done.stderr}"
    if not re.search(r"\n  first +%s\[[\d,]+\]  expected " % found[1], text):
        return "no first index\n" + text
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


def tensor_names(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return [n for n in json.loads(file.read(size)) if n[0] != "_"]


def truth(c):
    folder = c.path("tests", "data", "programs")
    for file in sorted(f for f in os.listdir(folder) if f.endswith(".txt")):
        case = file[:-4]
        name = case.rsplit("-", 1)[0]
        tensors = os.path.join(folder, case + ".safetensors")
        with open(os.path.join(folder, file)) as launch:
            line = launch.read()
        results = c.programs[name]["outputs"]
        given = [n for n in tensor_names(tensors) if n not in results]
        options = [o for t in given for o in ("--in", f"{t}={tensors}")]
        options += [o for t in results for o in ("--expect", f"{t}={tensors}")]
        code, document, text = c.run(c.program(name), line, *options)
        why = right(code, document, text)
        for o in outputs(document) if not why else []:
            sums = o["expect_rel"], o["expect_reference_rel"]
            if not max(sums) < ROUNDED:
                why = f"{o['name']}: program, reference against torch: " \
                    "%g, %g" % sums
        c.tap.check(f"{case}: program and reference agree with torch", why)


def all_right(c, *sizes):
    for name, entry in c.programs.items():
        lines = [line for s in sizes for line in entry["sizes"][s]]
        for line in dict.fromkeys(lines):
            c.tap.check(f"{name} {line}",
                        right(*c.run(c.program(name), line)))


def odd(c):
    all_right(c, "small", "odd")


def launches(c):
    all_right(c, "default", "must")


def scripts(c):
    for name in c.programs:
        done = c.call("run", "-q", c.program(name))
        why = "" if done.returncode == 0 and "All checks pass." in done.stdout \
            else f"exit {done.returncode}\n{done.stdout}{done.stderr}"
        c.tap.check(f"{name}: its script passes", why)


def silent(c, *sizes):
    """`tilesim check` finds nothing in any launch of these sizes."""
    for name, entry in c.programs.items():
        wrong = ""
        for line in [l for size in sizes for l in entry["sizes"][size]]:
            defines = [d for item in line.split() for d in ("-D", item)]
            done = c.call("check", "--one-line", "-q", c.program(name),
                          *defines)
            if done.returncode or done.stdout or done.stderr:
                wrong += (f"{line}: exit {done.returncode}\n{done.stdout}"
                          f"{done.stderr}")
        c.tap.check(f"{name}: no finding at {', '.join(sizes)} sizes", wrong)


def silent_sweep(c, name, size, settings, allowed=""):
    """Nor in any launch of a sweep, but for the ids that are allowed."""
    given = {item.split("=")[0] for item in size.split()}
    defines = [d for item in size.split() for d in ("-D", item)]
    settings = " ".join(s for s in settings.split()
                        if s.split("=")[0] not in given)
    if not settings:
        return
    done = c.call("check", "--json", "-q", c.program(name), *defines,
                  "--sweep", settings)
    try:
        document = json.loads(done.stdout)
        why = "\n".join(f"{f['file']}:{f['line']}: {f['message']} [{f['id']}]"
                        for f in document["findings"] if f["id"] != allowed)
        if not document["launches"] or done.returncode not in (0, 1):
            why += f"exit {done.returncode}\n{done.stderr}"
    except ValueError:
        why = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    c.tap.check(f"{name}: no finding at {size}, {settings}", why)


# The files' own configurations, at sizes that are soon run.
TUNED = (("fa", "heads=1 seq_len=70 dim=32 is_causal=True"),
         ("mla_decode", "heads=64 seqlen_kv=70 dim=32 pe_dim=16"))


def checks(c):
    silent(c, "small", "odd")
    for name, entry in c.programs.items():
        silent_sweep(c, name, entry["sweep"]["size"],
                     entry["sweep"]["settings"])
    for name, size in TUNED:
        silent_sweep(c, name, size, "autotune")


# A block_K of 16 is half of what a matrix instruction takes of 8-bit floats:
# gemm-k says so, and is right.
def is_half(name, size):
    return name == "gemm" and "float8" in size


def checks_long(c):
    silent(c, "default", "must")
    for name, entry in c.programs.items():
        for size in entry["sizes"]["odd"]:
            silent_sweep(c, name, size, entry["sweep"]["settings"],
                         "gemm-k" if is_half(name, size) else "")
    for name, _ in TUNED:
        silent_sweep(c, name, "", "autotune")


# What must not change a bit of a result: options and environment.
VARIANTS = [(["-j", "1"], {}), (["-j", "2"], {}), (["-j", "7"], {}),
            ([], {"TILESIM_ISA": "generic"}), ([], {"TILESIM_ISA": "avx2"}),
            ([], {"TILESIM_ISA": "avx512"}), ([], {"TILESIM_XSMM": "0"}),
            (["-j", "3"], {"TILESIM_ISA": "generic", "TILESIM_XSMM": "0"})]


def result_bytes(c, name, line, file, options, environment):
    """The outputs as a file, or None where this machine has no such thing."""
    defines = [d for item in line.split() for d in ("-D", item)]
    done = c.call("run", "-q", "--no-ref", *options, c.program(name), *defines,
                  "--out", file, environment=environment)
    if "this machine does not have it" in done.stderr:
        return None
    if done.returncode:
        return f"exit {done.returncode} {done.stderr}".encode()
    with open(file, "rb") as tensors:
        return tensors.read()


def threads(c):
    for name, entry in c.programs.items():
        odd_lines = entry["sizes"]["odd"]
        full = [*entry["sizes"]["small"], odd_lines[2]]
        # The other odd sizes and dtypes: the number of threads only.
        lines = {**{line: VARIANTS[:3] for line in odd_lines},
                 **{line: VARIANTS for line in full}}
        for line, variants in lines.items():
            with tempfile.TemporaryDirectory() as out:
                seen = {result_bytes(c, name, line,
                                     os.path.join(out, f"{n}.safetensors"),
                                     *variant)
                        for n, variant in enumerate(variants)} - {None}
            failed = [s.decode() for s in seen if s.startswith(b"exit ")]
            c.tap.check(f"{name} {line}: the same bytes for any number of "
                        "threads and instruction set",
                        failed[0] if failed else
                        "" if len(seen) == 1 else f"{len(seen)} results")


# Of the programs that have several faults; the others have one small launch.
FAULT_SIZES = {
    "fa": ["", "heads=2 seq_len=4096", "heads=1 seq_len=8192"],
    "mha_fwd_bhsd": ["", "heads=2 seq_q=4096 seq_kv=4096",
                     "heads=1 seq_q=8192 seq_kv=8192"],
}


# The error in f64 that a fault makes in attention without a mask, by the NumPy
# model (tests/oracle/programs.py faults); it varies little with size and seed.
MODEL = {"scale-10-percent": 3.6e-2, "scale-without-log2e": 1.05e-1,
         "no-rescale-acc_o": 1.8e-1, "no-rescale-row-sum": 1.03e-1}


def as_modelled(fault, code, document, text):
    why = wrong(code, document, text)
    rel = 0 if why else outputs(document)[0]["algorithm"]["rel"]
    if not why and not 0.8 < rel / MODEL[fault] < 1.25:
        why = f"error {rel:g}, but the model says {MODEL[fault]:g}"
    return why


def fault_lines(c, program, sizes):
    """The launches that show a fault of this program."""
    if program not in FAULT_SIZES:
        return c.programs[program]["sizes"]["small"][:1] if sizes.start == 0 \
            else []
    return [f"{size} is_causal={causal}".strip()
            for size in FAULT_SIZES[program][sizes]
            for causal in ("True", "False")]


# Heads are fewer at the longer sizes: each is wrong in the same way.
def fault_runs(c, sizes):
    with tempfile.TemporaryDirectory() as out:
        faults.write(c.path("programs"), out)
        for program, fault, where, _ in faults.FAULTS:
            path = os.path.join(out, f"{program}-{fault}.tile")
            for line in fault_lines(c, program, sizes):
                full = line.endswith("is_causal=False")
                shows = where == faults.ALWAYS or not full
                done = c.run(path, line)
                if program in FAULT_SIZES and fault in MODEL and full:
                    why = as_modelled(fault, *done)
                else:
                    why = wrong(*done) if shows else right(*done)
                c.tap.check(f"{program} with {fault}, {line}: "
                            + ("wrong" if shows else "right"), why)


def fault_reports(c):
    small = {"fa": "heads=2 seq_len=300 dim=64 is_causal=True",
             "mha_fwd_bhsd": "heads=2 seq_q=300 seq_kv=300 dim=64"}
    with tempfile.TemporaryDirectory() as out:
        faults.write(c.path("programs"), out)
        for program, fault, _, _ in faults.FAULTS:
            path = os.path.join(out, f"{program}-{fault}.tile")
            line = small.get(program) or \
                c.programs[program]["sizes"]["small"][0]
            defines = [d for item in line.split() for d in ("-D", item)]
            c.tap.check(f"{program} with {fault}: reported in words",
                        wrong_in_words(path, c.call("run", path, *defines)))


def faults_default(c):
    fault_reports(c)
    fault_runs(c, slice(0, 1))


def faults_long(c):
    fault_runs(c, slice(1, None))


def tail_sweep(c, seqlen_kv, expected):
    path = c.path("tests", "programs", "mla_unmasked.tile")
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


def tails(c):
    path = c.path("tests", "programs", "mla_unmasked.tile")
    for line, judge in (("seqlen_kv=8192", right), ("seqlen_kv=8000", wrong),
                        ("seqlen_kv=4098", wrong), ("seqlen_kv=1000", wrong)):
        c.tap.check(f"mla_unmasked {line}: {judge.__name__}",
                    judge(*c.run(path, line)))
    tail_sweep(c, 1024, 24)


def tails_long(c):
    tail_sweep(c, 2048, 8)


SECTIONS = {"python": python, "truth": truth, "odd": odd, "scripts": scripts,
            "threads": threads, "faults": faults_default, "tails": tails,
            "checks": checks}
LONG = {"checks-long": checks_long, "launches": launches, "faults-long": faults_long,
        "tails-long": tails_long}


def main(args):
    every = {**SECTIONS, **LONG}
    if len(args) < 2 or not set(args[2:]) <= set(every):
        sys.exit("usage: check.py TILESIM TOP [SECTION...]")
    checker = Checker(args[0], args[1])
    for name in args[2:] or SECTIONS:
        every[name](checker)
    print(f"1..{checker.tap.n}")
    sys.exit(1 if checker.tap.bad else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
