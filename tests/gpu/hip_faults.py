"""Puts faults into what is built for gfx942 and holds that each is found: waits
and barriers dropped from the code object, wrong maps of lanes in the source, and
code that does not keep to its plan. Prints TAP.

usage: hip_faults.py TILESIM PROGRAMS WORK [EVERY]: one wait of EVERY (12) is dropped
"""
import json
import os
import re
import stat
import subprocess
import sys

tilesim, folder, work = sys.argv[1:4]
every = int(sys.argv[4]) if len(sys.argv) > 4 else 12
here = os.path.dirname(os.path.abspath(__file__))
count = 0

# Small, and of more than one wave. Loops, reductions, atomics, several kernels.
PROGRAMS = {
    "gemm": ("gemm.tile", "gemm", "M=64 N=64 K=640 block_M=64 block_N=64 "
             "block_K=32 num_stages=1 threads=256"),
    "fa": ("fa.tile", "flash_attention", "block_M=64 block_N=32 num_split_q=1 "
           "num_stages=1 threads=256 batch=1 heads=1 seq_len=320 "
           "is_causal=False"),
    "gqa_bwd": ("gqa_bwd.tile", None, "block_M=64 block_N=32 num_stages=0 "
                "threads=128 batch=1 heads=1 groups=1 seq_len=160 "
                "is_causal=False"),
    "softmax": ("softmax.tile", None, "block_M=8 block_N=512 threads=256 M=9 "
                "N=1025"),
    "gemm_splitk": ("gemm_splitk.tile", None, "block_M=64 block_N=64 "
                    "block_K=32 num_stages=0 threads=256 M=64 N=64 K=1280 "
                    "num_split=2"),
}

# Whose plans are held to: of no loop that is written out twice, of no narrow
# reads.
PLANNED = {
    "gemm": ("gemm.tile", "gemm", "M=256 N=256 K=128 block_M=256 block_N=128 "
             "block_K=32 num_stages=1 threads=256"),
    "mha_fwd_bhsd": ("mha_fwd_bhsd.tile", None, "block_M=128 block_N=32 "
                     "num_stages=1 threads=256 batch=1 heads=1 seq_q=128 "
                     "seq_kv=128 is_causal=False"),
}


def report(good, what, why=""):
    global count
    count += 1
    print("ok" if good else "not ok", count, "-", what, flush=True)
    for line in str(why).splitlines()[-12:] if not good else []:
        print("#", line)


def gpu(name, fault, *more, programs=PROGRAMS):
    file, kernel, sizes = programs[name]
    words = [w for d in sizes.split() for w in ("-D", d)]
    if kernel is None:
        with open(f"{folder}/configs.json") as f:
            kernel = json.load(f)["programs"][name]["kernel"]
    return subprocess.run(
        [tilesim, "gpu", "-q", "--target", "mi300x", "--kernel", kernel, *words,
         *more, f"{folder}/{file}"], text=True, capture_output=True,
        env=dict(os.environ, FAULT=json.dumps(fault)))


# ---- what is dropped ---------------------------------------------------------

def listing(name):
    """By kernel: offset, first word and text of each instruction."""
    kernels, code = {}, None
    for line in gpu(name, {}, "--emit", "isa").stdout.splitlines():
        m = re.match(r" *([0-9a-f]+)  ([0-9a-f]{8})  (.*)", line)
        if m:
            code.append((int(m[1], 16), int(m[2], 16), m[3]))
        elif line.endswith(":"):
            code = kernels.setdefault(line[:-1], [])
    return kernels


def joins(code):
    """Where branches go."""
    found = set()
    for at, word, text in code:
        if text.startswith(("s_branch", "s_cbranch")):
            jump = word & 0xffff
            found.add(at + 4 + 4 * (jump - (jump >> 15 << 16)))
    return found


BEGUN = {"lgkmcnt": ("ds_", "s_load"), "vmcnt": ("global_load",)}


def surely_waits(code, i, targets):
    """Something was begun in this block, and not waited for as much."""
    wait = re.search(r"(vmcnt|lgkmcnt)\((\d+)\)", code[i][2])
    for at, _, text in reversed(code[:i]) if wait else ():
        earlier = re.search(wait[1] + r"\((\d+)\)", text)
        if text.startswith(BEGUN[wait[1]]):
            return True
        if at in targets or text.startswith(("s_branch", "s_cbranch")) or \
                (earlier and int(earlier[1]) <= int(wait[2])):
            return False
    return False


def is_repeated(code, i):
    """A branch goes back over it; the first time round may need no barrier."""
    for at, word, text in code[i:]:
        jump = word & 0xffff
        if text.startswith(("s_branch", "s_cbranch")) and \
                at + 4 + 4 * (jump - (jump >> 15 << 16)) <= code[i][0]:
            return True
    return False


def places(name, start):
    for kernel, code in listing(name).items():
        targets = joins(code)
        for i, (at, _, text) in enumerate(code):
            if text.startswith(start) and (
                    is_repeated(code, i) if start == "s_barrier"
                    else surely_waits(code, i, targets)):
                yield kernel, at, text


def drop(name, start, found, step):
    missed, all_of_them = [], list(places(name, start))
    for kernel, at, text in all_of_them[::step]:
        r = gpu(name, {"drop": [kernel, at]}, "--json")
        if r.returncode != 1 or not re.search(found, r.stdout):
            missed.append(f"{kernel}+0x{at:x} {text}: exit {r.returncode}")
    n = len(all_of_them[::step])
    report(n and not missed, f"{name}: {n} of {len(all_of_them)} {start} "
           "dropped, each noticed", "\n".join(missed))


# ---- wrong maps ----------------------------------------------------------------

MAPS = (
    ("lanes have each other's k", r"lane / 16 \* (\d+)", r"(3 - lane / 16) * \1"),
    ("rows of A in another order", r"lane % 16\)", "(lane ^ 1) % 16)"),
    ("halves exchanged", "0x05040100u", "0x07060302u"),
    ("waves at each other's columns", r"n0 = warp / (\d+) ", r"n0 = warp % \1 "),
    ("a result's rows in another order", r"tid % 16 ", "(tid ^ 1) % 16 "),
    ("partners of a reduction", r"(shuffle_xor\(.*), 1\)", r"\1, 2)"),
    ("partners in other waves", r"(\+ work)\[tid \^ 64\]",
     r"\1[tid ^ 128]"),
    ("a row's threads in another order", r"\(tid % 128\)", "(tid % 64)"),
)


def wrong_maps(name, least):
    source = gpu(name, {}, "--emit", "hip").stdout
    body = source[source.index("// ---- kernels"):]
    missed, tried = [], 0
    for what, old, new in MAPS:
        found = [m for m in re.finditer(old, source if "0x" in old else body)
                 if m[0] != m.expand(new)]
        if not found:
            continue
        m = found[-1]
        tried += 1
        r = gpu(name, {"replace": [m[0], m.expand(new)]})
        if r.returncode != 1:
            missed.append(f"{what}: exit {r.returncode}: {r.stderr}")
    report(tried >= least and not missed,
           f"{name}: {tried} wrong maps of lanes, each noticed",
           "\n".join(missed))


# ---- what does not keep to its plan ---------------------------------------------

MOVE_WORDS = """DEVICE void move_words(u32 *to, const void *from)
{
    for (int i = 0; i < 4; i++)
        to[i] = ((const volatile __attribute__((address_space(3))) u32 *)from)[i];
}
"""


def broken_plans():
    for what, name, old, new, said in (
            ("half of the products", "mha_fwd_bhsd", "tj++)\n", "tj += 2)\n",
             "matrix instructions, .* were planned"),
            ("no product at all", "gemm", "put_words(d, ",
             "(void)(", "reported 2 times"),        # nor is memory shared
            ("reads in quarters", "mha_fwd_bhsd", "move<16>(ta[ti], &Q",
             "move_words(ta[ti], &Q", "it reads 4 bytes of shared memory at a "
             "time where 8 were planned"),
            ("more shared memory", "gemm", "unsigned char arena[",
             "unsigned char arena[1024 + ", "bytes of shared memory, .* were"),
            ("a register file too small", "mha_fwd_bhsd", "amdgpu_waves_per_eu(",
             "amdgpu_num_vgpr(24), amdgpu_waves_per_eu(", "are spilled")):
        fault = {"replace": [old, new]}
        if "move_words" in new:
            fault["before"] = MOVE_WORDS
        r = gpu(name, fault, "--build-only", programs=PLANNED)
        report(r.returncode == 1 and re.search(said, r.stderr)
               and "gpu-plan" in r.stderr, f"--build-only: {what}",
               f"exit {r.returncode}: {r.stderr}")


def compiler():
    """A program that tilesim takes for clang."""
    path = f"{work}/clang"
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\nexec '{sys.executable}' '{here}/faulty_clang.py' "
                '"$@"\n')
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    os.makedirs(f"{work}/kept", exist_ok=True)
    os.environ.update(CLANG=os.environ["TILESIM_CLANG"], TILESIM_CLANG=path,
                      KEPT=f"{work}/kept")


compiler()
for program in PROGRAMS:
    r = gpu(program, {})
    report(r.returncode == 0, f"{program} is right without a fault",
           r.stdout + r.stderr)
for program in PROGRAMS:
    drop(program, "s_waitcnt", "isa-not-waited|isa-lds-in-flight", every)
for program in "gemm", "fa", "gqa_bwd", "gemm_splitk":
    drop(program, "s_barrier", "isa-lds-race|isa-lds-in-flight",
         max(1, every // 3))
for program, least in (("gemm", 4), ("fa", 3), ("gqa_bwd", 3), ("softmax", 3),
                       ("gemm_splitk", 3)):
    wrong_maps(program, least)
broken_plans()
print(f"1..{count}")
