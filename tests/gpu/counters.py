"""Holds the plan's figures against what a profiler counted: those by the rules
`tilesim` against bench/results/gpu_counters.json, those by upstream's against
gpu_counters_upstream.json and gpu_counters_upstream_h100.json; prints TAP.

Places where they differ are those of tests/data/gpu_counters.tsv, each with its
reason. Tells, too, where the kernel is no longer the one that was profiled."""
import collections
import json
import os
import sys

top = sys.argv[1]
sys.path.insert(0, os.path.join(top, "bench", "gpu"))
import counters  # noqa: E402

RECORDS = [("tilesim", "tilesim", None, "gpu_counters.json"),
           ("sm_80", "tilelang", None, "gpu_counters_upstream.json"),
           ("sm_90", "tilelang", "h100", "gpu_counters_upstream_h100.json")]
CLASSES = ("attributed", "predicate", "held", "condition", "sunk", "dropped",
           "instruction", "elements", "serial")
Reason = collections.namedtuple("Reason", "number records program size keys kind")


def emitted(command):
    return counters.digest(counters.tilesim(
        "gpu", "-q", *counters.PLAN, "--emit", "cuda", *command).stdout)


def read(name):
    """[((program, target, size), rows of places, digest of the source)]"""
    with open(os.path.join(top, "bench/results", name)) as f:
        rows = json.load(f)["rows"]
    cases, sources = collections.defaultdict(list), {}
    for r in rows:
        key = r["program"], r["target"], r["size"]
        if "equal" in r:
            cases[key].append(r)
        sources[key] = r.get("source")
    return [(key, known, sources[key]) for key, known in cases.items()]


def read_reasons():
    found = []
    with open(os.path.join(top, "tests/data/gpu_counters.tsv")) as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#"):
                continue
            records, program, size, places, ops, kind, words = \
                line.rstrip("\n").split("\t")
            assert kind in CLASSES and words, line
            keys = {(*map(int, place.split(":")), op)
                    for place in places.split(",") for op in ops.split(",")}
            found.append(Reason(number, records.split(","), program,
                                set(size.split()) - {"-"}, keys, kind))
    return found


def key_of(row):
    return row["launch"], row["line"], row["instruction"]


def figures(row):
    return [row["wavefronts"], row["excessive"]]


def holds(reason, known, plan):
    """What of a reason can be checked here."""
    rows = [r for r in known if key_of(r) in reason.keys]
    if reason.kind == "predicate":
        return all("misread" in r for r in rows)
    if reason.kind not in ("attributed", "instruction"):
        return True
    return [sum(c) for c in zip(*map(figures, rows))] == \
        [sum(c) for c in zip(*(plan[key_of(r)][1:] for r in rows))]


def check(n, record, case, known, source, reasons):
    program, target, size = case
    where = (os.path.join(top, "bench/gpu/shared.tile")
             if not target and program not in counters.common.configs()
             else counters.common.program(counters.common.configs()[program]))
    kernel = (program if where.endswith("shared.tile") else
              counters.common.configs()[program]["kernel"])
    command = ["--kernel", kernel, *counters.common.defines(size), where]
    plan = counters.planned(command, {r["line"] for r in known})[0]
    odd = {key_of(r): r for r in known if plan[key_of(r)][1:] != figures(r)}
    mine = [r for r in reasons if record in r.records and
            r.program == program and r.size <= set(size.split())]
    told = [key for r in mine for key in r.keys]
    bad = [r for r in mine if not r.keys <= set(odd) or
           not holds(r, known, plan)]
    left = [r for key, r in odd.items() if told.count(key) != 1]
    more = set(plan) - {key_of(r) for r in known}
    print("not ok" if bad or left or more else "ok", n, "-", record, program, target,
          size)
    if emitted(command) != source:
        print("# another kernel is emitted now")
    for r in left:
        print("# line %d, %s: measured %d, %d beyond the ideal; plan %s" % (
            r["line"], r["instruction"], *figures(r), plan[key_of(r)]))
    for _, line, op in sorted(more):
        print("# line %d, %s: planned, but nothing was measured" % (line, op))
    for r in bad:
        print("# gpu_counters.tsv:%d is not so" % r.number)
    return {(r.number, record) for r in mine}


def main():
    n, reasons, used = 0, read_reasons(), set()
    for record, rules, target, name in RECORDS:
        counters.follow(rules, target)
        for case, known, source in read(name):
            n += 1
            used |= check(n, record, case, known, source, reasons)
    idle = {(r.number, record) for r in reasons for record in r.records} - used
    print("not ok" if idle else "ok", n + 1, "- reasons without a place")
    for number, record in sorted(idle):
        print("# gpu_counters.tsv:%d, %s: nothing was profiled" % (number,
                                                                  record))
    print("1..%d" % (n + 1))


main()
