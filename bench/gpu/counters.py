"""The profiler's wavefronts of each shared access of emitted kernels, held
against those that the plan counts.

usage: counters.py OUT.json [RULES...]; RULES: tilesim (default), tilelang

ncu attributes counters to SASS instructions; -lineinfo takes those to lines of
the generated source, whose comments name lines of the program. The plan's side
is `lds-report --as=RULES --target h200 --json`. Sums are by program line and
direction: loads, stores, asynchronous copies.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import common

CASES = {
    "fa": "seq_len=512 heads=2",
    "gqa_fwd": "",
    "mha_bwd": "",
    "gqa_bwd": "",
    "softmax": "M=128 N=4096",
    "rms_norm": "M=128 N=4096",
    "layer_norm": "M=128 N=2048",
    "flash_decoding": "",
    "linear_attention": "",
    "gemm_int4": "",
    "gemm_fp8_block": "",
    "grouped_gemm": "",
    "mla_decode": "",
    "attention_varlen": "",
}


def profile(entry, words, rules, folder):
    """CSV rows of the profiler, by kernel, one a SASS instruction."""
    report = os.path.join(folder, "p.ncu-rep")
    run = [os.path.abspath(common.tilesim()), "gpu", common.program(entry),
           "--kernel", entry["kernel"], *common.defines(words), "--no-ref",
           "--as", rules, "--keep", "-q"]
    done = subprocess.run(
        ["ncu", "--clock-control", "none", "--section", "SourceCounters",
         "--import-source", "yes", "--source-folders", folder, "-f", "-o",
         report, *run], cwd=folder, capture_output=True, text=True)
    if not os.path.exists(report):
        return None, (done.stdout + done.stderr)[-400:]
    page = subprocess.run(
        ["ncu", "-i", report, "--page", "source", "--print-source", "sass",
         "--csv", "--print-units", "base"],
        cwd=folder, capture_output=True, text=True)
    lines = subprocess.run(
        ["ncu", "-i", report, "--page", "source", "--print-source",
         "cuda,sass", "--csv", "--print-units", "base"],
        cwd=folder, capture_output=True, text=True)
    return (page.stdout, lines.stdout), done.stderr[-200:]


def planned(entry, words, rules):
    done = subprocess.run(
        [common.tilesim(), "lds-report", common.program(entry), "--kernel",
         entry["kernel"], *common.defines(words), "--as", rules, "--target",
         "h200", "--json", "-q"], capture_output=True, text=True)
    try:
        kernel = json.loads(done.stdout)["kernels"][0]
    except (ValueError, IndexError):
        return None
    return [a for l in kernel["launches"] for t in l["targets"]
            for a in t.get("accesses", [])
            if a["space"] == "shared" and a["lsu"]]


def direction(sass):
    op = re.sub(r"^@!?U?P\w+\s+", "", sass.strip()).split()[0]
    if op.startswith(("LDS", "LDSM")):
        return "read"
    if op.startswith(("STS", "STSM")):
        return "write"
    if op.startswith("LDGSTS"):
        return "write"
    return None


def measured(text):
    """{(program line, direction): [wavefronts, ideal]} of the cuda,sass page."""
    sums, line, header = {}, None, None
    for row in csv.reader(io.StringIO(text)):
        if any(c.startswith("L1 Wavefronts Shared") for c in row):
            header = row
            continue
        if not header or len(row) != len(header):
            continue
        cells = dict(zip(header, row))
        source = cells.get("Source", "")
        mark = re.findall(r"// [\w.]+:(\d+)", source)
        if mark:
            line = int(mark[-1])
        way = direction(source) if source.strip() else None
        if way and line is not None:
            sum_ = sums.setdefault((line, way), [0, 0])
            sum_[0] += float(cells.get("L1 Wavefronts Shared") or 0)
            sum_[1] += float(cells.get("L1 Wavefronts Shared Ideal") or 0)
    return sums


def main():
    configs, rows = common.configs(), []
    keep = os.environ.get("KEEP_PAGES")
    for rules in sys.argv[2:] or ["tilesim"]:
        for name, words in CASES.items():
            entry = configs[name]
            words = words or entry["sizes"]["default"][0]
            with tempfile.TemporaryDirectory() as folder:
                pages, log = profile(entry, words, rules, folder)
            if not pages:
                rows.append({"program": name, "rules": rules, "error": log})
                print("%-18s %s" % (name, log[-100:]), flush=True)
                continue
            if keep:
                for kind, text in zip(("sass", "both"), pages):
                    with open(os.path.join(keep, "%s_%s_%s.csv" % (
                            name, rules, kind)), "w") as f:
                        f.write(text)
            plan = {}
            for a in planned(entry, words, rules) or []:
                key = a["line"], a["way"]
                plan[key] = plan.get(key, 0) + a.get("passes", 0)
            seen = measured(pages[1])
            same = sum(seen.get(k, [0])[0] == v for k, v in plan.items())
            excess = sum(w - i for w, i in seen.values())
            print("%-18s %-9s %d of %d accesses equal; %d lines, %.0f "
                  "wavefronts beyond the ideal" % (
                      name, rules, same, len(plan), len(seen), excess),
                  flush=True)
            for key in sorted(set(plan) | set(seen)):
                rows.append({"program": name, "rules": rules, "line": key[0],
                             "way": key[1], "plan": plan.get(key),
                             "measured": seen.get(key, [None])[0],
                             "ideal": seen.get(key, [0, None])[1]})
    common.write(sys.argv[1], rows)


if __name__ == "__main__":
    main()
