#!/usr/bin/env python3
# upstream.py - does TileLang itself compile the programs?
#
# For every program at its small, second odd and default size, and at its default
# size with the settings of each target: device source for sm_90a or gfx942.
# Needs torch and the wheel of tilelang, no GPU.
#
#   upstream.py [NAME...]           programs of configs.json, all by default
#   upstream.py --reports [FILE...] tests/reports: which of them it compiles now
import ast
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "..", "programs")
REPORTS = os.path.join(HERE, "..", "reports")
TARGETS = {"h100": {"kind": "cuda", "arch": "sm_90a"},
           "mi300x": {"kind": "hip", "mcpu": "gfx942"}}


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def arguments(line):
    pairs = (item.split("=", 1) for item in line.split())
    return {name: literal(value) for name, value in pairs}


def load(path):
    loader = importlib.machinery.SourceFileLoader("program", path)
    spec = importlib.util.spec_from_loader("program", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def source(kernel, given, target):
    """The device source that TileLang makes of a kernel."""
    from tilelang import tvm
    from tilelang.engine import lower
    chip = tvm.target.Target(TARGETS[target])
    kernel = getattr(kernel, "jit_impl", kernel)  # without autotuning
    with tvm.transform.PassContext(opt_level=3), chip:
        return lower(kernel.get_tir(**given), target=chip,
                     enable_host_codegen=False,
                     enable_device_compile=False).kernel_source


def launches(name):
    with open(os.path.join(PROGRAMS, "configs.json")) as file:
        entry = json.load(file)["programs"][name]
    sizes = entry["sizes"]
    for line in (sizes["small"][0], sizes["odd"][1], sizes["default"][0]):
        yield entry, "h100", line
    for target, settings in entry["targets"].items():
        given = set(arguments(sizes["default"][0]))
        rest = [s for s in settings.split() if s.split("=")[0] not in given]
        yield entry, target, " ".join([sizes["default"][0], *rest])


def tell(what, kernel, line, target):
    try:
        word = f"{len(source(kernel, arguments(line), target))} bytes"
        ok = True
    except Exception as error:  # whatever a compiler's inside may raise
        word, ok = f"FAILED {str(error)[:300]}", False
    print(f"{what} {target} {line}: {word}", flush=True)
    return ok


def program(name):
    good = True
    for entry, target, line in launches(name):
        module = load(os.path.join(PROGRAMS, entry["file"]))
        good &= tell(name, getattr(module, entry["kernel"]), line, target)
    return good


def report(path):
    with open(path) as file:
        text = file.read()
    factory = re.search(r"@tilelang\.jit.*\ndef (\w+)", text)[1]
    lines = [" ".join(re.findall(r"-D (\S+)", line))
             for line in re.findall(r"^# run: (.*)", text, re.M)] or [""]
    kernel = getattr(load(path), factory)
    return all([tell(os.path.basename(path), kernel, line, "h100")
                for line in dict.fromkeys(lines)])


def each(option, items):
    """One process for each: a compiler that aborts ends only its own."""
    bad = 0
    for item in items:
        done = subprocess.run([sys.executable, __file__, option, item],
                              timeout=600, check=False)
        bad += done.returncode != 0
    print(f"{bad} of {len(items)} with a failure")
    return bad


def main(args):
    if args[:1] == ["--program"]:
        return not program(args[1])
    if args[:1] == ["--report"]:
        return not report(args[1])
    if args[:1] == ["--reports"]:
        paths = args[1:] or sorted(glob.glob(os.path.join(REPORTS, "*.tile")))
        return each("--report", paths)
    with open(os.path.join(PROGRAMS, "configs.json")) as file:
        names = list(json.load(file)["programs"])
    return each("--program", args or names)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
