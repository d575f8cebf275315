"""From source to running kernel: from the process's start until the kernel has
run and its outputs are back, the first time and cached, beside what the driver
alone takes to start. `whole` has the run on the CPU, the comparison and the
driver's end as well; what a process takes to reach its first line is within
`version`, that of `tilesim --version`.

usage: start.py OUT.json
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import common

RUNS = 9
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


def seconds(command, environment=None):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True,
                          env=environment)
    return time.perf_counter() - start, done


def launch(command, environment):
    """Its exit code, its seconds as a whole, and those of each step."""
    whole, done = seconds(command, environment)
    steps = json.loads(done.stdout)["launches"][0].get("start", {})
    return done.returncode, whole, steps


def driver():
    """Medians of loading the library, cuInit, and a context."""
    rows = [[float(x) for x in subprocess.run(
        [sys.executable, "-c", DRIVER], capture_output=True, text=True,
        check=True).stdout.split()] for _ in range(RUNS)]
    return [statistics.median(column) for column in zip(*rows)]


def main():
    load, init, context = driver()
    version = statistics.median(
        seconds([common.tilesim(), "--version"])[0] for _ in range(RUNS))
    rows = [{"what": "driver", "load": load, "cuInit": init,
             "context": context, "sum": load + init + context},
            {"what": "version", "whole": version}]
    print("driver alone: load %.3f, cuInit %.3f, context %.3f s; tilesim "
          "--version %.3f s" % (load, init, context, version), flush=True)
    for name, words in CASES:
        entry = common.configs()[name]
        command = [common.tilesim(), "gpu", "-q", "--no-ref", "--json",
                   common.program(entry), "--kernel", entry["kernel"],
                   *common.defines(words)]
        with tempfile.TemporaryDirectory() as cache:
            environment = dict(os.environ, XDG_CACHE_HOME=cache)
            code, _, first = launch(command, environment)
            again = [launch(command, environment) for _ in range(RUNS)]
        steps = {step: statistics.median(a[2][step] for a in again)
                 for step in first}
        row = {"what": name, "size": words, "exit": code,
               "first": first["ran"], "cached": steps["ran"],
               "whole": statistics.median(a[1] for a in again),
               "steps": steps}
        rows.append(row)
        print("%-14s first %.3f s, cached %.3f s, whole %.3f s, exit %d: %s"
              % (name, row["first"], row["cached"], row["whole"], code,
                 ", ".join("%s %.3f" % s for s in steps.items())),
              flush=True)
    common.write(sys.argv[1], rows)


if __name__ == "__main__":
    main()
