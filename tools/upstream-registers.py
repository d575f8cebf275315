#!/usr/bin/env python3
"""upstream-registers.py - the registers that upstream's kernels take.

Usage: upstream-registers.py CASES [PATTERN] >TABLE

Needs the wheel `tilelang` (pip install tilelang==0.1.13) and nvcc, no GPU.
Each case (as for upstream-plan.py) whose name the regular expression finds is
lowered by upstream's compiler for sm_90 and sm_80, nvcc compiles what comes
out, and

    case  target  launch  registers of a thread  bytes spilled

is printed. No line of the generated source is kept.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
USAGE = re.compile(r"Function properties for (\w+)\n.*?(\d+) bytes spill stores"
                   r".*?Used (\d+) registers", re.S)


def upstream_plan():
    spec = importlib.util.spec_from_file_location(
        "upstream_plan", os.path.join(TOP, "tools", "upstream-plan.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(source, arch, folder):
    """{kernel: (registers, spilled bytes)}, by what ptxas says."""
    import tilelang
    wheel = os.path.dirname(tilelang.__file__)
    path = os.path.join(folder, "kernel.cu")
    with open(path, "w") as f:
        f.write(source)
    done = subprocess.run(
        ["nvcc", "-std=c++17", "-cubin", "-arch=" + arch, "-Xptxas", "-v",
         "-I" + wheel + "/src", "-I" + wheel + "/3rdparty/cutlass/include",
         path, "-o", os.path.join(folder, "kernel.cubin")],
        text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:200])
    return {name: (int(registers), int(spilled)) for name, spilled, registers
            in USAGE.findall(done.stderr)}


def main():
    plan = upstream_plan()
    wanted = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    print("# made by tools/upstream-registers.py with tilelang "
          f"{plan.tilelang.__version__}")
    print("# case\ttarget\tlaunch\tregisters\tspilled bytes")
    with tempfile.TemporaryDirectory() as folder:
        for name, path, kernel, *arguments in plan.cases_of(sys.argv[1]):
            if not wanted.search(name):
                continue
            for title in "sm_90", "sm_80":
                spec = plan.TARGETS[title]
                try:
                    art = plan.lower(path, kernel, arguments,
                                     plan.tvm.target.Target(spec),
                                     plan.Facts())
                    found = compiled(art.kernel_source, spec["arch"], folder)
                except Exception as e:
                    print(f"# {name} {title}: {plan.refusal(e)}",
                          file=sys.stderr)
                    continue
                order = [k[0] for k in plan.kernels_of(art.kernel_source)]
                for launch, kernel_name in enumerate(order):
                    print(name, title, launch, *found[kernel_name], sep="\t",
                          flush=True)


if __name__ == "__main__":
    main()
