"""Runs the programs of configs.json at the given sizes, and the .tile files
beside this one as their "# run:" lines say; prints TAP."""
import glob
import os
import subprocess
import sys

from launches import launches, words

tilesim, folder, sizes = sys.argv[1], sys.argv[2], sys.argv[3:]
orders = ["up", "down", "mixed"]


def settings(p, size):
    return ["" if size == "small" else p["targets"]["h100"]]


# Plans of upstream's rules. "upstream": some programs, "upstream-all": all that
# upstream's compiler takes at that size.
SOME = ("gemm", "fa", "mla_decode_hopper", "gqa_fwd", "gemm_int4",
        "gemm_splitk", "layer_norm", "linear_attention")
REFUSED = ("topk", "gemm_fp8_block")
# Upstream's rules for an sm_90: a loop that producers feed in another loop, one
# past some scalars, tiles that producers copy themselves, two loops.
FED = (
    ("gemm_streamk", "M=70 N=80 K=152 num_blocks=4 block_M=64 block_N=32 "
     "block_K=32 num_stages=2 threads=128"),
    ("grouped_gemm", "total_M=70 N=56 K=48 groups=4 block_M=64 block_N=32 "
     "block_K=16 num_stages=2 threads=128"),
    ("grouped_gemm", "total_M=70 N=56 K=20 groups=4 block_M=64 block_N=32 "
     "block_K=16 num_stages=2 threads=128"),
    ("linear_attention", "batch=1 heads=2 seq_len=70 dim=32 dim_v=24 chunk=64 "
     "block_V=16 num_stages=2 threads=128"),
    ("gqa_bwd", "batch=1 heads=2 groups=1 seq_len=70 dim=32 block_M=64 "
     "block_N=64 num_stages=1 threads=128 is_causal=True"),
)


def fed():
    programs = {name: p for name, p, _ in launches(folder, ["small/1"],
                                                   settings)}
    rows = [(p, d) for _, p, d in launches(folder, ["fed/1"], settings)]
    rows += [(programs[name], dict(w.split("=") for w in size.split()))
             for name, size in FED]
    for p, d in rows:
        yield ["--as", "tilelang", "--target", "h100"] + words(folder, p, d)


def upstream(sizes):
    for size in sizes:
        for name, p, d in launches(folder, ["small/1"], settings):
            if name in SOME if size == "upstream" else name not in REFUSED:
                yield (["--as", "tilelang", "--target", "a100"]
                       + words(folder, p, d))


# T.gemm and conversions alone: to the bit what `run --numerics=h100` computes.
def exact():
    gemm = {"file": "gemm.tile", "kernel": "gemm"}
    size = {"M": 100, "N": 130, "K": 96}
    for dtype in "float16", "bfloat16", "float32":
        yield "gemm", gemm, {**size, "dtype": dtype}
    tile = {"file": "../tests/num/gemm_bits.tile", "kernel": "gemm"}
    size = {"tiles": 2, "M": 64, "N": 32, "threads": 128, "acc": "float32"}
    for dtype in "float16", "float8_e4m3fn", "float8_e5m2":
        yield "gemm_bits", tile, {**size, "K": 64, "dtype": dtype}
    # k that no instruction divides
    yield "gemm_bits", tile, {**size, "K": 40, "dtype": "float16"}


def files():
    for path in sorted(glob.glob(os.path.dirname(__file__) + "/*.tile")):
        with open(path) as f:
            for line in f:
                if line.startswith("# run: "):
                    yield ["--kernel"] + line[len("# run: "):].split() + [path]


def run(n, arguments, bits):
    options = ["--no-ref", "--numerics", "h100"] if bits else []
    environment = dict(os.environ, EMULATED_ORDER=orders[n % 3])
    r = subprocess.run([tilesim, "gpu", "-q", "--verify", *options]
                       + arguments, text=True, capture_output=True,
                       env=environment)
    good = r.returncode == 0 and (not bits or "all bits equal" in r.stdout
                                  and "of bits equal" not in r.stdout)
    what = " ".join(arguments[:-1]).replace("-D ", "")
    what = what.replace("--kernel ", "")
    print("ok" if good else "not ok", n, "-", os.path.basename(arguments[-1]),
          what, "every bit" if bits else "", flush=True)
    if not good:
        for line in (r.stdout + r.stderr).splitlines()[-12:]:
            print("#", line)


theirs = [s for s in sizes if s.startswith("upstream")]
ours = [s for s in sizes if s not in theirs]
cases = [(words(folder, p, d), False)
         for _, p, d in launches(folder, ours, settings)]
cases += [(case, False) for case in upstream(theirs)]
if theirs:
    cases += [(case, False) for case in fed()]
cases += [(words(folder, p, d), True) for _, p, d in exact()]
cases += [(case, False) for case in files()]
print(f"1..{len(cases)}")
for n, case in enumerate(cases, 1):
    run(n, *case)
