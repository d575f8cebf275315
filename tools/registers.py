#!/usr/bin/env python3
"""registers.py - what kernels take of registers, and what lds-report estimates.

Usage: registers.py TILESIM measure UPSTREAM >TABLE
       registers.py TILESIM table TABLE

measure: each program in the settings of programs/configs.json is translated by
`tilesim gpu` and compiled for sm_90a and sm_80 (NVRTC tells what ptxas allots)
and for gfx942 (clang). UPSTREAM is what upstream-registers.py has printed, for
upstream's own kernels. The table is tests/data/plan/registers.tsv:

    code  program or case  target  launch  registers  bytes spilled  settings

A thread of the MI300X has 512 registers, half of them for accumulation; both
count. table: how far off `tilesim lds-report` is, as docs/lds-report.md has it.
An estimate beyond what a thread of such a block can have is cut there.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# vgpr_count has those for accumulation too: on gfx942 they are one file.
ISA = re.compile(r"\.name: +(tilesim_\w+)\n.*?\.vgpr_count: +(\d+)\n.*?"
                 r"\.vgpr_spill_count: +(\d+)\n", re.S)
SIZES = "default", "bench", "must"


def settings_of(program):
    base = program["sizes"]["default"][0]
    lines = [base] + [base + " " + t for t in program["targets"].values()]
    lines += [s for kind in SIZES for s in program["sizes"].get(kind, [])[:2]]
    return list(dict.fromkeys(lines))


def call(tilesim, *words):
    done = subprocess.run([tilesim, *words], text=True, capture_output=True)
    return done.stdout if done.returncode in (0, 5) else None


def compiled(tilesim, words, target):
    """[(registers, spilled)] by launch, or None where there is no code."""
    if target != "mi300x":
        out = call(tilesim, "gpu", "--build-only", "--json", "--target",
                   target, *words)
        if not out:
            return None
        kernels = json.loads(out)["launches"][0]["build"]["kernels"]
        found = [(k["symbol"], k["registers"], k["spill_bytes"])
                 for k in kernels]
    else:
        with tempfile.NamedTemporaryFile(suffix=".co") as f:
            if call(tilesim, "gpu", "--emit", "isa", "--target", target, "-o",
                    f.name, *words) is None:
                return None
            notes = subprocess.run(["llvm-readelf-19", "--notes", f.name],
                                   text=True, capture_output=True).stdout
        found = [(name, int(count), 4 * int(spilled))
                 for name, count, spilled in ISA.findall(notes)]
    order = sorted(found, key=lambda k: int(k[0].rsplit("_", 1)[1]))
    return [k[1:] for k in order]


def estimates(tilesim, words, target, rules):
    out = call(tilesim, "lds-report", "--json", "--as", rules, "--target",
               target, *words)
    if not out:
        return None
    launches = json.loads(out)["kernels"][0]["launches"]
    all_of = [l["targets"][0]["registers"] for l in launches]
    return [min(r["needed"], r["most"]) for r in all_of]


def words_of(file, kernel, settings):
    return [os.path.join(TOP, file), "--kernel", kernel,
            *(w for s in settings for w in ("-D", s))]


def programs_of():
    with open(os.path.join(TOP, "programs", "configs.json")) as f:
        return json.load(f)["programs"]


def cases_of():
    with open(os.path.join(TOP, "tests", "plan", "cases.txt")) as f:
        return {line.split()[0]: line.split()[1:] for line in f
                if line.strip() and line[0] != "#"}


def measure(tilesim, upstream):
    print("# code\tprogram\ttarget\tlaunch\tregisters\tspilled\tsettings")
    seen = set()
    for name, p in programs_of().items():
        for settings in settings_of(p):
            words = words_of("programs/" + p["file"], p["kernel"],
                             settings.split())
            for target in "h100", "a100", "mi300x":
                taken = compiled(tilesim, words, target)
                for i, registers in enumerate(taken or []):
                    row = (name, target, i, *registers)
                    if row not in seen:
                        print("tilesim", *row, settings, sep="\t", flush=True)
                    seen.add(row)
    cases = cases_of()
    with open(upstream) as f:
        rows = [line.split() for line in f if line[0] != "#"]
    for case, target, launch, registers, spilled in rows:
        device = {"sm_90": "h100", "sm_80": "a100"}[target]
        print("tilelang", case, device, launch, registers, spilled,
              " ".join(cases[case][2:]), sep="\t")


def rows_of(table):
    """[(code, program, target, launch, registers, words for tilesim)]."""
    programs, cases, rows = programs_of(), cases_of(), []
    with open(table) as f:
        for line in f:
            if line[0] == "#":
                continue
            code, name, target, launch, taken, _, *settings = \
                line.rstrip("\n").split("\t")
            file, kernel = cases[name][:2] if code == "tilelang" else (
                "programs/" + programs[name]["file"], programs[name]["kernel"])
            words = words_of(file, kernel, settings[0].split())
            rows.append((code, os.path.basename(file).split(".")[0], target,
                         int(launch), int(taken), words))
    return rows


def errors_of(tilesim, rows):
    """{(code, program, target): [error of an estimate]}."""
    told, found = {}, {}
    for code, program, target, launch, taken, words in rows:
        key = (code, target, *words)
        if key not in told:
            told[key] = estimates(tilesim, words, target, code)
        found.setdefault((code, program, target), []).append(
            (told[key][launch] - taken) / taken)
    return found


COLUMNS = (("tilelang", ("h100", "a100")), ("tilesim", ("h100", "a100")),
           ("tilesim", ("mi300x",)))


def cell(found, code, targets, program):
    errors = [e for (c, p, t), all_of in found.items() for e in all_of
              if c == code and t in targets and program in (p, None)]
    if not errors:
        return "-"
    worst = max(errors, key=abs)
    return f"{len(errors)}: {statistics.median(map(abs, errors)):.0%}, " \
        f"{worst:+.0%}"


def print_table(tilesim, table):
    found = errors_of(tilesim, rows_of(table))
    print("| program | TileLang's code, ptxas | ours, ptxas | ours, LLVM |")
    print("|---|---|---|---|")
    for program in [*sorted({p for _, p, _ in found}), None]:
        cells = [cell(found, code, targets, program)
                 for code, targets in COLUMNS]
        print(f"| {program or 'all'} | {' | '.join(cells)} |")


if __name__ == "__main__":
    {"measure": measure, "table": print_table}[sys.argv[2]](sys.argv[1],
                                                            sys.argv[3])
