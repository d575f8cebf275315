"""Upstream's example files on the GPU: each kernel's first launch of the script
runs there, on the script's tensors, and is held against the CPU.

usage: upstream.py OUT.json CHECKOUT [PATTERN]

How a file is run is data: tests/data/upstream.tsv. Files that target other
hardware are left out. $OPTIONS has more options of tilesim ("--target=mi300x
--interleave=1"), $LIMIT the seconds of a file, $JOBS how many run at a time.
$LISTED is a table of the files that do not agree: exit 1 where one is not as listed.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import common

LIMIT = int(os.environ.get("LIMIT", "100"))
OPTIONS = os.environ.get("OPTIONS", "").split()
JOBS = int(os.environ.get("JOBS", "0")) or max(1, (os.cpu_count() or 4) // 2)


def caller(examples, folder, file, code):
    """A program in which the file is m, as tools/upstream.sh makes it."""
    name = os.path.basename(file)[:-3]
    path = os.path.join(folder, "call_%s_%d.py" % (name, abs(hash(file))))
    with open(path, "w") as f:
        f.write("import sys\nsys.path.append(%r)\nsys.path.append(%r)\n"
                "import torch\nimport torch.nn.functional as F\n"
                "import tilelang\nimport tilelang.language as T\n"
                "import %s as m\nif __name__ == '__main__':\n" % (
                    os.path.dirname(os.path.join(examples, file)),
                    os.path.join(common.TOP, "tests", "upstream"), name))
        for line in code.split("; "):
            f.write("    %s\n" % line)
    return path


def words(examples, folder, file, how):
    """The arguments of tilesim, or None where the table has none."""
    path = os.path.join(examples, file)
    if how.startswith("on "):
        how = how.split(" ", 2)[2]
    if how.startswith("script"):
        return [path, "--", *how[6:].split()]
    if how.startswith("call "):
        return [caller(examples, folder, file, how[5:])]
    if how.startswith("driver "):
        return [os.path.join(common.TOP, "tests", "upstream", how[7:]), "--",
                os.path.dirname(path)]
    return None


def summary(row, document):
    launches = [l for l in document["launches"] if "outputs" in l]
    outs = [o["run"] for l in launches for o in l["outputs"]]
    outs += [l["reached"] for l in launches if "reached" in l]
    compared = sum(o["compared"] for o in outs)
    row["kernels"] = len(launches)
    row["wrong"] = sum(not o["ok"] for o in outs)
    row["bits_equal"] = (sum(o["bits_equal"] for o in outs) / compared
                         if compared else None)
    errors = [d for d in document["diagnostics"] if d["level"] == "error"]
    row["errors"] = ["%s:%s: %s [%s]" % (os.path.basename(d.get("file") or ""),
                                         d.get("line"), d["message"][:160],
                                         d["id"]) for d in errors[:3]]
    row["refused"] = any(d["id"] == "gpu-unsupported" for d in errors)


def run(job):
    file, kind, how, examples, folder = job
    row = {"file": file, "class": kind}
    command = words(examples, folder, file, how)
    if not command:
        row["exit"] = None
        return row
    start = time.monotonic()
    try:
        done = subprocess.run(
            [os.path.abspath(common.tilesim()), "gpu", "--json", "-q", "-j",
             "4", "--timeout", str(LIMIT), *OPTIONS, *command],
            capture_output=True, text=True, timeout=LIMIT + 20,
            cwd=os.path.dirname(os.path.join(examples, file)))
    except subprocess.TimeoutExpired:
        row.update(exit=124)
        return row
    row["exit"] = done.returncode
    row["seconds"] = round(time.monotonic() - start, 1)
    try:
        summary(row, json.loads(done.stdout))
    except ValueError:
        row["errors"] = [(done.stderr or done.stdout)[-200:]]
    return row


def verdict(row):
    if row["exit"] == 0 and row.get("kernels"):
        return "agrees"
    if row.get("refused"):
        return "refused"
    if row["exit"] is None:
        return "not run"
    if row["exit"] == 0:
        return "no launch"
    return "exit %d" % row["exit"]


def not_as_listed(rows):
    """Files, and what the table says of them; those not in it agree."""
    if "LISTED" not in os.environ:
        return []
    with open(os.environ["LISTED"]) as f:
        listed = dict(line.split("\t")[:2] for line in f if line[0] != "#")
    return ["%s: %s, listed as %s" % (row["file"], row["verdict"], was)
            for row in rows for was in [listed.get(row["file"], "agrees")]
            if row["verdict"] != was]


def main():
    examples = os.path.join(os.path.abspath(sys.argv[2]), "examples")
    pattern = sys.argv[3] if len(sys.argv) > 3 else "."
    rows, counts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        with open(os.path.join(common.TOP, "tests/data/upstream.tsv")) as f:
            for line in f:
                cells = line.rstrip("\n").split("\t")
                if line.startswith("#") or cells[1] == "arch" or \
                        cells[2].startswith("refused") or \
                        ("on mi" in cells[2]) > ("=mi300x" in str(OPTIONS)) or \
                        not re.search(pattern, cells[0]) or \
                        not os.path.exists(os.path.join(examples, cells[0])):
                    continue
                jobs.append((*cells[:3], examples, folder))
        pool = concurrent.futures.ThreadPoolExecutor(JOBS)
        futures = [pool.submit(run, job) for job in jobs]
        try:
            for future in concurrent.futures.as_completed(futures):
                row = future.result()
                row["verdict"] = verdict(row)
                key = row["class"], row["verdict"]
                counts[key] = counts.get(key, 0) + 1
                rows.append(row)
                print("%-10s %-66s %s" % (
                    row["verdict"], row["file"],
                    "; ".join(row.get("errors", []))[:90]), flush=True)
        except KeyboardInterrupt:
            print("stopped: %d of %d files" % (len(rows), len(jobs)))
        pool.shutdown(wait=False, cancel_futures=True)
    rows.sort(key=lambda row: row["file"])
    for key in sorted(counts):
        print("%s %s: %d" % (*key, counts[key]))
    common.write(sys.argv[1], rows)
    others = not_as_listed(rows)
    print("\n".join(others))
    sys.stdout.flush()
    os._exit(bool(others))              # without waiting for what was stopped


if __name__ == "__main__":
    main()
