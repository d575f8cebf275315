"""Holds the plan's figures against bench/results/gpu_counters.json, and those by
upstream's rules against gpu_counters_upstream.json; prints TAP.

Where the profiler and the plan agreed, they have to agree still. What differed
is in docs/gpu.md. Tells, too, where the kernel is no longer the one that was
profiled."""
import collections
import json
import os
import sys

top = sys.argv[1]
sys.path.insert(0, os.path.join(top, "bench", "gpu"))
import counters  # noqa: E402


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


def check(n, program, target, size, known, source):
    where = (os.path.join(top, "bench/gpu/shared.tile")
             if not target and program not in counters.common.configs()
             else counters.common.program(counters.common.configs()[program]))
    kernel = (program if where.endswith("shared.tile") else
              counters.common.configs()[program]["kernel"])
    command = ["--kernel", kernel, *counters.common.defines(size), where]
    plan = counters.planned(command, {r["line"] for r in known})[0]
    odd = [r for r in known if r["equal"] and plan.get(
        (r["launch"], r["line"], r["instruction"]), [0, 0, 0])[1:] !=
        [r["wavefronts"], r["excessive"]]]
    print("not ok" if odd else "ok", n, "-", counters.RULES, program, target,
          size)
    if emitted(command) != source:
        print("# another kernel is emitted now")
    for r in odd:
        print("# line %d, %s: measured %d, %d beyond the ideal; plan %s" % (
            r["line"], r["instruction"], r["wavefronts"], r["excessive"],
            plan.get((r["launch"], r["line"], r["instruction"]))))


def main():
    n = 0
    for rules, name in (("tilesim", "gpu_counters.json"),
                        ("tilelang", "gpu_counters_upstream.json")):
        counters.follow(rules)
        for key, known, source in read(name):
            n += 1
            check(n, *key, known, source)
    print("1..%d" % n)


main()
