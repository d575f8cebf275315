# tile_numpy.py - runs a tile program with NumPy, straight from its text.
#
# An oracle for programs/*.tile that shares nothing with src/: Python itself
# evaluates the program, a small stand-in for tilelang.language does each tile
# statement with one NumPy call, and a T.Parallel body runs once, its loop
# variables being index arrays. Blocks run one after the other. It knows the
# primitives that the programs use and raises on any other.
#
#   program = load("programs/fa.tile")
#   kernel = build(program.flash_attention, dict(seq_len=300), mode="f64")
#   Output, = kernel(Q, K, V)
#
# mode "written" rounds every step to the dtype that the program names; "f64"
# takes every float type for float64. Tiles start as `poison`.
import ast
import sys
import types

import numpy as np

FLOATS = {"float16": np.float16, "float32": np.float32, "float64": np.float64,
          "half": np.float16, "float": np.float32, "double": np.float64}
INTS = {"int8": np.int8, "int16": np.int16, "int32": np.int32,
        "int64": np.int64, "uint8": np.uint8, "uint32": np.uint32,
        "bool": np.bool_, "int": np.int32}


class State:
    """What a run needs to know: mode, poison, T.const sizes, block choice."""
    mode = "written"
    poison = np.nan
    sizes = {}
    blocks = None


def np_dtype(name):
    if str(name) in FLOATS:
        return np.float64 if State.mode == "f64" else FLOATS[str(name)]
    return INTS[str(name)]


# ---- buffers, regions, elements ------------------------------------------

class Region:
    """A part of a buffer: starts, and extents (None where only points)."""

    def __init__(self, buf, starts, extents):
        self.buf, self.starts, self.extents = buf, starts, extents

    def value(self):
        assert self.extents is None
        return self.buf.load(tuple(np.asarray(s) for s in self.starts))

    def _other(o):
        return o.value() if isinstance(o, Region) else o

    def __add__(self, o): return self.value() + Region._other(o)
    def __radd__(self, o): return o + self.value()
    def __sub__(self, o): return self.value() - Region._other(o)
    def __rsub__(self, o): return o - self.value()
    def __mul__(self, o): return self.value() * Region._other(o)
    def __rmul__(self, o): return o * self.value()
    def __truediv__(self, o): return self.value() / Region._other(o)


class Buffer:
    def __init__(self, array, scope, name_of_dtype):
        self.a, self.scope, self.dtype = array, scope, name_of_dtype
        self.shape = array.shape

    def region(self):
        return Region(self, [0] * self.a.ndim, list(self.shape))

    def __getitem__(self, idx):
        idx = idx if isinstance(idx, tuple) else (idx,)
        assert len(idx) == self.a.ndim, "index count differs from the rank"
        if any(isinstance(i, np.ndarray) for i in idx):
            return self.load(idx)
        starts, extents = [], []
        for i, dim in zip(idx, self.shape):
            if isinstance(i, slice):
                start = 0 if i.start is None else int(i.start)
                stop = dim if i.stop is None else int(i.stop)
                starts.append(start)
                extents.append(stop - start)
            else:
                starts.append(int(i))
                extents.append(1)
        if not any(isinstance(i, slice) for i in idx):
            extents = None
        return Region(self, starts, extents)

    def __setitem__(self, idx, value):
        idx = idx if isinstance(idx, tuple) else (idx,)
        assert len(idx) == self.a.ndim, "index count differs from the rank"
        assert not any(isinstance(i, slice) for i in idx)
        self.store(tuple(np.asarray(i) for i in idx), Region._other(value))

    # Global loads out of range give 0 and stores are skipped; elsewhere an
    # index out of range is an error of the program.
    def inside(self, idx):
        ok = np.asarray(True)
        for i, dim in zip(idx, self.shape):
            ok = ok & (i >= 0) & (i < dim)
        return ok

    def load(self, idx):
        ok = self.inside(idx)
        if ok.all():
            return self.a[idx]
        assert self.scope == "global", f"index outside a {self.scope} tile"
        clipped = tuple(np.clip(i, 0, d - 1) for i, d in zip(idx, self.shape))
        return np.where(ok, self.a[clipped], self.a.dtype.type(0))

    def store(self, idx, value):
        ok = self.inside(idx)
        shape = np.broadcast_shapes(*(np.shape(i) for i in idx))
        value = np.broadcast_to(np.asarray(value).astype(self.a.dtype), shape)
        if ok.all():
            self.a[idx] = value
            return
        assert self.scope == "global", f"index outside a {self.scope} tile"
        ok = np.broadcast_to(ok, shape)
        full = tuple(np.broadcast_to(i, shape)[ok] for i in idx)
        self.a[full] = value[ok]


def as_region(x):
    return x.region() if isinstance(x, Buffer) else x


# ---- the language ----------------------------------------------------------

LEVEL = {"fragment": 2, "shared": 1, "global": 0}


def copy_extents(src, dst):
    """The extents of both sides by the rules of T.copy, as two lists."""
    s, d = src.extents, dst.extents
    if s is None and d is None:
        return [1] * src.buf.a.ndim, [1] * dst.buf.a.ndim
    if s is None or d is None:
        known, rank = (d, src.buf.a.ndim) if s is None else (s, dst.buf.a.ndim)
        assert rank >= len(known), "a point has too few indices for the tile"
        padded = [1] * (rank - len(known)) + list(known)
        return (padded, d) if s is None else (s, padded)
    if sum(e != 1 for e in s) == sum(e != 1 for e in d):
        return s, d
    assert len(s) == len(d), "T.copy: extents do not pair up"
    joint = [max(a, b) for a, b in zip(s, d)]
    return ([min(a, j) for a, j in zip(s, joint)],
            [min(a, j) for a, j in zip(d, joint)])


def tile_index(region, extents, shape):
    """Index arrays of a region for an iteration space of non-1 extents."""
    axes, out = iter(range(len(shape))), []
    for start, extent in zip(region.starts, extents):
        if extent == 1:
            out.append(np.asarray(start))
            continue
        axis = next(axes)
        view = [1] * len(shape)
        view[axis] = shape[axis]
        out.append((start + np.arange(shape[axis])).reshape(view))
    return out


def bounded(region, extents, idx):
    ok = np.asarray(True)
    for i, extent, dim in zip(idx, extents, region.buf.shape):
        if extent != 1 or region.buf.scope == "global":
            ok = ok & (i >= 0) & (i < dim)
    return ok


class Language(types.ModuleType):
    float16, float32, int32 = "float16", "float32", "int32"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"T.{name} is unknown to tile_numpy.py")

    class GemmWarpPolicy:
        Square, FullRow, FullCol = range(3)

    class Spec:
        def __init__(self, shape, dtype="float32"):
            self.shape = tuple(shape) if np.iterable(shape) else (shape,)
            self.dtype = dtype

    Tensor = SharedBuffer = FragmentBuffer = Spec

    # declarations
    def prim_func(self, f): return f
    def macro(self, f): return f
    def const(self, names):
        values = [State.sizes[n] for n in names.replace(",", " ").split()]
        return values if len(values) > 1 else values[0]
    def use_swizzle(self, *args, **kwargs): pass

    def _alloc(self, shape, dtype, scope):
        shape = tuple(shape) if np.iterable(shape) else (shape,)
        kind = np_dtype(dtype)
        poison = State.poison if np.issubdtype(kind, np.floating) else 0
        return Buffer(np.full(shape, poison, kind), scope, dtype)

    def alloc_shared(self, shape, dtype):
        return self._alloc(shape, dtype, "shared")
    def alloc_fragment(self, shape, dtype):
        return self._alloc(shape, dtype, "fragment")
    def alloc_global(self, shape, dtype):
        return self._alloc(shape, dtype, "global")
    def empty(self, shape, dtype):
        return self._alloc(shape, dtype, "global")
    def alloc_var(self, dtype):
        return 0  # plain Python rebinding does the rest

    # control
    def Kernel(self, *grid, threads=128):
        ids = list(np.ndindex(*grid))
        for block in ids if State.blocks is None else State.blocks(ids):
            yield block[0] if len(grid) == 1 else tuple(int(b) for b in block)

    def serial(self, *bounds): return range(*(int(b) for b in bounds))
    def Pipelined(self, *bounds, **schedule): return self.serial(*bounds)
    def Parallel(self, *extents):
        grid = np.ogrid[tuple(slice(0, int(e)) for e in extents)]
        yield grid[0] if len(extents) == 1 else tuple(grid)

    # tile statements
    def copy(self, src, dst, **hints):
        src, dst = as_region(src), as_region(dst)
        s_ext, d_ext = copy_extents(src, dst)
        deep = LEVEL[src.buf.scope] >= LEVEL[dst.buf.scope]
        shape = [e for e in (s_ext if deep else d_ext) if e != 1]
        s_idx = tile_index(src, s_ext, shape)
        d_idx = tile_index(dst, d_ext, shape)
        s_ok, d_ok = bounded(src, s_ext, s_idx), bounded(dst, d_ext, d_idx)
        clip = tuple(np.clip(i, 0, n - 1) for i, n in zip(s_idx, src.buf.shape))
        value = src.buf.a[clip]
        value = np.where(s_ok, value, value.dtype.type(0))
        value = np.broadcast_to(value, shape).astype(dst.buf.a.dtype)
        d_ok = np.broadcast_to(d_ok, shape)
        full = tuple(np.broadcast_to(i, shape)[d_ok] for i in d_idx)
        dst.buf.a[full] = value[d_ok]

    def fill(self, buf, value): buf.a[...] = value
    def clear(self, buf): buf.a[...] = 0

    def gemm(self, A, B, C, transpose_A=False, transpose_B=False, policy=0,
             clear_accum=False, k_pack=1):
        a, b = A.a.astype(C.a.dtype), B.a.astype(C.a.dtype)
        product = (a.T if transpose_A else a) @ (b.T if transpose_B else b)
        C.a[...] = product if clear_accum else C.a + product

    def _reduce(self, op, src, dst, dim, clear):
        part = op.reduce(src.a.astype(dst.a.dtype), axis=dim)
        dst.a[...] = part if clear else op(dst.a, part)

    def reduce_max(self, src, dst, dim=-1, clear=True):
        self._reduce(np.maximum, src, dst, dim, clear)
    def reduce_sum(self, src, dst, dim=-1, clear=True):
        self._reduce(np.add, src, dst, dim, clear)

    # scalars
    def ceildiv(self, a, b): return -(-a // b)
    def infinity(self, dtype): return np_dtype(dtype)(np.inf)
    def min(self, a, b): return np.minimum(Region._other(a), Region._other(b))
    def max(self, a, b): return np.maximum(Region._other(a), Region._other(b))
    def exp2(self, x): return np.exp2(Region._other(x))
    def log2(self, x): return np.log2(Region._other(x))
    def if_then_else(self, c, a, b):
        a, b = Region._other(a), Region._other(b)
        kind = np.result_type(*(v for v in (a, b) if hasattr(v, "dtype")))
        return np.where(c, a, b).astype(kind)


class Rewrite(ast.NodeTransformer):
    """`with T.Kernel(..) as x` becomes a loop; eager tensors are declared."""

    def visit_With(self, node):
        self.generic_visit(node)
        item = node.items[0]
        return ast.copy_location(ast.For(
            item.optional_vars, item.context_expr, node.body, [], None), node)

    def visit_AnnAssign(self, node):
        if node.value is None:
            node.value = ast.Name(node.target.id, ast.Load())
        return node


def load(path, replace=lambda text: text):
    """Execute a program's text (through `replace`) as a module."""
    T = Language("tilelang.language")
    tilelang = types.ModuleType("tilelang")
    tilelang.language = T
    tilelang.jit = lambda f=None, **kw: f if f else (lambda g: mark(g, kw))
    tilelang.autotune = lambda **kw: lambda f: mark(f, kw)
    tilelang.PassConfigKey = types.SimpleNamespace(
        TL_ENABLE_FAST_MATH="fast_math")
    sys.modules.update({"tilelang": tilelang, "tilelang.language": T})
    with open(path) as file:
        text = replace(file.read())
    tree = ast.fix_missing_locations(Rewrite().visit(ast.parse(text, path)))
    module = types.ModuleType("program")
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


def mark(f, options):
    f.options = {**getattr(f, "options", {}), **options}
    return f


def bind(array, spec_dtype):
    return Buffer(np.array(array, np_dtype(spec_dtype)), "global", spec_dtype)


def build(factory, arguments, mode="written", poison=np.nan, sizes=None,
          blocks=None):
    """A function from input arrays to the list of output arrays."""
    def enter():
        State.mode, State.poison = mode, poison
        State.sizes, State.blocks = sizes or {}, blocks

    if sizes:  # eager: the inputs are the leading parameters
        def run(*inputs):
            enter()
            dtype = arguments.get("dtype", "float16")
            with np.errstate(all="ignore"):
                out = factory(*(bind(a, dtype) for a in inputs), **arguments)
            return [out.a]
        return run

    enter()
    prim = factory(**arguments)
    specs = [prim.__annotations__[n] for n in
             prim.__code__.co_varnames[:prim.__code__.co_argcount]]
    outs = factory.options["out_idx"]

    def run(*inputs):
        enter()
        given, tensors = iter(inputs), []
        for n, spec in enumerate(specs):
            if n in outs:
                tensors.append(Language._alloc(
                    None, spec.shape, spec.dtype, "global"))
            else:
                tensors.append(bind(next(given), spec.dtype))
                assert tensors[-1].shape == spec.shape, "wrong input shape"
        with np.errstate(all="ignore"):
            prim(*tensors)
        return [tensors[n].a for n in outs]

    run.shapes = [s.shape for n, s in enumerate(specs) if n not in outs]
    return run
