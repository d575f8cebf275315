"""Holds plans of the rules `tilelang` against counters of upstream's kernels.

usage: counters.py TILESIM TOP TABLE [CASE...]

TABLE is tests/data/plan/h200.tsv. For each case the wavefronts of shared
memory, and those that are ideal, are compared with lds-report's. TAP on
stdout; plan/counters_open.txt has what differs, with the reason.
"""

import json
import os
import subprocess
import sys

TARGET = {"sm_90": "h100", "sm_80": "a100"}
WAY = {"load": "read", "store": "write", "atomic": "update"}


def cases(top):
    found = {}
    with open(os.path.join(top, "tests", "plan", "cases.txt")) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                found[words[0]] = words[1:]
    return found


FAMILIES = {"matrix": ("LDSM", "STSM", "ldmatrix", "stmatrix"),
            "cp.async": ("LDGSTS", "cp.async")}


def family(instruction):
    for name, starts in FAMILIES.items():
        if instruction.startswith(starts):
            return name
    return "plain"


def add(rows, launch, way, buffer, instruction, wavefronts, ideal):
    cell = rows.setdefault((launch, way, family(instruction), buffer), [0, 0])
    cell[0] += wavefronts
    cell[1] += ideal


def table(path):
    """{(case, target): {(launch, way, family, buffer): [wavefronts, ideal]}}"""
    found = {}
    with open(path) as f:
        for line in f:
            if line.startswith("#"):
                continue
            case, target, launch, fact, subject, value = \
                line.rstrip("\n").split("\t")
            rows = found.setdefault((case, target), {})
            if fact not in WAY:
                continue
            op, _, wavefronts, ideal = value.split()
            if subject.startswith("workspace"):
                subject = "(reduction)"
            add(rows, int(launch), WAY[fact], subject, op, int(wavefronts),
                int(ideal))
    return found


def planned(tilesim, top, case, target):
    """The same of lds-report, or the message of its refusal."""
    path, kernel, *arguments = case
    words = [w for a in arguments for w in ("-D", a)]
    done = subprocess.run(
        [tilesim, "lds-report", "--as=tilelang", "--json", "-q", "--target",
         TARGET[target], "--kernel", kernel, *words, os.path.join(top, path)],
        capture_output=True, text=True)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return done.stderr[-200:]
    rows = {}
    for kernel in document["kernels"]:
        for n, launch in enumerate(kernel["launches"]):
            for a in launch["targets"][0].get("accesses", []):
                if a["space"] == "shared" and a["lsu"]:
                    add(rows, n, a["way"], a["buffer"], a["instruction"],
                        a.get("cycles", 0), a.get("passes", 0))
    return rows


# Compilers move instructions past the marks of their lines, so that a buffer
# may be given another's: then the sums over a way and a kind of instruction
# have to agree.
def sums(rows):
    found = {}
    for key, cell in rows.items():
        one = found.setdefault(key[:3], [0, 0])
        one[0] += cell[0]
        one[1] += cell[1]
    return {key: cell for key, cell in found.items() if any(cell)}


def differences(hardware, plan):
    ours, theirs = sums(plan), sums(hardware)
    for key in sorted({*ours, *theirs}):
        if ours.get(key) != theirs.get(key):
            yield key, theirs.get(key, [0, 0]), ours.get(key, [0, 0])


def read_open(top):
    """Lines of plan/counters_open.txt: case target launch way family."""
    with open(os.path.join(top, "tests", "plan", "counters_open.txt")) as f:
        lines = [line.split("#")[0].split() for line in f]
    return {(c, t, int(n), w, f) for c, t, n, w, f in filter(None, lines)}


def alone(hardware, plan):
    return sum(cell == plan.get(key) for key, cell in hardware.items())


def main():
    tilesim, top, path, *more = sys.argv[1:]
    known, n, still_open = cases(top), 0, read_open(top)
    for (case, target), hardware in sorted(table(path).items()):
        if more and case not in more:
            continue
        n += 1
        plan = planned(tilesim, top, known[case], target)
        if isinstance(plan, str):
            print("not ok %d - %s %s" % (n, case, target))
            print("#", plan.replace("\n", " "))
            continue
        wrong = {(case, target, *key): (theirs, ours)
                 for key, theirs, ours in differences(hardware, plan)}
        listed = {o for o in still_open if o[:2] == (case, target)}
        bad = set(wrong) ^ listed
        print("%sok %d - %s %s: %d accesses, %d alone, %d open" % (
            "not " if bad else "", n, case, target, len(hardware),
            alone(hardware, plan), len(listed)))
        for key in sorted(bad):
            print("# %s: " % " ".join(map(str, key)) + (
                "counted %s, planned %s" % wrong[key] if key in wrong
                else "agrees, but is listed as open"))
    print("1..%d" % n)


if __name__ == "__main__":
    main()
