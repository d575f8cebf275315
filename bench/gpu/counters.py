"""The profiler's counters of every shared access in generated kernels, held
against the plan's.

usage: counters.py FOLDER OUT.json [PROGRAM...]

FOLDER gets a folder for each launch with the generated source, its machine code
and the profiler's pages; one that is there is only compared again.

ncu attributes wavefronts, and those that an access without bank conflicts would
take, to machine instructions; sass.py tells which line of the program each came
from; `tilesim lds-report --as tilesim` has what the plan says of that line.
Needs ncu and nvdisasm ($NVDISASM) on the path. With RULES=tilelang in the
environment the kernels have upstream's plans for an sm_80, which an H200 runs,
or with TARGET=h100 too those for an sm_90; NVRTC compiles them once more for the
lines of their instructions.
"""

import collections
import csv
import ctypes
import hashlib
import io
import itertools
import json
import os
import re
import subprocess
import sys

import common
import sass

RULES, PLAN_FOR, PLAN = "tilesim", "h100", []
HERE = os.path.dirname(os.path.abspath(__file__))
FED = "h100"                # with the settings for this target
# program, settings, sizes; the last ones have conflicts on purpose.
CASES = [
    ("fa", FED, "seq_len=512 heads=2 batch=1"),
    ("fa", "", "seq_len=512 heads=2 batch=1 is_causal=True"),
    ("mha_fwd_bhsd", FED, "batch=1 heads=2 seq_q=512 seq_kv=512"),
    ("mha_fwd_pipelined", FED, ""),
    ("gqa_fwd", FED, ""),
    ("mha_bwd", FED, ""),
    ("gqa_bwd", FED, ""),
    ("gemm", "", "M=256 N=256 K=256"),
    ("gemm", "", "M=256 N=256 K=256 dtype=float32"),
    ("gemm", FED, "M=256 N=256 K=256"),
    ("softmax", FED, "M=128 N=4096"),
    ("rms_norm", FED, "M=128 N=4096"),
    ("layer_norm", FED, "M=128 N=2048"),
    ("topk", FED, ""),
    ("flash_decoding", FED, ""),
    ("linear_attention", FED, ""),
    ("gemm_int4", FED, ""),
    ("gemm_fp8_block", FED, ""),
    ("grouped_gemm", FED, ""),
    ("gemm_streamk", FED, ""),
    ("mla_decode", FED, ""),
    ("mla_decode_hopper", FED, ""),
    ("mla_decode_paged", FED, ""),
    ("gemm", "", "M=256 N=256 K=256 block_M=32 block_N=32 block_K=32 "
     "threads=64"),
    # tiles at the edges
    ("gemm", "", "M=70 N=50 K=45 block_M=32 block_N=32 block_K=32 threads=64"),
    ("gemm", "", "M=100 N=130 K=70 block_M=64 block_N=128 block_K=32 "
     "num_stages=4 threads=128"),
    ("gemm", "", "M=100 N=70 K=72 block_M=128 block_N=64 block_K=64 "
     "num_stages=4 threads=256 dtype=bfloat16"),
    ("rms_norm", "", "M=13 N=45 block_M=4 block_N=16 threads=64"),
    ("linear_attention", "", "batch=2 heads=2 seq_len=45 dim=16 dim_v=24 "
     "chunk=16 block_V=16 threads=64"),
    ("mla_decode_paged", "", "batch=3 heads=16 max_pages=4 page_size=64 dim=32 "
     "pe_dim=16 num_split=3 block_N=16 block_H=16 threads=64"),
    ("gqa_bwd", "", "batch=2 heads=4 groups=2 seq_len=45 dim=16 block_M=32 "
     "block_N=32 threads=64 is_causal=True"),
    ("turn", None, "dtype=float32"),
    ("turn", None, "dtype=float16"),
    ("row_sums", None, ""),
    ("column_sums", None, ""),
    ("histogram", None, ""),
    ("turned_gemm", None, "dtype=float32"),
    ("turned_gemm", None, "dtype=int8"),
    ("unpack", None, ""),
    ("stripe", None, "width=8"),
    ("stripe", None, "width=2"),
    ("stripe", None, "width=2 pitch=2"),
    ("stripe", None, "width=2 cols=2"),
    ("stripe", None, "width=4 pitch=4"),
    ("stripe", None, "width=4 cols=4"),
    ("stripe", None, "width=8 pitch=8 rows=50"),
    ("stripe", None, "width=2 pitch=2 rows=50"),
]
CLASSES = [("ld.shared", "LDS"), ("st.shared", "STS"), ("ldmatrix", "LDSM"),
           ("stmatrix", "STSM"), ("cp.async", "LDGSTS"), ("atom", "ATOMS")]
COLUMNS = ("Instructions Executed", "L1 Wavefronts Shared",
           "L1 Wavefronts Shared Ideal")
TOTALS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")


def follow(rules, target=None):
    """Sets by whose rules plans are made."""
    global RULES, PLAN_FOR, PLAN
    RULES = rules
    PLAN_FOR = target or {"tilesim": "h100", "tilelang": "a100"}[rules]
    PLAN = [] if rules == "tilesim" else ["--as", rules, "--target", PLAN_FOR]


def arguments(name, target, words):
    """The part of a command line that says what to launch."""
    if target is None:
        return ["--kernel", name, *common.defines(words),
                os.path.join(HERE, "shared.tile")]
    entry = common.configs()[name]
    words = words or entry["sizes"]["default"][0]
    settings = dict(w.split("=", 1) for w in
                    (entry["targets"].get(target, "") + " " + words).split())
    return ["--kernel", entry["kernel"],
            *common.defines(" ".join("=".join(i) for i in settings.items())),
            common.program(entry)]


def tilesim(*words, **more):
    return subprocess.run([os.path.abspath(common.tilesim()), *words],
                          capture_output=True, text=True, **more)


def folder_of(case):
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(w or "" for w in case))


def class_of(name):
    for start, found in CLASSES:
        if name.startswith(start):
            return found
    return name.split(".")[0]


# ---- the plan

def planned(words, lines):
    """{(launch, line, class): [instructions, wavefronts, conflicts]}, which
    of them the plan only estimates, and what it does not count."""
    done = tilesim("lds-report", "--as", RULES, "--target", PLAN_FOR,
                   "--json", *words)
    out, open_, guessed = collections.defaultdict(lambda: [0, 0, 0]), [], set()
    for i, launch in enumerate(json.loads(done.stdout)["kernels"][0]
                               ["launches"]):
        for a in launch["targets"][0]["accesses"]:
            if a["space"] != "shared" or not a["lsu"]:
                continue
            if "issues" not in a:
                open_.append("%s:%d" % (a["buffer"], a["line"]))
                continue
            key = i, statement(lines, a["line"]), class_of(a["instruction"])
            for n, field in enumerate(("issues", "cycles", "conflicts")):
                out[key][n] += a[field]
            if "estimate" in (a["cycles_basis"], a["conflicts_basis"]):
                guessed.add(key)
    return out, guessed, open_


def statement(lines, line):
    """The statement, of those that the generated source names, of a line."""
    return max((x for x in lines if x <= line), default=line)


# ---- the profiler

def digest(source):
    return hashlib.sha256(source.encode()).hexdigest()


def path_in(folder, name):
    return os.path.join(os.path.abspath(folder), name)


def read(folder, name):
    with open(path_in(folder, name)) as f:
        return f.read()


def profile(words, folder):
    """Leaves the source, its code, the profiler's pages and its log."""
    os.makedirs(folder)
    for form in ("cuda",) if PLAN else ("cuda", "cubin"):
        tilesim("gpu", "-q", *PLAN, "--emit", form, "-o",
                path_in(folder, "kernel." + form), *words)
    report = path_in(folder, "profile.ncu-rep")
    done = subprocess.run(
        ["ncu", "--clock-control", "none", "--section", "SourceCounters",
         "--metrics", ",".join(TOTALS), "-f", "-o", report,
         os.path.abspath(common.tilesim()), "gpu", "--no-ref", "-q", *PLAN,
         *words],
        cwd=folder, capture_output=True, text=True)
    with open(path_in(folder, "log"), "w") as f:
        f.write(done.stdout + done.stderr)
    for page, more in ("source", ["--print-source", "sass"]), ("raw", []):
        text = subprocess.run(
            ["ncu", "-i", report, "--page", page, "--csv", "--print-units",
             "base", *more], cwd=folder, capture_output=True, text=True).stdout
        with open(path_in(folder, page + ".csv"), "w") as f:
            f.write(text)
    if os.path.exists(report):
        os.remove(report)


def compiled(folder):
    """The machine code, for an H200 where the plan is for another."""
    path = path_in(folder, "kernel.cubin")
    if os.path.exists(path):
        return path
    lib = ctypes.CDLL("libnvrtc.so.13")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [b"--gpu-architecture=sm_90a", b"-default-device",
               b"--std=c++17", b"--fmad=false", b"-lineinfo"]
    lib.nvrtcCreateProgram(ctypes.byref(program),
                           read(folder, "kernel.cuda").encode(), b"kernel.cu",
                           0, None, None)
    if lib.nvrtcCompileProgram(program, len(options),
                               (ctypes.c_char_p * len(options))(*options)):
        raise ValueError("NVRTC does not compile the kernel")
    lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, code)
    with open(path, "wb") as f:
        f.write(code.raw)
    return path


def number(text):
    return int(float(text.replace(",", "") or 0))


def sections(page):
    """[[(instruction, numbers of COLUMNS)]], one list a launch."""
    out, header = [], None
    for row in csv.reader(io.StringIO(page)):
        if COLUMNS[1] in row:
            header = row
            out.append([])
        elif header and len(row) == len(header):
            out[-1].append((row[header.index("Source")],
                            [number(row[header.index(name)])
                             for name in COLUMNS]))
    return out


def same(a, b):
    """Whether two disassemblers' lines begin with one operation."""
    first, second = (re.sub(r"^@!?U?P\w+\s+", "", x.strip()).split()
                     for x in (a, b))
    return first[:1] == second[:1]


# The source view takes P0 for false in what passes L1 by (docs/devices.md).
MISREAD = re.compile(r"@!?P0 +LDGSTS\S*BYPASS|LDGSTS\S*BYPASS.*\], !?P0\b")


def measured(page, code, source):
    """{(launch, line, class): [instructions, wavefronts, ideal]}, and which of
    them the profiler misreads."""
    lines = sass.program_lines(source)
    names = re.findall(r"^(tilesim_\w+)\($", source, re.M)
    out, misread = collections.defaultdict(lambda: [0, 0, 0]), set()
    for rows in sections(page):
        for i, name in enumerate(names):
            if (len(rows) == len(code[name]) and
                    all(same(r[0], c[0]) for r, c in zip(rows, code[name]))):
                break
        else:
            raise ValueError("no kernel has these %d instructions" % len(rows))
        for (text, numbers), (_, places) in zip(rows, code[name]):
            line = places[-1][1] if places else 0
            op = sass.operation(text)
            # @!PT: what waits for a pipe and moves nothing
            if not op or text.strip().startswith("@!PT"):
                continue
            key = i, lines[line], op.split(".")[0]
            if numbers[0] and MISREAD.search(text):
                misread.add(key)
            cell = out[key]
            for n in range(3):
                cell[n] += numbers[n]
    return out, misread


def totals(raw):
    rows = list(csv.DictReader(io.StringIO(raw)))
    return [[number(row[name]) for name in TOTALS] for row in rows
            if row.get("ID")]


# ---- one against the other

def same_sums(rows):
    return all(sum(r[k] for r in rows) == sum(r["plan"][k] for r in rows)
               for k in ("executed", "wavefronts", "excessive"))


def find_together(rows):
    """The line table gives an instruction whose operands two statements share
    to either: few whose sums are equal are told as that."""
    groups = collections.defaultdict(list)
    for r in rows:
        if not r["equal"]:
            groups[r["launch"], r["instruction"]].append(r)
    for left in groups.values():
        for size in 2, 3:
            for group in itertools.combinations(left, size):
                if same_sums(group) and not any("equal_together" in g
                                                for g in group):
                    for one in group:
                        one["equal_together"] = [g["line"] for g in group]


def compare(case, folder):
    name, target, words = case
    command = arguments(name, target, words)
    head = {"program": name, "target": target or "",
            "size": " ".join(w for w in command[2:-1] if w != "-D")}
    if not os.path.exists(folder):
        profile([os.path.abspath(w) if os.path.exists(w) else w
                 for w in command], folder)
    source, page = read(folder, "kernel.cuda"), read(folder, "source.csv")
    if not page:
        return [{**head, "error": read(folder, "log")[-400:]}]
    code = sass.compiled(compiled(folder))
    plan, guessed, open_ = planned(command, {x for x in sass.program_lines(source) if x})
    real, misread = measured(page, code, source)
    rows = []
    for key in sorted(set(plan) | set(real)):
        mine, theirs = plan.get(key, [0, 0, 0]), real.get(key, [0, 0, 0])
        rows.append({
            **head, "launch": key[0], "line": key[1], "instruction": key[2],
            "executed": theirs[0], "wavefronts": theirs[1],
            "excessive": theirs[1] - theirs[2],
            "plan": {"executed": mine[0], "wavefronts": mine[1],
                     "excessive": mine[2]},
            "equal": mine[1] == theirs[1] and mine[2] == theirs[1] - theirs[2],
            "basis": "estimate" if key in guessed else "measured"})
        if key in misread:
            rows[-1]["misread"] = "the profiler takes P0 for false"
    find_together(rows)
    rows.append({**head, "all": totals(read(folder, "raw.csv")),
                 "not_counted": open_, "source": digest(source)})
    return rows


def main():
    rows = []
    follow(os.environ.get("RULES", "tilesim"), os.environ.get("TARGET"))
    for case in CASES:
        if sys.argv[3:] and case[0] not in sys.argv[3:]:
            continue
        try:
            found = compare(case, os.path.join(sys.argv[1], folder_of(case)))
        except (ValueError, KeyError, OSError,
                subprocess.CalledProcessError) as e:
            found = [{"program": case[0], "size": case[2], "error": repr(e)}]
        rows += found
        good = sum(r.get("equal", False) or "equal_together" in r
                   for r in found)
        print("%-20s %-50s %d of %d equal%s" % (
            case[0], case[2], good, sum("equal" in r for r in found),
            "".join("  " + r["error"] for r in found if "error" in r)),
            flush=True)
        for r in found:
            if not r.get("equal", True) and "equal_together" not in r:
                print("    :%d %s %s %s" % (r["line"], r["instruction"], {
                    k: (r["plan"][k], r[k]) for k in r["plan"]},
                    r.get("misread", "")), flush=True)
    common.write(sys.argv[2], rows)


if __name__ == "__main__":
    main()
