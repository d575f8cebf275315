#!/usr/bin/env python3
# formulas.py - what the programs with index tensors, gradients, quantised
# operands, norms and scans must compute, by torch alone.
#
# Each formula is written here a second time, in float64 and in another way than
# the program's ref_program: gradients by autograd, the scan token by token,
# sorting by Python. Needs torch and ml_dtypes.
#
#   formulas.py check            ref_program, run by torch, against the formula
#   formulas.py data FOLDER      inputs and truth at small sizes, as files
import ast
import inspect
import json
import os
import sys
import types
import unittest.mock

import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "..", "programs")
sys.path.insert(0, os.path.join(HERE, "..", "host"))
import tensors  # noqa: E402


# ---- the formulas ----------------------------------------------------------

def causal(queries, keys):
    """Query i stands beside key i + keys - queries and sees it."""
    own = torch.arange(queries)[:, None] + keys - queries
    return torch.arange(keys)[None, :] <= own


def attend(q, k, v, is_causal):
    """[..., heads, queries, dim]; several heads of q read one of k and v."""
    times = q.shape[-3] // k.shape[-3]
    k, v = (torch.cat([x[..., h // times, None, :, :]
                       for h in range(q.shape[-3])], -3) for x in (k, v))
    mask = causal(q.shape[-2], k.shape[-2]) if is_causal else None
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), k


def varlen(q, k, v, cu_q, cu_k, is_causal=True, **_):
    out = torch.zeros_like(q)
    for b in range(len(cu_q) - 1):
        rows = slice(int(cu_q[b]), int(cu_q[b + 1]))
        keys = slice(int(cu_k[b]), int(cu_k[b + 1]))
        if rows.stop > rows.start and keys.stop > keys.start:
            part, _ = attend(q[rows].swapaxes(0, 1), k[keys].swapaxes(0, 1),
                             v[keys].swapaxes(0, 1), is_causal)
            out[rows] = part.swapaxes(0, 1).nan_to_num(0)
    return [out]


def gqa(q, k, v, is_causal=True, **_):
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    out, k = attend(q, k, v, is_causal)
    scores = q @ k.mT / q.shape[-1]**0.5
    if is_causal:
        scores[..., ~causal(q.shape[-2], k.shape[-2])] = -torch.inf
    lse = torch.log(torch.exp(scores).sum(-1))
    return [out.swapaxes(1, 2), lse]


def gradients(q, k, v, d_out, is_causal, swap):
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    out, _ = attend(*(swap(x) for x in leaves), is_causal)
    out = swap(out)
    out.backward(d_out)
    return [out.detach(), *(x.grad for x in leaves)]


def mha_bwd(q, k, v, d_out, is_causal=True, **_):
    return gradients(q, k, v, d_out, is_causal, lambda x: x)


def gqa_bwd(q, k, v, d_out, is_causal=True, **_):
    return gradients(q, k, v, d_out, is_causal,
                     lambda x: x.swapaxes(1, 2))[1:]


def decoding(q, k, v, lengths, **_):
    parts = [attend(q[b][:, None], k[b, :n].swapaxes(0, 1),
                    v[b, :n].swapaxes(0, 1), False)[0][:, 0]
             for b, n in enumerate(lengths.tolist())]
    return [torch.stack(parts)]


def paged(q, q_pe, kv, k_pe, table, lengths, **_):
    out = []
    for b, n in enumerate(lengths.tolist()):
        at = [(int(table[b, t // kv.shape[1]]), t % kv.shape[1])
              for t in range(n)]
        value = torch.stack([kv[p] for p in at])
        key = torch.cat((value, torch.stack([k_pe[p] for p in at])), -1)
        query = torch.cat((q[b], q_pe[b]), -1)
        out.append(F.scaled_dot_product_attention(query, key, value))
    return [torch.stack(out)]


def fp8_blocks(a, b, scale_a, scale_b, **_):
    c = torch.zeros(a.shape[0], b.shape[0], dtype=torch.float64)
    for n in range(0, b.shape[0], 128):
        for k in range(0, a.shape[1], 128):
            part = a[:, k:k + 128] @ b[n:n + 128, k:k + 128].T
            c[:, n:n + 128] += (part * scale_a[:, k // 128, None]
                                * scale_b[n // 128, k // 128])
    return [c]


def int4(a, packed, scale, group=128, **_):
    k = torch.arange(a.shape[1])
    nibble = packed.long()[:, k // 2] // torch.where(k % 2 == 0, 1, 16) % 16
    return [a @ ((nibble - 8) * scale[:, k // group]).T]


def grouped(a, b, sizes, **_):
    owner = torch.cat([torch.full((n,), g)
                       for g, n in enumerate(sizes.tolist())])
    return [(a[:, None] @ b[owner])[:, 0]]


def scan(q, k, v, g, **_):
    state = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3],
                        dtype=torch.float64)
    out = []
    for t in range(q.shape[1]):
        state = torch.exp(g[:, t])[..., None, None] * state \
            + k[:, t, :, :, None] * v[:, t, :, None, :]
        out.append((q[:, t, :, None] @ state)[..., 0, :] / q.shape[3]**0.5)
    return [torch.stack(out, 1), state]


def rms(x, w, eps=1e-6, **_):
    n = x.shape[-1]
    return [x * w * n**0.5 / (x.norm(dim=-1, keepdim=True)**2 + n * eps)**0.5]


def layer(x, w, b, eps=1e-5, **_):
    mean = x.sum(-1) / x.shape[-1]
    rstd = ((x - mean[:, None]).square().mean(-1) + eps)**-0.5
    return [(x - mean[:, None]) * rstd[:, None] * w + b, mean, rstd]


def softmax(x, **_):
    total = torch.exp(x).sum(-1)
    return [torch.exp(x) / total[:, None], torch.log(total)]


def topk(x, topk=8, **_):
    order = torch.tensor([sorted(range(len(row)), key=lambda j: (-row[j], j))
                          [:topk] for row in x.tolist()])
    return [x.gather(1, order), order.int()]


# Of each program its formula and, where it has no `inputs`, what it reads:
# names of dimensions (an argument or a product of some) and the dtype.
SPECS = {
    "attention_varlen": (varlen, None),
    "gqa_fwd": (gqa, lambda a: [
        (a.batch, a.seq_q, a.heads, a.dim),
        *[(a.batch, a.seq_kv, a.heads // a.groups, a.dim)] * 2]),
    "mha_bwd": (mha_bwd, lambda a: [
        (a.batch, a.heads, a.seq_len, a.dim)] * 4),
    "gqa_bwd": (gqa_bwd, lambda a: [
        (a.batch, a.seq_len, a.heads, a.dim),
        *[(a.batch, a.seq_len, a.heads // a.groups, a.dim)] * 2,
        (a.batch, a.seq_len, a.heads, a.dim)]),
    "flash_decoding": (decoding, None),
    "mla_decode_paged": (paged, None),
    "gemm_fp8_block": (fp8_blocks, None),
    "gemm_int4": (int4, None),
    "grouped_gemm": (grouped, None),
    "gemm_splitk": (lambda a, b, **_: [a @ b],
                    lambda a: [(a.M, a.K), (a.K, a.N)]),
    "gemm_streamk": (lambda a, b, **_: [a @ b.T],
                     lambda a: [(a.M, a.K), (a.N, a.K)]),
    "linear_attention": (scan, None),
    "rms_norm": (rms, lambda a: [(a.M, a.N), (a.N,)]),
    "layer_norm": (layer, lambda a: [(a.M, a.N), (a.N,), (a.N,)]),
    "softmax": (softmax, lambda a: [(a.M, a.N)]),
    "topk": (topk, lambda a: [(a.M, a.N)]),
}


# ---- a program as a Python module ------------------------------------------

def load(path):
    """The module of a program, of which only torch's part can be run."""
    same = lambda f=None, **_: f if f else lambda g: g
    language = unittest.mock.MagicMock()
    tilelang = types.ModuleType("tilelang")
    tilelang.jit, tilelang.language = same, language
    tilelang.PassConfigKey = unittest.mock.MagicMock()
    sys.modules.update({"tilelang": tilelang, "tilelang.language": language})
    module = types.ModuleType("program")
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def parameters(path):
    """Names and dtype expressions of a kernel's tensors, in order."""
    with open(path) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(d) == "T.prim_func" for d in node.decorator_list):
            return [(a.arg, ast.unparse(a.annotation.args[1]))
                    for a in node.args.args]


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


class Case:
    """A program at one size: its inputs, the truth and its reference."""

    def __init__(self, name, entry, line, seed):
        path = os.path.join(PROGRAMS, entry["file"])
        self.module, self.parameters = load(path), parameters(path)
        factory = getattr(self.module, entry["kernel"])
        defaults = {n: p.default for n, p in
                    inspect.signature(factory).parameters.items()}
        self.given = dict(item.split("=", 1) for item in line.split())
        self.given = {n: literal(v) for n, v in self.given.items()}
        self.arguments = {**defaults, **self.given}
        self.formula, shapes = SPECS[name]
        torch.manual_seed(seed)
        self.inputs = self.call(self.module.inputs) if shapes is None else [
            self.random(s)
            for s in shapes(types.SimpleNamespace(**self.arguments))]

    def random(self, shape):
        kind = getattr(torch, self.arguments["dtype"])
        if not kind.is_floating_point:
            return torch.randint(-2, 3, shape).to(kind)
        return (torch.rand(shape) * 2 - 1).to(kind)

    def call(self, function, *first):
        names = list(inspect.signature(function).parameters)[len(first):]
        return function(*first, **{n: self.arguments[n] for n in names
                                   if n in self.arguments})

    def exact(self):
        return [t.double() if t.dtype.is_floating_point or
                t.dtype == torch.int8 else t for t in self.inputs]

    def truth(self):
        return self.formula(*self.exact(), **self.arguments)

    def reference(self, inputs):
        out = self.call(self.module.ref_program, *inputs)
        return [out] if isinstance(out, torch.Tensor) else list(out)


    def output_kinds(self, outputs):
        a = self.arguments
        accum_dtype = "int32" if a["dtype"] == "int8" else "float32"
        words = {"accum_dtype": accum_dtype, **a}
        declared = [dict(self.parameters)[name] for name in outputs]
        return [getattr(torch, words.get(e, e.strip("'"))) for e in declared]

    def exact_reference(self):
        """In float64 throughout, as tilesim evaluates a reference."""
        to = torch.Tensor.to

        def keep(t, kind, **options):
            return t if t.dtype == torch.float64 and kind.is_floating_point \
                else to(t, kind, **options)

        patch = unittest.mock.patch.object
        with patch(torch.Tensor, "float", torch.Tensor.double), \
                patch(torch.Tensor, "to", keep):
            return self.reference(self.exact())


def cases():
    with open(os.path.join(PROGRAMS, "configs.json")) as file:
        programs = json.load(file)["programs"]
    for name in SPECS:
        for n, line in enumerate(programs[name]["sizes"]["small"]):
            yield name, n, line, Case(name, programs[name], line, n + 1), \
                programs[name]["outputs"]


def error(got, want):
    got, want = got.double(), want.double()
    return ((got - want).norm() / want.norm().clamp(min=1e-300)).item()


def check():
    failed = 0
    print(f"{'in f64':>9} {'as it is':>9}  launch")
    for name, _, line, case, outputs in cases():
        want, exact = case.truth(), case.exact_reference()
        plain = case.reference(case.inputs)
        sums = [max(map(error, got, want)) for got in (exact, plain)]
        # torch rounds each step to the dtype: only broken is told from right.
        # Upstream compares dtypes as well.
        ok = sums[0] < 1e-12 and sums[1] < 2e-3 and \
            [t.dtype for t in plain] == case.output_kinds(outputs)
        failed += not ok
        print(*(f"{s:9.1e}" for s in sums), "" if ok else "WRONG", name, line,
              flush=True)
    return failed


# ---- fixtures --------------------------------------------------------------

def to_numpy(t):
    kind = {torch.bfloat16: ml_dtypes.bfloat16,
            torch.float8_e4m3fn: ml_dtypes.float8_e4m3fn,
            torch.float8_e5m2: ml_dtypes.float8_e5m2}.get(t.dtype)
    if not kind:
        return t.contiguous().numpy()
    return t.contiguous().view(torch.uint8).numpy().view(kind)


def data(folder):
    """NAME-N.safetensors: inputs and outputs; NAME-N.txt: the launch."""
    for name, n, line, case, outputs in cases():
        given = [p for p, _ in case.parameters if p not in outputs]
        arrays = dict(zip(given, map(to_numpy, case.inputs)))
        kinds = case.output_kinds(outputs)
        for output, value, kind in zip(outputs, case.truth(), kinds):
            arrays[output] = to_numpy(value.to(kind))
        out = os.path.join(folder, f"{name}-{n}")
        tensors.write_safetensors(out + ".safetensors", arrays)
        with open(out + ".txt", "w") as file:
            file.write(line + "\n")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        wrong = check()
    elif sys.argv[1:2] == ["data"] and len(sys.argv) == 3:
        wrong = data(sys.argv[2])
    else:
        sys.exit("usage: formulas.py check | data FOLDER")
    print(f"{wrong} wrong" if wrong else "ok")
    sys.exit(1 if wrong else 0)
