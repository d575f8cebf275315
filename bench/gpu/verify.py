"""Every shipped program on the GPU, at its default and odd sizes, held against
`tilesim run` and its own reference.

usage: verify.py OUT.json [PROGRAM...]; exits 1 when one is wrong
"""

import concurrent.futures
import os
import sys

import common


def cases(names):
    for name, entry in common.configs().items():
        if names and name not in names:
            continue
        for kind in ("default", "odd"):
            for size in entry["sizes"].get(kind, []):
                yield name, entry, kind, size


def check(case):
    name, entry, kind, size = case
    code, launch, errors = common.gpu(entry, size, ["--verify", "-j", "4",
                                                  "--timeout", "60"])
    row = {"program": name, "kind": kind, "size": size, "exit": code}
    if errors:
        row["errors"] = errors
    if launch and "outputs" in launch:
        outs = launch["outputs"]
        row["kernels"] = launch["build"]["kernels"]
        row["build_seconds"] = launch["build"]["seconds"]
        row["rel_run"] = max((o["run"]["rel"] for o in outs), default=0,
                             key=float)
        compared = sum(o["run"]["compared"] for o in outs)
        row["bits_equal"] = (sum(o["run"]["bits_equal"] for o in outs)
                             / compared if compared else 1)
        row["repeats"] = all(o.get("repeats", True) for o in outs)
        if launch.get("compared"):
            row["rounding"] = max((o["rounding"]["rel"] for o in outs),
                                  default=0, key=float)
    return row


def main():
    rows, wrong = [], 0
    jobs = min(4, (os.cpu_count() or 4) // 4 or 1)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for row in pool.map(check, cases(sys.argv[2:])):
            rows.append(row)
            wrong += row["exit"] != 0
            print("%-4s %-18s %-60s %s" % (
                "ok" if row["exit"] == 0 else row["exit"], row["program"],
                row["size"][:60],
                row.get("errors", "bits %.4f" % row.get("bits_equal", 0))
                [:110]), flush=True)
    print("%d launches, %d not right" % (len(rows), wrong))
    common.write(sys.argv[1], rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
