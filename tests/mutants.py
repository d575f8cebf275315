#!/usr/bin/env python3
# mutants.py - small faults planted in the IR of programs: who notices?
#
#   mutants.py MUTATE TOP [COUNT [SEED]]
#
# Every site of every operator (tests/mutate/sites.c) is a mutant; COUNT of them
# (all without it) are sampled by SEED. The shipped programs run at their first
# small size; they have no barriers of their own: those of tests/checks and
# tests/mutate, tests/checks and tests/reports are dropped, all of them in every
# run. Where no byte changes then, tests/mutate/interleave.py tries every order of
# the warps; where it does not know the program, tests/mutate/equivalent.tsv says
# why nothing can change. First each program runs with
# its pipelined loops in the order of their stages. Prints the tables of
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

# what checks alone must notice, with indices that leave a buffer where no guard
# is meant to help; and what checks and verdict must notice of all
SURE = ("drop clear", "drop barrier", "drop wait", "shrink buffer")
BAR = 0.95
WAITS = re.compile(r"sync|barrier|wait|arrive")
COLUMNS = ("refused", "found", "wrong", "stopped", "same", "missed", "crashed",
           "cried")


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


def orders(tilesim, top, path):
    """What tests/mutate/interleave.py says of a program less each barrier, by
    their order; none where it does not know the program."""
    done = subprocess.run(
        [sys.executable, os.path.join(top, "tests", "mutate", "interleave.py"),
         tilesim, path], text=True, capture_output=True, check=False)
    rows = [line.split("\t")[1] for line in done.stdout.splitlines()]
    if done.returncode:
        return []
    if rows[0] != "one":
        sys.exit(f"{path}: as written it depends on the order of warps")
    return rows[1:]


def waiting(mutate, top):
    """[program, number] of each barrier and wait of the tests' programs."""
    for path in sorted(glob.glob(os.path.join(top, "tests", "checks",
                                              "*-ok.tile"))
                       + glob.glob(os.path.join(top, "tests", "mutate",
                                                "*.tile"))
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


def are_staged(every):
    """Pipelined loops in the order of their stages give the same bytes."""
    good = True
    for program in every:
        done = program.call("staged")
        if done.returncode:
            print(f"{program.path}: {done.stdout}{done.stderr}", flush=True)
            good = False
    return good


def sampled(every, args):
    """[program, number] of each site, or of some."""
    sites = [(p, int(n)) for p in every for n, _ in p.sites()]
    if args:
        random.Random(int(args[1]) if len(args) > 1 else 0).shuffle(sites)
        sites = sites[:int(args[0])]
    return sites


def is_sure(table, shifts):
    """Do checks alone notice enough of what they must?"""
    found = of = 0
    for row in [table[f] for f in SURE] + [shifts[w] for w in ("block", "below")]:
        alone, _, real = noticed(row)
        found, of = found + alone, of + real
    print(f"\ndropped clears, barriers and waits, shrunk buffers, indices out of "
          f"range: {found} of {of} by checks alone")
    return found >= BAR * of


def noticed(row):
    """By checks alone, by checks and verdict, of how many."""
    alone = row["refused"] + row["found"]
    return (alone, alone + row["wrong"] + row["stopped"],
            sum(row[c] for c in COLUMNS) - row["same"])


def print_operators(table):
    total = collections.Counter()
    print("| operator | mutants | refused | found by checks | judged wrong "
          "| do not end | equivalent | missed | noticed by checks | by both |")
    print("|---" * 10 + "|")
    for fault, row in sorted(table.items()):
        total.update(row)
        alone, both, real = noticed(row)
        print("| " + " | ".join(map(str, (
            fault, sum(row.values()), *(row[c] for c in COLUMNS[:-2]),
            f"{alone} of {real}", f"{both} of {real}"))) + " |")
    alone, both, real = noticed(total)
    print(f"\nall: {sum(total.values())} mutants, {real} real, {both} noticed, "
          f"{alone} by checks alone")
    return both >= BAR * real and not total["crashed"] + total["cried"]


def print_shifts(shifts):
    print("\n| a shifted index leaves | mutants | refused | found by checks "
          "| with -Wtail | judged wrong | equivalent | missed |")
    print("|---" * 8 + "|")
    for where, row in sorted(shifts.items()):
        print("| " + " | ".join(map(str, (
            where, sum(row.values()) - row["tail"], row["refused"],
            row["found"], row["found"] + row["tail"], row["wrong"],
            row["same"], row["missed"]))) + " |")


def main(args):
    mutate, top = args[:2]
    shipped = list(programs(mutate, top))
    staged = are_staged(shipped)
    sites = collections.defaultdict(list)
    for program, number in [*sampled(shipped, args[2:]),
                            *waiting(mutate, top)]:
        sites[program].append(number)
    with open(os.path.join(top, "tests", "mutate", "equivalent.tsv")) as file:
        alike = {tuple(line.split("\t")[:2]) for line in file}
    searched = 0
    table = collections.defaultdict(collections.Counter)
    shifts = collections.defaultdict(collections.Counter)
    for program, numbers in sites.items():
        name = os.path.basename(program.path)
        known = [] if program.sizes else orders(
            os.path.join(os.path.dirname(mutate), "..", "..", "tilesim"), top,
            program.path)
        searched += len(known)
        for fault, place, said, where, tail in program.mutants(numbers):
            if fault in ("drop barrier", "drop wait"):
                order = known.pop(0) if known else "?"
                if said == "found" and order == "one":
                    said = "cried"      # a finding, and nothing is wrong
                elif said == "same" and order != "one" and (
                        order != "?" or (name, place) not in alike):
                    said = "missed"
            table[fault][said] += 1
            if fault.startswith("shift"):
                shifts[where][said] += 1
                shifts[where]["tail"] += tail == "tail" and said != "found"
            if said in ("missed", "crashed", "cried"):
                print(f"{said}: {fault}: {name}:{place}", flush=True)
    good = print_operators(table)
    print(f"of {searched} barriers and waits all orders of the warps were "
          "tried")
    print_shifts(shifts)
    sys.exit(not (is_sure(table, shifts) and good and staged))


if __name__ == "__main__":
    main(sys.argv[1:])
