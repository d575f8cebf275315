"""What the scripts of this folder share: running `tilesim gpu`, and results.

They need a GPU and Python alone; what compares with libraries needs torch.
"""

import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def tilesim():
    return os.environ.get("TILESIM", os.path.join(TOP, "build", "tilesim"))


def defines(text):
    """-D options of the words of programs/configs.json."""
    return [w for pair in text.split() for w in ("-D", pair)]


def program(entry):
    return os.path.join(TOP, "programs", entry["file"])


def configs():
    with open(os.path.join(TOP, "programs", "configs.json")) as f:
        return json.load(f)["programs"]


def gpu(entry, words, options, timeout=180):
    """One launch: its exit code and its part of the JSON document. $OPTIONS
    has more options: "--as=tilelang --target=a100"."""
    command = [tilesim(), "gpu", program(entry), "--kernel", entry["kernel"],
               *defines(words), "--json", "-q", *options,
               *os.environ.get("OPTIONS", "").split()]
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        return 124, None, "no end after %d s" % timeout
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return done.returncode, None, done.stderr[-600:]
    launches = document["launches"]
    errors = [d["message"] for d in document["diagnostics"]
              if d["level"] == "error"]
    return (done.returncode, launches[0] if launches else None,
            "; ".join(errors))


def commit():
    """The tree's, or what $COMMIT says where there is no git."""
    if "COMMIT" in os.environ:
        return os.environ["COMMIT"]
    done = subprocess.run(["git", "-C", TOP, "rev-parse", "HEAD"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def smi(fields):
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=" + fields,
                               "--format=csv,noheader"],
                              capture_output=True, text=True)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip()


def command():
    """As it was given; of folders elsewhere, where they lie is left out."""
    return " ".join(os.path.basename(a) if os.path.isabs(a) else a
                    for a in sys.argv)


def write(name, rows, **more):
    """A document of bench/results; `name` is a path."""
    document = {"commit": commit(), "command": command(),
                "device": smi("name"), "driver": smi("driver_version"),
                **more}
    with open(name, "w") as f:
        f.write("{\n")
        for key, value in document.items():
            f.write(" %s: %s,\n" % (json.dumps(key), json.dumps(value)))
        f.write(' "rows": [\n')
        f.write(",\n".join("  " + json.dumps(row) for row in rows))
        f.write("\n ]\n}\n")
