"""From source to running kernel: `tilesim gpu` as a whole, the first time and
cached, beside what the driver alone takes to start.

usage: start.py OUT.json
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import common

RUNS = 5
CASES = [
    ("gemm", "M=128 N=128 K=128"),
    ("softmax", "M=64 N=256"),
    ("mha_fwd_bhsd", "heads=1 seq_q=128 seq_kv=128"),
    ("topk", "M=64 topk=8"),
]
DRIVER = """
import ctypes, time
t = [time.perf_counter()]
cuda = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
t.append(time.perf_counter())
assert cuda.cuInit(0) == 0
t.append(time.perf_counter())
assert cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
t.append(time.perf_counter())
print(*(b - a for a, b in zip(t, t[1:])))
"""


def seconds(command, environment):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True,
                          env=environment)
    return time.perf_counter() - start, done.returncode


def driver():
    """Medians of loading the library, cuInit, and a context."""
    rows = [[float(x) for x in subprocess.run(
        [sys.executable, "-c", DRIVER], capture_output=True, text=True,
        check=True).stdout.split()] for _ in range(RUNS)]
    return [statistics.median(column) for column in zip(*rows)]


def main():
    load, init, context = driver()
    rows = [{"what": "driver", "load": load, "cuInit": init,
             "context": context, "sum": load + init + context}]
    print("driver alone: load %.3f, cuInit %.3f, context %.3f s" % (
        load, init, context), flush=True)
    for name, words in CASES:
        entry = common.configs()[name]
        command = [common.tilesim(), "gpu", "-q", "--no-ref",
                   common.program(entry), "--kernel", entry["kernel"],
                   *common.defines(words)]
        with tempfile.TemporaryDirectory() as cache:
            environment = dict(os.environ, XDG_CACHE_HOME=cache)
            first, code = seconds(command, environment)
            again = [seconds(command, environment)[0] for _ in range(RUNS)]
        row = {"what": name, "size": words, "exit": code, "first": first,
               "cached": statistics.median(again),
               "less_driver": statistics.median(again) - load - init - context}
        rows.append(row)
        print("%-14s first %.3f s, cached %.3f s, of it ours %.3f s, exit %d"
              % (name, first, row["cached"], row["less_driver"], code),
              flush=True)
    common.write(sys.argv[1], rows)


if __name__ == "__main__":
    main()
