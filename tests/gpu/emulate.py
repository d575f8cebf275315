"""Runs the programs of configs.json at the given sizes; prints TAP."""
import json
import os
import subprocess
import sys

tilesim, folder, sizes = sys.argv[1], sys.argv[2], sys.argv[3:]
orders = ["up", "down", "mixed"]


def launches():
    with open(f"{folder}/configs.json") as f:
        programs = json.load(f)["programs"]
    for name, p in programs.items():
        for word in sizes:      # "small", or "small/1": the first of each
            size, _, most = word.partition("/")
            settings = "" if size == "small" else p["targets"]["h100"]
            values = p["sizes"].get(size, [])
            for values in values[:int(most)] if most else values:
                d = dict(w.split("=", 1) for w in settings.split())
                d.update(w.split("=", 1) for w in values.split())
                yield name, p, d


cases = list(launches())
print(f"1..{len(cases)}")
for n, (name, p, d) in enumerate(cases, 1):
    words = [tilesim, "gpu", "-q", "--verify", "--kernel", p["kernel"]]
    for key, value in d.items():
        words += ["-D", f"{key}={value}"]
    environment = dict(os.environ, EMULATED_ORDER=orders[n % 3])
    r = subprocess.run(words + [f"{folder}/{p['file']}"], text=True,
                       capture_output=True, env=environment)
    what = " ".join(f"{k}={v}" for k, v in d.items())
    print("ok" if r.returncode == 0 else "not ok", n, "-", name, what,
          flush=True)
    if r.returncode:
        for line in (r.stdout + r.stderr).splitlines()[-12:]:
            print("#", line)
