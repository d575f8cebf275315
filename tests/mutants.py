#!/usr/bin/env python3
# mutants.py - small faults planted in the shipped programs: who notices?
#
#   mutants.py TILESIM TOP [COUNT [SEED]]
#
# Every site of every operator is a mutant; COUNT of them (all without it) are
# sampled by SEED. A mutant is run at the first small size of its program. It is
# refused (does not compile), found by `tilesim check`, judged wrong by `run`,
# equivalent (no finding, same bytes), or missed. Prints a table by operator and
# the missed ones; exits 1 when less than LIMIT of a kind was noticed.
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

INDEX = re.compile(r"\[([a-z]\w*)(?=[,\]])")
ALLOC = re.compile(r"(T\.alloc_(?:shared|fragment)\([\[(]\s*)([\w.* +/-]+)(?=[,\])])")
LESS = re.compile(r"(?<=\w|\]|\)) (<|<=|>|>=) (?=\w)")
MINUS = re.compile(r"(\w+\[[^\[\]]*\]) - (\w+\[[^\[\]]*\])")
STAGES = re.compile(r"num_stages=(\w+)(?=\))")
FLIP = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
# found by checks alone, and by checks and verdict together
LIMIT = {"drop clear": (0.95, 0.95), "shift index": (0, 0.95),
         "shrink buffer": (0.95, 0.95), "flip comparison": (0, 0.95),
         "swap operands": (0, 0.95), "change stages": (0, 0)}


def changes(line):
    """(operator, changed line) of each site."""
    if re.fullmatch(r"\s*T\.(clear|fill)\([^()]*(\([^()]*\))?[^()]*\)", line):
        yield "drop clear", re.match(r"\s*", line)[0] + "pass"
    for m in INDEX.finditer(line):
        if "T.copy" in line or "=" in line:
            yield "shift index", f"{line[:m.end(1)]} + 1{line[m.end(1):]}"
    for m in ALLOC.finditer(line):
        yield "shrink buffer", f"{line[:m.end(2)]} // 2{line[m.end(2):]}"
    for m in LESS.finditer(line):
        yield "flip comparison", (line[:m.start(1)] + FLIP[m[1]]
                                  + line[m.end(1):])
    for m in MINUS.finditer(line):
        yield "swap operands", (line[:m.start()] + f"{m[2]} - {m[1]}"
                                + line[m.end():])
    for m in STAGES.finditer(line):
        yield "change stages", (line[:m.start(1)] + f"{m[1]} + 1"
                                + line[m.end(1):])


def kernel_lines(text):
    """Numbers of the lines within a T.Kernel."""
    depth = None
    for n, line in enumerate(text):
        indent = len(line) - len(line.lstrip())
        if "with T.Kernel(" in line:
            depth = indent
        elif depth is not None and line.strip() and indent <= depth \
                and not line.lstrip().startswith((")", "#")):
            depth = None
        elif depth is not None and not line.lstrip().startswith("#"):
            yield n


def mutants(top, programs):
    for name, entry in programs.items():
        path = os.path.join(top, "programs", entry["file"])
        with open(path, encoding="utf-8") as file:
            text = file.read().split("\n")
        for n in kernel_lines(text):
            for operator, line in changes(text[n]):
                changed = text[:n] + [line] + text[n + 1:]
                yield operator, name, n + 1, line.strip(), "\n".join(changed)


class Judge:
    def __init__(self, tilesim, folder):
        self.tilesim, self.folder = tilesim, folder
        self.right = {}

    def call(self, *args):
        try:
            done = subprocess.run([self.tilesim, *args], text=True, timeout=60,
                                  stdin=subprocess.DEVNULL, capture_output=True)
        except subprocess.TimeoutExpired:
            return 4
        return done.returncode

    def result(self, path, defines, outputs):
        """Exit code and bytes of the outputs."""
        out = os.path.join(self.folder, "out")
        files = [f"{out}.{o}.safetensors" for o in outputs]
        for file in files:
            if os.path.exists(file):
                os.remove(file)
        code = self.call("run", "-q", path, *defines,
                         *[w for o, f in zip(outputs, files)
                           for w in ("-o", f"{o}={f}")])
        return code, [open(f, "rb").read() if os.path.exists(f) else None
                      for f in files]

    def verdict(self, name, entry, text):
        defines = [w for item in entry["sizes"]["small"][0].split()
                   for w in ("-D", item)]
        path = os.path.join(self.folder, entry["file"])
        outputs = entry["outputs"]
        if name not in self.right:
            with open(os.path.join(self.top, "programs", entry["file"]),
                      encoding="utf-8") as file:
                right = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(right)
            self.right[name] = self.result(path, defines, outputs)[1]
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        code = self.call("check", "-q", "--one-line", path, *defines)
        if code == 1:
            return "found"
        if code != 0:
            return "refused"
        code, bytes_ = self.result(path, defines, outputs)
        if code != 0:
            return "wrong"
        return "equivalent" if bytes_ == self.right[name] else "missed"


def main(args):
    tilesim, top = args[:2]
    with open(os.path.join(top, "programs", "configs.json")) as file:
        programs = json.load(file)["programs"]
    every = list(mutants(top, programs))
    if len(args) > 2:
        random.Random(int(args[3]) if len(args) > 3 else 0).shuffle(every)
        every = every[:int(args[2])]
    table = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(tilesim, folder)
        judge.top = top
        for operator, name, n, line, text in every:
            said = judge.verdict(name, programs[name], text)
            table[operator][said] += 1
            if said == "missed":
                print(f"missed: {operator}: {name}:{n}: {line}", flush=True)
    bad = False
    for operator, row in sorted(table.items()):
        real = sum(row.values()) - row["equivalent"]
        checks = row["found"] + row["refused"]
        print(f"{operator:16} {sum(row.values()):4} mutants  "
              + "  ".join(f"{key} {row[key]}" for key in
                          ("refused", "found", "wrong", "equivalent", "missed")))
        alone, both = LIMIT[operator]
        bad |= real > 0 and (checks < alone * real
                             or checks + row["wrong"] < both * real)
    sys.exit(bad)


if __name__ == "__main__":
    main(sys.argv[1:])
