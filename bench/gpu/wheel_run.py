"""Counters of upstream's own kernels: what wheel_build.py left in FOLDER.

usage: wheel_run.py FOLDER TABLE [CASE...]     every case under ncu
       wheel_run.py FOLDER --launch CASE...    what ncu runs

Needs an NVIDIA driver with an sm_90 device, ncu, and NumPy; neither the wheel
nor anything of tilesim. Floating inputs are drawn from (-1, 1), integer ones
come with the case or are small. TABLE gets lines

    case  target  launch  fact  subject  value

where load, store and atomic say of a buffer: the instruction, how often warps
executed it, its wavefronts, and those that ncu calls ideal.
"""

import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import sass

CHUNK = 24          # cases that one run of ncu profiles
SMEM_OPTIN = 8      # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
REGISTERS, LOCAL = 4, 3


# ---- the driver -------------------------------------------------------------

class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f"{name}: error {status}")

    def function(self, cubin, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        self.call("cuModuleGetFunction", ctypes.byref(function), module,
                  name.encode())
        return function

    def upload(self, values):
        data, size = np.ascontiguousarray(values), max(values.nbytes, 1)
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer),
                  ctypes.c_size_t(size))
        self.call("cuMemcpyHtoD_v2", pointer,
                  data.ctypes.data_as(ctypes.c_void_p),
                  ctypes.c_size_t(values.nbytes))
        return pointer

    def attribute(self, function, which):
        value = ctypes.c_int()
        self.call("cuFuncGetAttribute", ctypes.byref(value), which, function)
        return value.value


def tensor_map(driver, spec, pointer):
    """A CUtensorMap, at an address that 64 divides."""
    raw = (ctypes.c_char * 192)()
    at = -ctypes.addressof(raw) % 64
    out = (ctypes.c_char * 128).from_buffer(raw, at)
    rank = len(spec["shape"])

    def numbers(kind, values):
        return (kind * max(len(values), 1))(*values)
    driver.call("cuTensorMapEncodeTiled", ctypes.byref(out),
                ctypes.c_int(spec["dtype"]), ctypes.c_uint32(rank), pointer,
                numbers(ctypes.c_uint64, spec["shape"]),
                numbers(ctypes.c_uint64, spec["strides"]),
                numbers(ctypes.c_uint32, spec["box"]),
                numbers(ctypes.c_uint32, spec["steps"]),
                ctypes.c_int(spec["interleave"]),
                ctypes.c_int(spec["swizzle"]),
                ctypes.c_int(spec["promotion"]), ctypes.c_int(spec["fill"]))
    return out


# ---- tensors ----------------------------------------------------------------

def tensor(dtype, shape, given, rng):
    n = int(np.prod(shape))
    if given is not None:
        return np.array(given, dtype=dtype)
    if dtype.startswith("float8"):      # any sign, below the exponents' end
        return rng.integers(0, 256, n, np.uint8) & 0xb7
    if dtype == "bfloat16":
        x = rng.uniform(-1, 1, n).astype(np.float32)
        return (x.view(np.uint32) >> 16).astype(np.uint16)
    if dtype in ("float16", "float32", "float64"):
        return rng.uniform(-1, 1, n).astype(dtype)
    if dtype in ("int8", "uint8"):
        return rng.integers(0, 128, n).astype(dtype)
    return rng.integers(0, 2, n).astype("uint8" if dtype == "bool" else dtype)


SCALARS = {"int32": ctypes.c_int32, "int64": ctypes.c_int64,
           "uint32": ctypes.c_uint32, "float32": ctypes.c_float,
           "float64": ctypes.c_double, "bool": ctypes.c_bool}


def run_case(driver, folder, name):
    """Launches a case once; facts of each of its functions."""
    with open(os.path.join(folder, name + ".json")) as f:
        case = json.load(f)
    with open(os.path.join(folder, name + ".cubin"), "rb") as f:
        cubin = f.read()
    rng = np.random.default_rng(1)
    pointers = {b: driver.upload(tensor(t["dtype"], t["shape"],
                                        case["inputs"].get(b), rng))
                for b, t in case["buffers"].items()}
    facts = []
    for number, launch in enumerate(case["launches"]):
        function = driver.function(cubin, launch["kernel"])
        facts.append(launch_once(driver, function, launch, pointers, number))
    for p in pointers.values():
        driver.call("cuMemFree_v2", p)
    return facts


def launch_once(driver, function, launch, pointers, number):
    shared = launch["shared"]
    if shared:
        driver.call("cuFuncSetAttribute", function, SMEM_OPTIN, shared)
    values = []
    for a in launch["args"]:
        if "map" in a:
            values.append(tensor_map(driver, a, pointers[a["map"]]))
        elif "name" in a:
            values.append(pointers[a["name"]])
        else:
            values.append(SCALARS[a["type"]](a["value"]))
    params = (ctypes.c_void_p * len(values))(
        *[ctypes.addressof(v) for v in values])
    threads = int(np.prod(launch["block"]))
    blocks = ctypes.c_int()
    driver.call("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                ctypes.byref(blocks), function, threads,
                ctypes.c_size_t(shared))
    driver.call("cuLaunchKernel", function, *launch["grid"],
                *launch["block"], shared, None, params, None)
    driver.call("cuCtxSynchronize")
    return {"launch": number,
            "registers": driver.attribute(function, REGISTERS),
            "local": driver.attribute(function, LOCAL),
            "blocks": blocks.value}


def launch_all(folder, names):
    driver = Driver()
    for name in names:
        try:
            facts = run_case(driver, folder, name)
        except (RuntimeError, KeyError) as e:
            print(json.dumps([name, str(e)]), flush=True)
            if "error 7" in str(e):     # 7xx: the context is lost
                sys.exit(1)
        else:
            print(json.dumps([name, facts]), flush=True)


# ---- profiling --------------------------------------------------------------

def child(folder, names):
    return [sys.executable, os.path.abspath(__file__), folder, "--launch",
            *names]


def answers(text):
    out = []
    for line in text.split("\n"):
        if line.startswith('["'):
            out.append(json.loads(line))
    return out


def working(folder, names, limit=20):
    """The cases that run, with their facts; the others are told."""
    todo, good = list(names), {}
    while todo:
        with tempfile.TemporaryFile("w+") as log:
            p = subprocess.Popen(child(folder, todo), stdout=log,
                                 stderr=subprocess.STDOUT)
            seen, since = 0, time.time()
            while p.poll() is None and time.time() - since < limit:
                time.sleep(0.05)
                size = os.fstat(log.fileno()).st_size
                if size != seen:
                    seen, since = size, time.time()
            hung = p.poll() is None
            p.kill()
            p.wait()
            log.seek(0)
            text = log.read()
        done = answers(text)
        for name, facts in done:
            if isinstance(facts, str):
                print("#", name, facts, flush=True)
            else:
                good[name] = facts
        rest = todo[len(done):]
        if hung and rest:
            print("#", rest.pop(0), "does not end", flush=True)
        elif rest and not done:
            print("#", rest.pop(0), text[-300:].replace("\n", " "))
        todo = rest
    return good


def profile(folder, names, report):
    subprocess.run(["ncu", "--clock-control", "none", "--section",
                    "SourceCounters", "-f", "-o", report,
                    *child(folder, names)], stdout=subprocess.DEVNULL)
    if not os.path.exists(report + ".ncu-rep"):
        print("# ncu made no report of", *names, flush=True)
    page = open(report + ".csv", "w")
    return subprocess.Popen(
        ["ncu", "-i", report + ".ncu-rep", "--page", "source",
         "--print-source", "sass", "--csv", "--print-units", "base"],
        stdout=page)


def split(launches, lengths):
    """The pages of so many launches, whatever their headings say."""
    if len(launches) == len(lengths):
        return launches
    code, out = [i for _, l in launches for i in l], []
    for n in lengths:
        out.append(("", code[:n]))
        code = code[n:]
    return out


def rows(case, facts, launches):
    """Facts of one case, with the counters of its launches."""
    key = [case["case"], case["target"]]
    for launch, fact, (kernel, code) in zip(case["launches"], facts,
                                            launches):
        head = [*key, fact["launch"]]
        for what in ("registers", "local", "blocks"):
            yield [*head, what, "-", fact[what]]
        known, sums = case["code"][launch["kernel"]], {}
        for i, (text, counts) in enumerate(code):
            if not sass.is_shared(text):
                continue
            way, buffer, op = known[str(i)]
            if op != sass.mnemonic(text):
                raise ValueError(f"{key}: instruction {i} is {text}")
            cell = sums.setdefault((way, buffer, op), [0, 0, 0])
            for j, n in enumerate(counts):
                cell[j] += n
        for (way, buffer, op), cell in sorted(sums.items()):
            yield [*head, way, buffer, " ".join(map(str, [op, *cell]))]


def write(folder, names, good, launches, out):
    cases = []
    for name in names:
        with open(os.path.join(folder, name + ".json")) as f:
            cases.append(json.load(f))
    lengths = [case["code"][l["kernel"]]["length"]
               for case in cases for l in case["launches"]]
    launches = split(launches, lengths)
    for name, case in zip(names, cases):
        n = len(case["launches"])
        try:
            for row in rows(case, good[name], launches[:n]):
                print(*row, sep="\t", file=out)
        except (ValueError, KeyError) as e:
            print("#", name, e, flush=True)
        launches = launches[n:]
    out.flush()


def main():
    folder, table, *names = sys.argv[1:]
    if table == "--launch":
        return launch_all(folder, names)
    names = names or sorted(os.path.basename(p)[:-5] for p in
                            glob.glob(os.path.join(folder, "*.json")))
    good = working(folder, names)
    names = [n for n in names if n in good]
    chunks = [names[i:i + CHUNK] for i in range(0, len(names), CHUNK)]
    print("#", len(names), "cases run", flush=True)
    with tempfile.TemporaryDirectory() as scratch, open(table, "w") as out:
        places = [os.path.join(scratch, str(i)) for i in range(len(chunks))]
        exports = [profile(folder, c, p) for c, p in zip(chunks, places)]
        for chunk, place, export in zip(chunks, places, exports):
            export.wait()
            with open(place + ".csv") as f:
                launches = sass.profiled(f.read())
            write(folder, chunk, good, launches, out)


if __name__ == "__main__":
    main()
