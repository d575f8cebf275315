"""Machine code and the profiler's counters of it, instruction by instruction.

The profiler names an instruction by its place in a kernel; what it was
compiled from is in the line table of the cubin (compile with -lineinfo).
"""

import csv
import io
import os
import re
import subprocess

COUNTERS = ("Instructions Executed", "L1 Wavefronts Shared",
            "L1 Wavefronts Shared Ideal")
PLACE = re.compile(r'//## File "([^"]*)", line (\d+)')
CODE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
COMMENT = re.compile(r"^(?: +)?// \S+:(\d+)$")
SHARED = ("LDS", "STS", "ATOMS", "LDGSTS")


def mnemonic(sass):
    """The instruction's name, without the predicate before it."""
    words = re.sub(r"^@!?U?P\w+\s+", "", sass.strip()).split()
    return words[0] if words else ""


def is_shared(sass):
    """Whether the load-store units carry it to shared memory: LDSM, STSM,
    LDGSTS too; not the loads under a false predicate beside LDGSTS."""
    return mnemonic(sass).startswith(SHARED) and not sass.startswith("@!PT")


def operation(sass):
    """"LDS.64", "STS.U16"...: of what touches shared memory, or None."""
    op = mnemonic(sass)
    return op if re.match(r"(LDS|STS|LDSM|STSM|LDGSTS|ATOMS|RED\.S)(\.|$)",
                          op) else None


def program_lines(source):
    """By line of generated source (from 1): the program's, which comments there
    tell ("// fa.tile:31"), or 0."""
    out, now = [0], 0
    for text in source.splitlines():
        match = COMMENT.match(text)
        if match:
            now = int(match.group(1))
        elif text == "}":
            now = 0
        out.append(now)
    return out


def compiled(cubin):
    """{kernel: [(instruction, [(file, line), ...])]}, the place in the code
    that was inlined first, the place in the kernel last. $NVDISASM says which
    disassembler."""
    done = subprocess.run([os.environ.get("NVDISASM", "nvdisasm"), "-gi", "-c",
                           cubin], capture_output=True, text=True, check=True)
    kernels, code, places, fresh = {}, None, [], False
    for line in done.stdout.split("\n"):
        section = re.match(r"\s*\.section\s+\.text\.([\w$]+)", line)
        if section:
            code = kernels.setdefault(section.group(1), [])
        place = PLACE.search(line)
        if place:
            if not fresh:
                places = []
            fresh = True
            places.append((place.group(1), int(place.group(2))))
            continue
        instruction = CODE.search(line)
        if instruction and code is not None:
            fresh = False
            code.append((instruction.group(1), places))
    return kernels


def profiled(page):
    """[(kernel, [(instruction, [executed, wavefronts, ideal])])] of
    ncu --page source --print-source sass --csv, launch by launch. The page of
    a kernel without memory accesses has no columns for them."""
    launches, header = [], None
    for row in csv.reader(io.StringIO(page)):
        if len(row) > 1 and row[0] in ("Function Name", "Kernel Name"):
            launches.append((row[1], []))
            header = None
        elif "Source" in row and "Address" in row:
            header = row
        elif header and len(row) == len(header):
            counts = [int(float(row[header.index(c)] or 0))
                      if c in header else 0 for c in COUNTERS]
            text = row[header.index("Source")].strip()
            launches[-1][1].append((text, counts))
    return launches
