#!/usr/bin/env python3
# mutants.py - small faults planted in the IR of programs: who notices?
#
#   mutants.py MUTATE TOP [COUNT [SEED]]
#
# Every site of every operator (tests/mutate/sites.c) is a mutant; COUNT of them
# (all without it) are sampled by SEED. The shipped programs run at their first
# small size; they have no barriers of their own: those of tests/checks and
# tests/reports are dropped, all of them in every run. Prints the tables of
# docs/checks.md and the mutants that nothing noticed; exits 1 when less than the
# bar of a kind was noticed.
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys

# found by checks alone, and by checks and verdict together
BAR = {"drop clear": 0.95, "drop barrier": 0.95, "drop wait": 0.95,
       "shrink buffer": 0.95}
ALL = 0.95
WAITS = re.compile(r"sync|barrier|wait|arrive")
COLUMNS = ("refused", "found", "wrong", "stopped", "same", "missed", "crashed")


class Program:
    def __init__(self, mutate, path, sizes):
        self.mutate, self.path, self.sizes = mutate, path, sizes

    def call(self, *args):
        return subprocess.run([self.mutate, *args, self.path, *self.sizes],
                              text=True, capture_output=True, check=False)

    def sites(self):
        done = self.call("list")
        if done.returncode:
            sys.exit(f"{self.path}: {done.stderr}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def mutants(self, numbers):
        done = self.call("run", ",".join(map(str, sorted(numbers))))
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        if len(rows) != len(numbers):
            sys.exit(f"{self.path}: {len(rows)} of {len(numbers)} mutants ran: "
                     f"{done.stderr}")
        for number, fault, place, said, where, tail in rows:
            yield fault, place, said.split()[0], where, tail


def programs(mutate, top):
    with open(os.path.join(top, "programs", "configs.json")) as file:
        for entry in json.load(file)["programs"].values():
            yield Program(mutate, os.path.join(top, "programs", entry["file"]),
                          entry["sizes"]["small"][0].split())


def waiting(mutate, top):
    """[program, number] of each barrier and wait of the tests' programs."""
    for path in sorted(glob.glob(os.path.join(top, "tests", "checks",
                                              "*-ok.tile"))
                       + glob.glob(os.path.join(top, "tests", "reports",
                                                "*.tile"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not WAITS.search(text):
            continue
        program = Program(mutate, path, [])
        for number, fault in program.sites():
            if fault in ("drop barrier", "drop wait"):
                yield program, int(number)


def sampled(every, args):
    """[program, number] of each site, or of some."""
    sites = [(p, int(n)) for p in every for n, _ in p.sites()]
    if args:
        random.Random(int(args[1]) if len(args) > 1 else 0).shuffle(sites)
        sites = sites[:int(args[0])]
    return sites


def noticed(row):
    """By checks alone, by checks and verdict, of how many."""
    alone = row["refused"] + row["found"]
    return (alone, alone + row["wrong"] + row["stopped"],
            sum(row.values()) - row["same"])


def print_operators(table):
    bad = False
    total = collections.Counter()
    print("| operator | mutants | refused | found by checks | judged wrong "
          "| do not end | equivalent | missed | noticed by checks | by both |")
    print("|---" * 10 + "|")
    for fault, row in sorted(table.items()):
        total.update(row)
        alone, both, real = noticed(row)
        print("| " + " | ".join(map(str, (
            fault, sum(row.values()), *(row[c] for c in COLUMNS[:-1]),
            f"{alone} of {real}", f"{both} of {real}"))) + " |")
        bad |= row["crashed"] > 0 or alone < BAR.get(fault, 0) * real
    alone, both, real = noticed(total)
    print(f"\nall: {sum(total.values())} mutants, {real} real, {both} noticed, "
          f"{alone} by checks alone")
    return bad or both < ALL * real


def print_shifts(shifts):
    bad = False
    print("\n| a shifted index leaves | mutants | refused | found by checks "
          "| with -Wtail | judged wrong | equivalent | missed |")
    print("|---" * 8 + "|")
    for where, row in sorted(shifts.items()):
        print("| " + " | ".join(map(str, (
            where, sum(row.values()) - row["tail"], row["refused"],
            row["found"], row["found"] + row["tail"], row["wrong"],
            row["same"], row["missed"]))) + " |")
        if where in ("block", "below"):
            bad |= row["found"] + row["refused"] < 0.95 * (
                sum(row.values()) - row["tail"])
    return bad


def main(args):
    mutate, top = args[:2]
    sites = collections.defaultdict(list)
    for program, number in [*sampled(list(programs(mutate, top)), args[2:]),
                            *waiting(mutate, top)]:
        sites[program].append(number)
    table = collections.defaultdict(collections.Counter)
    shifts = collections.defaultdict(collections.Counter)
    for program, numbers in sites.items():
        for fault, place, said, where, tail in program.mutants(numbers):
            table[fault][said] += 1
            if fault.startswith("shift"):
                shifts[where][said] += 1
                shifts[where]["tail"] += tail == "tail" and said != "found"
            if said in ("missed", "crashed") or (
                    said == "same" and fault in ("drop barrier", "drop wait")):
                print(f"{said}: {fault}: {os.path.basename(program.path)}:"
                      f"{place}", flush=True)
    bad = print_operators(table)
    sys.exit(bad | print_shifts(shifts))


if __name__ == "__main__":
    main(sys.argv[1:])
