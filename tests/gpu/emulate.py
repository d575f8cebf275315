"""Runs the programs of configs.json at the given sizes; prints TAP."""
import os
import subprocess
import sys

from launches import launches, words

tilesim, folder, sizes = sys.argv[1], sys.argv[2], sys.argv[3:]
orders = ["up", "down", "mixed"]


def settings(p, size):
    return ["" if size == "small" else p["targets"]["h100"]]


cases = list(launches(folder, sizes, settings))
print(f"1..{len(cases)}")
for n, (name, p, d) in enumerate(cases, 1):
    environment = dict(os.environ, EMULATED_ORDER=orders[n % 3])
    r = subprocess.run([tilesim, "gpu", "-q", "--verify"]
                       + words(folder, p, d), text=True, capture_output=True,
                       env=environment)
    what = " ".join(f"{k}={v}" for k, v in d.items())
    print("ok" if r.returncode == 0 else "not ok", n, "-", name, what,
          flush=True)
    if r.returncode:
        for line in (r.stdout + r.stderr).splitlines()[-12:]:
            print("#", line)
