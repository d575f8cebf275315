"""GEMM and attention against the best libraries, in the same run, on the same
inputs: cuBLAS through torch.matmul, cuDNN through torch's attention.

usage: speed.py OUT.json
"""

import os
import statistics
import subprocess
import json
import sys
import tempfile

import numpy as np
import torch

import common

RUNS, WARM = 100, 20


def timed(call):
    """Median, least and 95th percentile of the device's times, in ms."""
    for _ in range(WARM):
        call()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(RUNS + 1)]
    marks[0].record()
    for mark in marks[1:]:
        call()
        mark.record()
    torch.cuda.synchronize()
    ms = sorted(a.elapsed_time(b) for a, b in zip(marks, marks[1:]))
    return {"median_ms": statistics.median(ms), "min_ms": ms[0],
            "p95_ms": ms[int(0.95 * RUNS) - 1]}


def uniform(*shape):
    return (torch.rand(*shape, device="cuda") * 2 - 1).half()


def ours(file, defines, tensors, folder):
    """tilesim gpu --bench on these tensors; its launch's JSON."""
    words = []
    for name, tensor in tensors.items():
        path = os.path.join(folder, name + ".npy")
        if not os.path.exists(path):
            np.save(path, tensor.cpu().numpy())
        words += ["--in", "%s=%s" % (name, path)]
    done = subprocess.run(
        [common.tilesim(), "gpu", os.path.join(common.TOP, "programs", file),
         *common.defines(defines), *words, "--bench", "--blocks", "8",
         "--json", "-q"], capture_output=True, text=True)
    try:
        launch = json.loads(done.stdout)["launches"][0]
    except (ValueError, IndexError):
        sys.exit("%s: %s" % (defines, done.stderr or done.stdout))
    return launch


def compare(what, file, defines, tensors, library, call, flops, rows):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        best = timed(call)
        for setting in defines:
            launch = ours(file, setting, tensors, folder)
            bench = launch["bench"]
            kernel = launch["build"]["kernels"][-1]
            rate = flops / bench["median_ms"] * 1e-9
            row = {"what": what, "setting": setting, "exit": launch["exit"],
                   "tflops": rate, "bench": bench,
                   "registers": kernel.get("registers"),
                   "spill_bytes": kernel.get("spill_bytes"),
                   "library": library, "library_ms": best,
                   "library_tflops": flops / best["median_ms"] * 1e-9,
                   "of_library": best["median_ms"] / bench["median_ms"]}
            rows.append(row)
            print("%-10s %-72s %6.1f TFLOP/s, %s %6.1f: %.3f  exit %d"
                  % (what, setting, rate, library, row["library_tflops"],
                     row["of_library"], launch["exit"]), flush=True)


def gemm(rows):
    n = 8192
    a, b = uniform(n, n), uniform(n, n)
    settings = ["M=8192 N=8192 K=8192 " + s for s in (
        "",
        "block_M=128 block_N=256 block_K=64 num_stages=4 threads=256",
        "block_M=128 block_N=128 block_K=64 num_stages=4 threads=256",
        "block_M=256 block_N=128 block_K=64 num_stages=3 threads=256",
    )]
    compare("gemm", "gemm.tile", settings, {"A": a, "B": b}, "cuBLAS",
            lambda: torch.matmul(a, b), 2 * n ** 3, rows)


def attention(rows):
    shape = (8, 32, 4096, 128)
    q, k, v = (uniform(*shape) for _ in range(3))
    settings = ["batch=8 heads=32 seq_q=4096 seq_kv=4096 dim=128 "
                "is_causal=False" + s for s in (
                    "", " block_M=128 block_N=128 num_stages=2 threads=256")]
    backend = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

    def call():
        with torch.nn.attention.sdpa_kernel(backend):
            torch.nn.functional.scaled_dot_product_attention(q, k, v)

    compare("mha_fwd", "mha_fwd_bhsd.tile", settings,
            {"Q": q, "K": k, "V": v}, "cuDNN", call,
            4 * 8 * 32 * 4096 * 4096 * 128, rows)


def main():
    rows = []
    gemm(rows)
    attention(rows)
    common.write(sys.argv[1], rows, torch=torch.__version__,
                 cudnn=torch.backends.cudnn.version())


if __name__ == "__main__":
    main()
