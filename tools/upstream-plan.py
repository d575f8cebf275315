#!/usr/bin/env python3
"""upstream-plan.py - what upstream's compiler plans for a kernel, as facts.

Usage: upstream-plan.py CASES [ID|-] [TARGET] >TABLE
       upstream-plan.py CASES ID TARGET source     # to look at one
       upstream-plan.py CASES ID TARGET again >TABLE

Needs the wheel `tilelang` (pip install tilelang==0.1.13), no GPU. CASES has
one kernel a line: ID FILE KERNEL NAME=VALUE...; FILE is relative to the top
of the source tree. Each is lowered for each target, and a table of

    case  target  launch  fact  subject  value

is printed. Nothing of the generated text is kept but numbers and the names
that the program itself gave its buffers. tests/data/plan/README.md says what
each fact means and how it is read off.

Whether a proof fits the steps that upstream's solver may take can depend on
what the process proved before. `again` lowers up to 20 times with other proofs
in between, until upstream has stopped and has not: `perhaps`.
"""
import ast
import importlib.machinery
import importlib.util
import logging
import os
import random
import re
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
logging.disable(logging.CRITICAL)
import tilelang  # noqa: E402
from tilelang import ir as upstream_ir, tvm  # noqa: E402
from upstream_steps import unsettle  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGETS = {
    "sm_90": {"kind": "cuda", "arch": "sm_90a"},
    "sm_80": {"kind": "cuda", "arch": "sm_80"},
    "gfx942": {"kind": "hip", "mcpu": "gfx942"},
    "gfx950": {"kind": "hip", "mcpu": "gfx950"},
}
tirx = tvm.tirx


# ---- index expressions, evaluated on whole tiles ----------------------------

BINARY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply,
    "FloorDiv": np.floor_divide, "FloorMod": np.mod,
    "Div": np.floor_divide, "Mod": np.mod, "Min": np.minimum,
    "Max": np.maximum, "EQ": np.equal, "NE": np.not_equal, "LT": np.less,
    "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    "And": np.logical_and, "Or": np.logical_or,
}
CALLS = {
    "tirx.bitwise_xor": np.bitwise_xor, "tirx.bitwise_and": np.bitwise_and,
    "tirx.bitwise_or": np.bitwise_or, "tirx.shift_left": np.left_shift,
    "tirx.shift_right": np.right_shift,
}


def evaluate(e, values):
    kind = type(e).__name__
    if kind == "IntImm":
        return np.int64(e.value)
    if kind == "Var":
        return values[e.name]
    if kind == "Cast":
        return evaluate(e.value, values)
    if kind in BINARY:
        return BINARY[kind](evaluate(e.a, values), evaluate(e.b, values))
    if kind in ("Select", "Call") and hasattr(e, "condition"):
        return np.where(evaluate(e.condition, values),
                        evaluate(e.true_value, values),
                        evaluate(e.false_value, values))
    if kind == "Call" and e.op.name in CALLS:
        return CALLS[e.op.name](*[evaluate(a, values) for a in e.args])
    if kind == "Call" and e.op.name == "tirx.if_then_else":
        return np.where(*[evaluate(a, values) for a in e.args])
    raise ValueError(f"no evaluation for {kind} {e}")


def extents(values):
    return [int(v) for v in values]


def grid(layout, replicas=()):
    """Values for the layout's own variables, one axis each."""
    shape = extents(layout.get_input_shape())
    axes = np.meshgrid(*replicas, *[np.arange(n) for n in shape],
                       indexing="ij")
    names = [v.name for v in layout.get_forward_vars()]
    return shape, dict(zip(names[::-1], axes[::-1]))


def digest(*arrays):
    crc = 0
    for a in arrays:
        crc = zlib.crc32(np.ascontiguousarray(a, dtype="<i4").tobytes(), crc)
    return f"{crc:08x}"


def flatten(parts, values, shape):
    parts = [np.broadcast_to(evaluate(e, values), shape) for e in parts]
    address = np.zeros(shape, dtype=np.int64)
    size = 1
    for p in parts:
        extent = int(p.max()) + 1
        address = address * extent + p
        size *= extent
    return address, size


# ---- what a layout says -----------------------------------------------------

def shared_layout(layout, rank):
    """Element (i, j) to address, as a digest; "linear" for row-major."""
    shape, values = grid(layout)
    address, size = flatten(layout.get_forward_index(), values, tuple(shape))
    while address.ndim > rank:
        size //= address.shape[0]
        address = address[0]
    if np.array_equal(address.ravel(), np.arange(address.size)):
        return "linear"
    return digest(address)


def fragment_layout(layout):
    """locals x replicas, then a digest of every element's (thread, local)."""
    replicas = int(layout.replicate_size)
    shape, values = grid(layout, [np.arange(replicas)])
    whole = (replicas, *shape)
    local, size = flatten(layout.get_forward_index(), values, whole)
    thread = np.broadcast_to(evaluate(layout.thread, values), whole)
    order = np.argsort(thread, axis=0, kind="stable")
    thread = np.take_along_axis(thread, order, 0)
    local = np.take_along_axis(local, order, 0)
    return f"{size}x{replicas} {digest(thread, local)}"


# ---- listening to the passes ------------------------------------------------

class Facts:
    """Filled while one kernel is lowered."""

    def __init__(self):
        self.layouts = {}
        self.shapes = {}
        self.warps = {}

    def after_layouts(self, mod):
        self.layouts = {}
        for _, func in mod.functions_items():
            tirx.stmt_functor.post_order_visit(func.body, self.visit)

    def visit(self, node):
        if type(node).__name__ != "SBlock":
            return
        for b in node.alloc_buffers:
            self.shapes[b.name] = (extents(b.shape), b.scope())
        for buffer, layout in node.annotations.get("layout_map", {}).items():
            self.layouts[buffer.name] = (buffer, layout)


def listen(facts):
    @tvm.instrument.pass_instrument
    class Listener:
        def run_after_pass(self, mod, info):
            if info.name == "tl.LayoutInference":
                facts.after_layouts(mod)
    return Listener()


def watch_partitions():
    """Each call that splits warps leaves its result in CURRENT.warps."""
    for cls in vars(upstream_ir).values():
        original = getattr(cls, "compute_warp_partition", None)
        if original is None:
            continue

        def wrapped(self, m, n, size, target, kind, original=original):
            split = original(self, m, n, size, target, kind)
            gemm = sys._getframe(1).f_locals.get("self")
            if CURRENT and gemm is not None:
                key = f"{gemm.A.name},{gemm.B.name},{gemm.C.name}"
                CURRENT[-1].warps[key] = (int(split[0]), int(split[1]), kind)
            return split
        cls.compute_warp_partition = wrapped


CURRENT = []


# ---- reading the device source ----------------------------------------------

KERNEL = re.compile(r"__launch_bounds__\((\d+)[^)]*\)\s+(\w+)\(([^{;]*)\)\s*{")
WIDTH = {"char": 1, "signed char": 1, "uchar": 1, "bool": 1, "half_t": 2,
         "bfloat16_t": 2, "short": 2, "ushort": 2, "half2": 4, "float": 4,
         "int": 4, "uint": 4, "float2": 8, "float4": 16, "uint1": 4,
         "uint2": 8, "uint4": 16, "int2": 8, "int4": 16, "double": 8,
         "double2": 16, "int64_t": 8, "longlong2": 16, "ulonglong4": 32,
         "longlong4": 32, "fp8_e4_t": 1, "fp8_e5_t": 1, "uint8_t": 1,
         "int8_t": 1, "unsigned char": 1, "fp8_e4_2_t": 2, "fp8_e4_4_t": 4,
         "fp8_e4_8_t": 8, "fp8_e4_16_t": 16, "char2": 2, "char4": 4,
         "float32x4": 16, "uint32_t": 4, "uint16_t": 2, "short2": 4,
         "ulonglong2": 16, "unsigned short": 2, "bfloat16x2": 4,
         "fp8_e5_2_t": 2, "fp8_e5_4_t": 4, "fp8_e5_8_t": 8,
         "fp8_e5_16_t": 16, "uchar4": 4, "uchar2": 2, "int8_t4": 4}


def kernels_of(source):
    """(name, threads, pointer parameters, body) of each device kernel."""
    found = list(KERNEL.finditer(source))
    for i, m in enumerate(found):
        end = found[i + 1].start() if i + 1 < len(found) else len(source)
        types = {}
        for p in m.group(3).split(","):
            p = p.replace("__restrict__", "").replace("const ", "").strip()
            q = re.match(r"(?:__grid_constant__ )?([\w ]+?)(\*)?\s*(\w+)$", p)
            if q:
                types[q.group(3)] = (q.group(1).strip(), bool(q.group(2)))
        yield m.group(2), int(m.group(1)), types, source[m.end():end]


def statements(body):
    for line in body.split("\n"):
        if "__shared__" in line:
            continue
        yield from (s for s in line.split(";") if s.strip())


def put(table, buffer, way, instruction):
    table.setdefault((way, buffer), set()).add(instruction)


def note_access(table, text, start, buffer, size, assign):
    way = "store" if assign >= 0 and start < assign else "load"
    put(table, buffer, way, f"{size}")


def assign_at(s):
    m = re.search(r"(?<![=<>!+\-*/&|^])=(?!=)", s)
    return m.start() if m else -1


def scan_calls(table, s, names):
    """Instructions that upstream spells as calls. True: nothing else here."""
    buffers = [n for n in re.findall(r"\b\w+\b", s) if n in names]
    m = re.search(r"tl::(?:ptx_)?cp_async_gs(?:_conditional)?<(\d+)>", s)
    if m:
        put(table, buffers[0], "store", f"cp.async.{m.group(1)}")
        put(table, buffers[1], "load", f"cp.async.{m.group(1)}")
        return True
    m = re.search(r"tl::tma_(load|store|reduce|store_add)\w*[<(]", s)
    if m:
        desc = re.search(r"\b(\w+)_desc\w*", s)
        shared = [n for n in buffers if names[n][1]]
        if not shared:
            return True
        kind = "tma" if desc else "bulk"
        other = desc.group(1) if desc else \
            next((n for n in buffers if not names[n][1]), "-")
        load = m.group(1) == "load"
        put(table, shared[0], "store" if load else "load", kind)
        put(table, other, "load" if load else "store", kind)
        return True
    m = re.search(r"tl::ptx_(ldmatrix|stmatrix)_(\w+)", s)
    if m and buffers:
        way = "load" if m.group(1) == "ldmatrix" else "store"
        put(table, buffers[0], way, f"{m.group(1)}.{m.group(2)}")
        return True
    if "tl::initialize_wgmma_descriptor" in s and buffers:
        put(table, buffers[0], "load", "wgmma")
        return True
    m = re.search(r"Atomic\w+", s)
    if m:
        for b in buffers:
            put(table, b, "atomic", m.group(0))
        return True
    return False


def element(names, buffer):
    return names[buffer][0]


def scan_accesses(body, names):
    """(load|store|atomic, buffer) to the set of instructions used."""
    table = {}
    for s in statements(body):
        if scan_calls(table, s, names):
            continue
        assign = assign_at(s)
        seen = set()
        vector = r"\*\((\w[\w ]*?)\*\)\((?:\(\((\w[\w ]*?)\*\))?(\w+)\)?(?: \+|\))"
        for m in re.finditer(vector, s):
            if m.group(3) in names:
                seen.add(m.start(3))
                note_access(table, s, m.start(), m.group(3),
                            WIDTH[m.group(1)], assign)
        scalar = r"(?:\(\((\w[\w ]*?)\*\)(\w+)\)|\b(\w+))\["
        for m in re.finditer(scalar, s):
            buffer = m.group(2) or m.group(3)
            at = m.start(2) if m.group(2) else m.start(3)
            if buffer not in names or at in seen:
                continue
            if s[:m.start()].rstrip().endswith("&("):
                continue
            kind = m.group(1) or element(names, buffer)
            note_access(table, s, m.start(), buffer, WIDTH[kind], assign)
    return table


def shared_of(body):
    """Name to (byte offset or None, element type), declared in a kernel."""
    found = {}
    for m in re.finditer(r"void\* (\w+) = \(\(void\*\)\(\(char\*\)buf_dyn_shmem"
                         r" \+ (\d+)\)\);", body):
        found[m.group(1)] = int(m.group(2))
    only = re.search(r"extern __shared__ __align__\(\d+\) [\w ]+? (\w+)\[\];", body)
    if only and only.group(1) != "buf_dyn_shmem":
        found[only.group(1)] = 0
    return found


def element_of(body, name):
    """The type of an arena's only buffer, which is declared with it."""
    m = re.search(r"extern __shared__ __align__\(\d+\) ([\w ]+?) %s\[" % name, body)
    return m.group(1) if m else "char"


def static_of(body):
    return {m.group(2): (m.group(1), int(m.group(3))) for m in re.finditer(
        r"__shared__ (?:__align__\(\d+\) )?([\w ]+?) (\w+)\[(\d+)\];", body)}


def locals_of(body):
    """Arrays and scalars per thread, declared before the first statement."""
    found = {}
    for m in re.finditer(r"^  (?:alignas\(\d+\) )?([\w ]+?) (\w+)\[(\d+)\];", body,
                         re.M):
        found[m.group(2)] = int(m.group(3))
    return found


# ---- one case ---------------------------------------------------------------

def load(path):
    name = "case_" + re.sub(r"\W", "_", path)
    if name in sys.modules:
        return sys.modules[name]
    loader = importlib.machinery.SourceFileLoader(name,
                                                  os.path.join(TOP, path))
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def lower(path, kernel, arguments, target, facts):
    factory = getattr(load(path), kernel)
    factory = getattr(factory, "jit_impl", factory)
    values = {a.split("=")[0]: literal(a.split("=", 1)[1]) for a in arguments}
    with target:
        func = factory.get_tir(**values)
        config = {str(getattr(k, "value", k)): v
                  for k, v in (factory.pass_configs or {}).items()}
        CURRENT.append(facts)
        try:
            with tvm.transform.PassContext(opt_level=3, config=config,
                                           instruments=[listen(facts)]):
                return tilelang.lower(func, target=target)
        finally:
            CURRENT.pop()


def dynamic_bytes(artifact):
    """Bytes of the arena of each device kernel, by name."""
    found = {}
    for gv, f in artifact.device_mod.functions_items():
        found[gv.name_hint] = int(f.attrs.get("dyn_shared_memory_buf", 0))
    return found


def rows(artifact, facts):
    sizes = dynamic_bytes(artifact)
    for launch, (name, threads, params, body) in enumerate(
            kernels_of(artifact.kernel_source)):
        offsets, static = shared_of(body), static_of(body)
        local = locals_of(body)
        barriers = sum(n for b, (t, n) in static.items() if t == "uint64_t")
        yield launch, "threads", "-", threads
        yield launch, "arena", "-", sizes.get(name, 0)
        yield launch, "barriers", "-", barriers
        names = {n: (t, False) for n, (t, p) in params.items() if p}
        names.update({n: (element_of(body, n), True) for n in offsets})
        for b, (t, n) in sorted(static.items()):
            if t != "uint64_t":
                yield launch, "static", b, n * WIDTH[t]
                names[b] = (t, True)
        for b, at in sorted(offsets.items()):
            yield launch, "offset", b, at
        for b, n in sorted(local.items()):
            if b in facts.shapes and facts.shapes[b][1] == "local.fragment":
                yield launch, "registers", b, n
        for (way, b), used in sorted(scan_accesses(body, names).items()):
            yield launch, way, b, " ".join(sorted(used))


def kernel_rows(facts):
    """Facts of the whole function, by the names of its buffers."""
    for key, (m, n, kind) in sorted(facts.warps.items()):
        yield "-", "warps", key, f"{m}x{n} {kind}"
    for name, (shape, scope) in sorted(facts.shapes.items()):
        if scope.startswith("shared") and scope != "shared.barrier":
            yield "-", "shape", name, "x".join(map(str, shape))
        layout = facts.layouts.get(name)
        if scope == "shared.dyn":
            text = "linear"
            if layout:
                text = shared_layout(layout[1], min(len(shape), 2))
            yield "-", "layout", name, text
        elif scope == "local.fragment" and layout:
            yield "-", "fragment", name, fragment_layout(layout[1])


def cases_of(path):
    with open(path) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                yield words


def refusal(e):
    """The kind of error: upstream's sentence stays upstream's."""
    return f"refused {type(e).__name__}"


def plan(case, title):
    """All facts of a case, or that upstream stops."""
    _, path, kernel, *arguments = case
    facts = Facts()
    try:
        art = lower(path, kernel, arguments,
                    tvm.target.Target(TARGETS[title]), facts)
    except Exception as e:
        return [("-", "lower", "-", refusal(e))]
    return [*rows(art, facts), *kernel_rows(facts)]


def plan_again(case, title):
    """The same, and `perhaps` where upstream stops at times."""
    rnd, kept, lowered, stopped = random.Random(1), [], [], []
    while len(lowered) + len(stopped) < 20 and not (lowered and stopped):
        found = plan(case, title)
        (stopped if found[0][1] == "lower" else lowered).append(found)
        for _ in range(4):
            unsettle(rnd, kept)
    if lowered and stopped:
        return [("-", "lower", "-", "perhaps"), *lowered[0]]
    return (lowered or stopped)[0]


def main():
    only = sys.argv[2:]
    print("# made by tools/upstream-plan.py with tilelang "
          f"{tilelang.__version__}")
    print("# case\ttarget\tlaunch\tfact\tsubject\tvalue")
    watch_partitions()
    for case in cases_of(sys.argv[1]):
        if only and only[0] not in (case[0], "-"):
            continue
        for title, spec in TARGETS.items():
            if len(only) > 1 and only[1] != title:
                continue
            if only[2:] == ["source"]:
                print(lower(case[1], case[2], case[3:],
                            tvm.target.Target(spec), Facts()).kernel_source)
                continue
            again = only[2:] == ["again"]
            for row in (plan_again if again else plan)(case, title):
                print(case[0], title, *row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
