#!/usr/bin/env python3
"""async_source.py - what ncu's source view gives single cp.async instructions.

    async_source.py program ROWS OUT.cu WORDS   a program for rows of async_rows.py
    async_source.py negate ROWS PROGRAM         in place; rows of predicates only
    async_source.py pick SOURCE.csv OUT         of ncu's page, what is needed
    async_source.py table OUT ROWS PICKED...

    nvcc --no-compress -gencode=arch=compute_90a,code=sm_90a -o program OUT.cu
    ncu --section SourceCounters -o report ./program WORDS
    ncu -i report.ncu-rep --page source --print-source sass --csv >SOURCE.csv

A kernel an op, in which every row is an instruction of its own, so that one
launch measures thousands; addresses come from global memory, so that nothing
else touches shared memory. Six copies in a row have their predicates in
different registers; compilers negate them only in larger programs, so `negate`
sets that bit in every other twelve.
"""
import csv
import gzip
import re
import sys

COPY = {"cpa4": ("ca", 4), "cpa8": ("ca", 8), "cpa16": ("ca", 16),
        "cpg16": ("cg", 16)}
COLUMNS = ("L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal")
FULL = 0xffffffff

HEAD = """// made by async_source.py
#include <cstdint>
#include <cstdio>
#include <vector>

struct Lane {
    int flags, shared, global;
};
"""
MAIN = """
int main(int, char **argv)
{
    FILE *f = fopen(argv[1], "rb");
    std::vector<Lane> rows(32 * TOTAL);
    char *base;
    Lane *table;

    if (!f || fread(rows.data(), 32 * sizeof(Lane), TOTAL, f) != TOTAL)
        return 1;
    cudaMalloc(&base, 1 << 24);
    cudaMemset(base, 0, 1 << 24);
    cudaMalloc(&table, rows.size() * sizeof(Lane));
    cudaMemcpy(table, rows.data(), rows.size() * sizeof(Lane),
               cudaMemcpyHostToDevice);
    for (auto &op : ops) {
        cudaFuncSetAttribute(op.kernel,
            cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16);
        op.kernel<<<1, 32, 1 << 16>>>(table + 32 * op.first, base);
        if (cudaDeviceSynchronize() != cudaSuccess)
            return fprintf(stderr, "%s failed\\n", op.name);
    }
    return 0;
}
"""


def read(path):
    """{op: [(active, cleared, shared, global)]}, as in the file."""
    out = {}
    with open(path) as f:
        for line in f:
            op, active, cleared, *more = line.split()
            at = [int(x) for x in more]
            out.setdefault(op, []).append(
                (int(active, 16), int(cleared, 16), at[:32], at[32:]))
    return dict(sorted(out.items()))


# ---- the program -----------------------------------------------------------

def copy(op, lane, size, predicated):
    kind, width = COPY[op.rstrip("bp")]
    text = "cp.async.%s.shared.global [%%0], [%%1], %d%s;" % (
        kind, width, ", %2" if size else "")
    args = ['"r"(low + %s.shared)' % lane, '"l"(base + %s.global)' % lane]
    if size:
        args.append('"r"(%s)' % size)
    if predicated:
        text = "{.reg .pred p; setp.ne.u32 p, %%%d, 0; @p %s}" % (len(args),
                                                                  text)
        args.append('"r"(%s.flags & 1)' % lane)
    return 'asm volatile("%s" :: %s : "memory");' % (text, ", ".join(args))


WAIT = 'asm volatile("cp.async.wait_all;" ::: "memory");'


def alone(op, rows):
    for n, (active, cleared, _, _) in enumerate(rows):
        size = "l.flags & 2 ? 0 : %d" % COPY[op.rstrip("b")][1]
        yield "{ Lane l = t[32 * %d + lane];" % n
        if op[-1] == "b":
            yield "if (l.flags & 1) {"
        yield copy(op, "l", size if cleared else "",
                   active != FULL and op[-1] != "b") + WAIT
        yield "} }" if op[-1] == "b" else "}"


def by_six(op, rows):
    width = COPY[op[:-1]][1]
    for n in range(0, len(rows), 6):
        yield "{"
        for i in range(6):
            yield "Lane l%d = t[32 * %d + lane];" % (i, n + i)
        for i in range(6):
            yield "bool b%d = l%d.flags & %d;" % (i, i, 2 if n // 6 % 2 else 4)
        for i in range(6):
            size = ("b%d ? 0 : %d" if n // 6 % 2 else "b%d ? %d : 0") % (
                i, width)
            yield copy(op, "l%d" % i, size, False)
        yield WAIT + " }"


def program(path, out, words):
    tables, first = read(path), 0
    names = ["static const struct { const char *name; void (*kernel)(const "
             "Lane *, char *); int first; } ops[] = {"]
    with open(out, "w") as f, open(words, "wb") as w:
        f.write(HEAD)
        for op, rows in tables.items():
            f.write("__global__ void all_%s(const Lane *t, char *base)\n{\n"
                    "extern __shared__ __align__(1024) char smem[];\n"
                    "uint32_t lane = threadIdx.x;\nuint32_t low = (uint32_t)"
                    "__cvta_generic_to_shared(smem);\n" % op)
            f.write("\n".join((by_six if op[-1] == "p" else alone)(op, rows)))
            f.write("\n}\n")
            names.append('{"%s", all_%s, %d},' % (op, op, first))
            first += len(rows)
            for active, cleared, near, far in rows:
                for i in range(32):
                    flags = (active >> i & 1 | (cleared >> i & 1) << 1 |
                             (~cleared >> i & 1) << 2)
                    for x in flags, near[i], far[i]:
                        w.write(x.to_bytes(4, "little"))
        f.write("\n".join(names) + "\n};\n" +
                MAIN.replace("TOTAL", str(first)))


def is_negated(n):
    return n // 12 % 2


def negate(rows, path):
    """Bit 90 of an LDGSTS is set where its predicate counts negated."""
    with open(path, "rb") as f:
        code = bytearray(f.read())
    found = [i for i in range(0, len(code) - 16, 4)
             if code[i:i + 2] == b"\xae\x7f" and code[i + 8] == 0x46]
    if len(found) != sum(map(len, read(rows).values())):
        sys.exit("%s: %d instructions" % (path, len(found)))
    for n, i in enumerate(found):
        code[i + 11] |= 4 * is_negated(n)
    with open(path, "wb") as f:
        f.write(code)


# ---- what was measured -----------------------------------------------------

def pick(path, out):
    head = None
    with open(path) as f, open(out, "w") as o:
        for row in csv.reader(f):
            if row and row[0] == "Kernel Name":
                print(row[1].split("(")[0], file=o)
            elif COLUMNS[0] in row:
                head = [row.index(c) for c in ("Source", *COLUMNS)]
            elif head and len(row) > max(head) and "LDGSTS" in row[head[0]]:
                print(*(row[i].strip() for i in head), sep="|", file=o)


def picked(path):
    found = {}
    with open(path) as f:
        for line in f:
            text, *numbers = line.rstrip("\n").split("|")
            if not numbers:
                rows = found[text.removeprefix("all_")] = []
            else:
                rows.append((text, [int(float(x)) for x in numbers]))
    return found


def rows_of(path, counts):
    n = 0
    for op, rows in read(path).items():
        if len(counts[op]) != len(rows):
            sys.exit("%s: %d instructions for %d rows" % (
                op, len(counts[op]), len(rows)))
        for (active, cleared, near, far), (text, numbers) in zip(rows,
                                                                 counts[op]):
            if op[-1] == "p" and is_negated(n):
                cleared ^= FULL
            n += 1
            guard = re.match(r"@(!?P\d)", text)
            size = re.search(r"\], (!?P\d)", text)
            yield (op.rstrip("bp"), guard.group(1) if guard else "-",
                   size.group(1) if size else "-", "%x" % active,
                   "%x" % (cleared & active), " ".join(map(str, near)),
                   " ".join(map(str, far)), *numbers)


def table(out, *paths):
    lines = [line for rows, counts in zip(paths[::2], paths[1::2])
             for line in rows_of(rows, picked(counts))]
    with gzip.GzipFile(out, "wb", mtime=0) as f:
        f.write(b"# One warp-wide cp.async a line, as Nsight Compute's source "
                b"view counts it on an NVIDIA H200 (sm_90).\n"
                b"# op: cpaN is .ca of N bytes, cpg16 .cg; guard and size: "
                b"predicates of the machine instruction, of its lanes and of "
                b"those that read; cleared: lanes that only clear\n"
                b"op\tguard\tsize\tmask\tcleared\t"
                b"shared_byte_address_of_lane_0_to_31\t"
                b"global_byte_address_of_lane_0_to_31\twavefronts\tideal\n")
        for line in lines:
            f.write(("\t".join(map(str, line)) + "\n").encode())


if __name__ == "__main__":
    {"program": program, "negate": negate, "pick": pick,
     "table": table}[sys.argv[1]](*sys.argv[2:])
