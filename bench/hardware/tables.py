#!/usr/bin/env python3
"""tables.py - what measure.sh left as the tables of tests/data/hardware.

    tables.py OUT RESULTS.json RUN...

RUNs are folders of measure.sh; a row measured in several must have the same
counts in all. From the wavefronts of shared memory one is taken off, which
every kernel costs, and three more of a cp.async: its wait executes three
loads that are predicated off.
"""
import csv
import gzip
import hashlib
import json
import os
import sys

L1 = "l1tex__%s_pipe_lsu%s.sum"
SECTORS, LINES = L1 % ("t_sectors", ""), L1 % ("t_set_accesses", "")
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"

ATOMIC = {"atoms_add32": "atomadd_ret", "reds_max32": "atommax",
          "atoms_exch32": "atomexch32", "atoms_cas32": "atomcas32",
          "atoms_exch64": "atomexch64", "atoms_cas64": "atomcas64"}
GLOBAL = ["ldg8", "ldg16", "ldg32", "ldg64", "ldg128", "stg8", "stg16",
          "stg32", "stg64", "stg128", "redg_add32", "redg_addf32",
          "redg_add64", "redg_addf16x2", "redg_addv2f32", "redg_addv4f32",
          "atomg_add32"]
ASYNC = ["cpa4", "cpa8", "cpa16", "cpg16"]


def read(run):
    with open(os.path.join(run, "rows.txt"), encoding="ascii") as rows, \
            open(os.path.join(run, "counters.csv"), encoding="ascii") as found:
        for row, counts in zip(rows, csv.DictReader(found)):
            yield row, tuple(int(float(counts[m])) for m in
                             (WAVEFRONTS, CONFLICTS, SECTORS, LINES))


def write(path, comments, columns, rows):
    with gzip.GzipFile(path, "wb", mtime=0) as f:
        for line in comments:
            f.write(f"# {line}\n".encode())
        f.write(("\t".join(columns) + "\n").encode())
        for row in rows:
            f.write(("\t".join(map(str, row)) + "\n").encode())


def machine(run):
    with open(os.path.join(run, "machine.txt"), encoding="ascii") as f:
        gpu, profiler = f.read().splitlines()
    name, driver, _ = gpu.split(", ")
    return {"device": name, "driver": driver,
            "profiler": "Nsight Compute " + profiler}


def write_results(path, run, rows, counts):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "access.cu"), "rb") as f:
        program = hashlib.sha256(f.read()).hexdigest()
    with open(path, "w", encoding="ascii") as f:
        json.dump({**machine(run), "program": "bench/hardware/access.cu",
                   "program_sha256": program,
                   "command": "measure.sh ./access rows.txt OUT",
                   "rows_measured": rows, "tables": counts}, f, indent=2)
        f.write("\n")


def main(out, results, *runs):
    known = {}
    for run in runs:
        for row, counts in read(run):
            if known.setdefault(row, counts) != counts:
                sys.exit(f"{run}: other counts for {row}")
    atomic, plain, copies = [], [], []
    for row in sorted(known):
        op, mask, *offsets = row.split()
        wavefronts, conflicts, sectors, lines = known[row]
        shared, far = " ".join(offsets[:32]), " ".join(offsets[32:])
        if int(mask, 16) == 0:
            continue
        if op in ATOMIC:
            atomic.append((ATOMIC[op], mask, shared, wavefronts - 1,
                           conflicts))
        elif op in GLOBAL:
            plain.append((op, mask, far, sectors, lines))
        elif op in ASYNC:
            copies.append((op, mask, shared, far, wavefronts - 4, conflicts,
                           sectors, lines))
    taken = "measured with hardware counters on an NVIDIA H200 (sm_90)."
    lanes = "byte_address_of_lane_0_to_31"
    write(os.path.join(out, "h200_shared_atomic.tsv.gz"),
          [f"One warp-wide atomic on shared memory a line, {taken}",
           "Columns as in h200_shared_access.tsv.gz."],
          ("op", "mask", lanes, "wavefronts", "conflicts"), atomic)
    write(os.path.join(out, "h200_global_access.tsv.gz"),
          [f"One warp-wide access to global memory a line, {taken}",
           "sectors: 32-byte sectors requested of L1TEX; lines: its tag "
           "accesses"],
          ("op", "mask", lanes, "sectors", "lines"), plain)
    write(os.path.join(out, "h200_async_copy.tsv.gz"),
          [f"One warp-wide cp.async a line, {taken}",
           "op: cpaN is .ca of N bytes, cpg16 .cg; shared then global "
           "addresses"],
          ("op", "mask", "shared_" + lanes, "global_" + lanes, "wavefronts",
           "conflicts", "sectors", "lines"), copies)
    write_results(results, runs[0], len(known),
                  {"h200_shared_atomic": len(atomic),
                   "h200_global_access": len(plain),
                   "h200_async_copy": len(copies)})


if __name__ == "__main__":
    main(*sys.argv[1:])
