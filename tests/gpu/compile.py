"""Compiles the programs of configs.json to PTX; prints TAP."""
import os
import subprocess
import sys
import tempfile

from launches import launches, words

tilesim, folder, sizes = sys.argv[1], sys.argv[2], sys.argv[3:]
no_compiler = 6

with tempfile.TemporaryDirectory() as cache:
    environment = dict(os.environ, XDG_CACHE_HOME=cache)

    def compiled(p, d):
        return subprocess.run([tilesim, "gpu", "-q", "--emit", "ptx"]
                              + words(folder, p, d), text=True,
                              capture_output=True, env=environment)

    cases = list(launches(folder, sizes,
                          lambda p, size: ["", p["targets"]["h100"]]))
    first = compiled(*cases[0][1:])
    if first.returncode == no_compiler and "no-toolchain" in first.stderr:
        print("1..0 # SKIP no NVRTC and no nvcc")
        sys.exit()
    print(f"1..{len(cases)}")
    for n, (name, p, d) in enumerate(cases, 1):
        r = compiled(p, d)
        ok = r.returncode == 0 and ".entry" in r.stdout
        what = " ".join(f"{k}={v}" for k, v in d.items())
        print("ok" if ok else "not ok", n, "-", name, what, flush=True)
        if not ok:
            for line in r.stderr.splitlines()[-12:]:
                print("#", line)
