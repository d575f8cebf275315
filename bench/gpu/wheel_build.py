"""Upstream's own kernels as cubins, with what is needed to launch them.

usage: wheel_build.py lower CASES FOLDER [ID...]
       wheel_build.py compile INCLUDE FOLDER

`lower` needs the wheel `tilelang`, no GPU and no CUDA. CASES is as for
tools/upstream-plan.py, which lowers them here, for sm_90 and for sm_80, whose
kernels an sm_90 runs too when compiled for it. FOLDER gets, for each case,
ID.TARGET.cu and ID.TARGET.json: the launches with their arguments, and the
names of shared buffers. `compile` needs nvcc and nvdisasm, and INCLUDE, the
folder of the wheel (or a copy of its src/tl_templates and 3rdparty/cutlass);
it adds ID.TARGET.cubin and, of each instruction on shared memory, the buffer
that its line names, and deletes the source. wheel_run.py runs them.
"""

import glob
import importlib.machinery
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import common
import sass

TILED = "__tvm_tensormap_create_tiled"
GENCODE = {"sm_90": "arch=compute_90a,code=sm_90a",
           "sm_80": "arch=compute_80,code=sm_90"}


def plan_tool():
    path = os.path.join(common.TOP, "tools", "upstream-plan.py")
    loader = importlib.machinery.SourceFileLoader("upstream_plan", path)
    spec = importlib.util.spec_from_loader("upstream_plan", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


# ---- the host's side: what it launches, with which arguments ----------------

def plain(arg):
    """A number or text of upstream's IR; the name of a variable."""
    if hasattr(arg, "value"):
        v = arg.value
        return plain(v) if hasattr(v, "value") else v
    if type(arg).__name__ == "Var":
        return {"name": arg.name}
    raise ValueError(f"no constant: {arg}")


def host_calls(up, host_mod):
    """Calls of the host function with text for a callee, and its buffers."""
    calls, buffers = [], {}

    def visit(node):
        kind = type(node).__name__
        if kind == "DeclBuffer" and "." not in node.buffer.data.name:
            b = node.buffer
            buffers[b.data.name] = {"dtype": str(b.dtype),
                                    "shape": up.extents(b.shape)}
        elif kind == "Call" and node.args and \
                type(node.args[0]).__name__ == "StringImm":
            calls.append(list(node.args))
    for _, func in host_mod.functions_items():
        up.tirx.stmt_functor.post_order_visit(func.body, visit)
    return calls, buffers


def tensor_map(args):
    """A tiled descriptor: dtype, rank, tensor, then rank of each list."""
    dtype, rank, tensor = args[0], args[1], args[2]["name"]
    rest = args[3:]
    lists = [rest[i * rank:(i + 1) * rank] for i in range(4)]
    interleave, swizzle, promotion, fill = rest[4 * rank:4 * rank + 4]
    return {"map": tensor, "dtype": dtype, "shape": lists[0],
            "strides": lists[1][1:], "box": lists[2], "steps": lists[3],
            "interleave": interleave, "swizzle": swizzle,
            "promotion": promotion, "fill": fill}


def launches_of(up, artifact):
    device = {gv.name_hint: f for gv, f in
              artifact.device_mod.functions_items()}
    calls, buffers = host_calls(up, artifact.host_mod)
    maps, launches = {}, []
    for call in calls:
        name = call[0].value
        if name == TILED:
            args = [plain(a) for a in call[1:]]
            maps[args[0]["name"]] = tensor_map(args[1:])
        elif name.startswith("__tvm_tensormap"):
            raise ValueError(f"no launcher for {name}")
        elif name in device:
            launches.append(launch_of(device[name], name, call[1:]))
    for l in launches:
        l["args"] = [maps.get(a.get("name"), a) if isinstance(a, dict) else a
                     for a in l["args"]]
    return launches, buffers


def launch_of(func, name, args):
    n = len(func.params)
    extents = {"blockIdx": [1, 1, 1], "threadIdx": [1, 1, 1]}
    shared, tail = 0, [plain(a) for a in args[n:]]
    for key, value in zip(func.attrs["tirx.kernel_launch_params"], tail):
        what, _, axis = str(key).partition(".")
        if what in extents:
            extents[what]["xyz".index(axis)] = value
        elif axis == "use_dyn_shared_memory":
            shared = value
    types = [str(p.dtype) for p in func.params]
    values = [plain(a) for a in args[:n]]
    return {"kernel": name, "grid": extents["blockIdx"],
            "block": extents["threadIdx"], "shared": shared,
            "args": [v if isinstance(v, dict) else {"value": v, "type": t}
                     for v, t in zip(values, types)]}


# ---- the device's side: which buffer an instruction is for ------------------

WAYS = {"LDS": "load", "LDSM": "load", "STS": "store", "STSM": "store",
        "LDGSTS": "store", "ATOMS": "atomic"}


def buffer_of(statement, names, way):
    """Of the shared buffers that a statement names, the one it touches so."""
    found = [(m.start(), m.group(0)) for m in re.finditer(r"\w+", statement)
             if m.group(0) in names]
    assign = re.search(r"(?<![=<>!+\-*/&|^])=(?!=)", statement)
    if assign and len({n for _, n in found}) > 1:
        found = [f for f in found
                 if (f[0] < assign.start()) == (way == "store")]
    if "cp_async" in statement:
        found = found[:1]
    return "|".join(sorted({n for _, n in found})) or "-"


def code_of(source, shared, cubin, path):
    """{kernel: {number of an instruction: [way, buffer, mnemonic]}}, and how
    many instructions there are as "length"."""
    lines, table = source.split("\n"), {}
    for kernel, code in sass.compiled(cubin).items():
        rows = table.setdefault(kernel, {"length": len(code)})
        for i, (text, places) in enumerate(code):
            if not sass.is_shared(text):
                continue
            op = sass.mnemonic(text)
            way = WAYS[op.split(".")[0]]
            own = [n for f, n in places if f == path]
            statement = lines[own[-1] - 1] if own else ""
            rows[i] = [way, buffer_of(statement, shared[kernel], way), op]
    return table


def compile_case(include, place):
    with open(place + ".json") as f:
        case = json.load(f)
    path, cubin = os.path.abspath(place + ".cu"), place + ".cubin"
    done = subprocess.run(
        ["nvcc", "-w", "-std=c++20", "-lineinfo", "-cubin",
         "-gencode=" + GENCODE[case["target"]],
         "-I" + os.path.join(include, "src"),
         "-I" + os.path.join(include, "3rdparty", "cutlass", "include"),
         *case["options"], "-o", cubin, path],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        return f"{place}: {done.stderr[:300]}"
    with open(path) as f:
        case["code"] = code_of(f.read(), case["shared"], cubin, path)
    with open(place + ".json", "w") as f:
        json.dump(case, f)
    os.remove(path)
    return None


def compile_all(include, folder):
    places = sorted(p[:-3] for p in glob.glob(os.path.join(folder, "*.cu")))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem in pool.map(lambda p: compile_case(include, p), places):
            if problem:
                print(problem, flush=True)


# ---- one case ---------------------------------------------------------------

def own_inputs(up, path, factory, arguments, buffers):
    """Integer tensors that the program's own inputs() gives: tables, lengths;
    floating ones are drawn where the kernel runs."""
    make = getattr(up.load(path), "inputs", None)
    if not make:
        return {}
    values = {n: p.default for n, p in factory.signature.parameters.items()}
    values.update((a.split("=")[0], up.literal(a.split("=", 1)[1]))
                  for a in arguments)
    known = inspect.signature(make).parameters
    given = make(**{n: v for n, v in values.items() if n in known})
    return {name: tensor.flatten().tolist()
            for name, tensor in zip(buffers, given)
            if not tensor.is_floating_point()}


def shared_names(up, source):
    found = {}
    for name, _, _, body in up.kernels_of(source):
        static = {b for b, (t, _) in up.static_of(body).items()
                  if t != "uint64_t"}
        found[name] = sorted(set(up.shared_of(body)) | static)
    return found


def options_of(factory):
    config = {str(getattr(k, "value", k)): v
              for k, v in (factory.pass_configs or {}).items()}
    options = ["--use_fast_math"] if config.get("tl.enable_fast_math") else []
    flags = config.get("tl.device_compile_flags") or []
    return options + (flags.split() if isinstance(flags, str) else list(flags))


def lower(up, folder, title, name, path, kernel, arguments):
    target = up.tvm.target.Target(up.TARGETS[title])
    artifact = up.lower(path, kernel, arguments, target, up.Facts())
    factory = getattr(up.load(path), kernel)
    factory = getattr(factory, "jit_impl", factory)
    launches, buffers = launches_of(up, artifact)
    case = {"case": name, "target": title, "file": path, "kernel": kernel,
            "arguments": arguments, "launches": launches, "buffers": buffers,
            "inputs": own_inputs(up, path, factory, arguments, buffers),
            "options": options_of(factory),
            "shared": shared_names(up, artifact.kernel_source)}
    place = os.path.join(folder, f"{name}.{title}")
    with open(place + ".json", "w") as f:
        json.dump(case, f)
    with open(place + ".cu", "w") as f:
        f.write(artifact.kernel_source)


def lower_all(cases, folder, only):
    up = plan_tool()
    os.makedirs(folder, exist_ok=True)
    for name, *case in up.cases_of(cases):
        if only and name not in only:
            continue
        for title in GENCODE:
            try:
                lower(up, folder, title, name, *case[:2], case[2:])
            except Exception as e:
                print(name, title, type(e).__name__,
                      str(e)[:200].replace("\n", " "), flush=True)


def main():
    what, first, folder, *only = sys.argv[1:]
    if what == "lower":
        lower_all(first, folder, only)
    else:
        compile_all(first, folder)


if __name__ == "__main__":
    main()
