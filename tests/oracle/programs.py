#!/usr/bin/env python3
# programs.py - is each program right, by NumPy and torch alone?
#
# tile_numpy.py executes the text of programs/*.tile; the truth is a formula
# written here a second time, in float64 and by other torch functions than the
# programs' own references use. Needs numpy and torch.
#
#   programs.py truth [NAME...]     programs and references against the formula
#   programs.py small               the same at the small sizes only
#   programs.py faults              how visible is each row of faults.py
#   programs.py tails               mla_unmasked.tile and its tuning space
#   programs.py data FOLDER         inputs and truth at small sizes, as files
import ast
import collections
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "..", "programs")
FAULTY = os.path.join(HERE, "..", "programs")
sys.path[:0] = [HERE, FAULTY]
import faults  # noqa: E402
import tile_numpy  # noqa: E402


# ---- the formulas, in float64 ---------------------------------------------

def attention(q, k, v, visible=None, scale=None):
    """[..., queries, dim] x [..., keys, dim]; visible: queries x keys."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=visible,
                                          scale=scale)


def causal(queries, keys):
    """Query i stands beside key i + keys - queries and sees it."""
    own = torch.arange(queries)[:, None] + keys - queries
    return torch.arange(keys)[None, :] <= own


def bshd(q, k, v, is_causal=False, groups=1, **_):
    # Head h of Q reads head h // groups of K and V.
    owner = torch.arange(q.shape[2]) // groups
    q, k, v = q.swapaxes(1, 2), k[:, :, owner].swapaxes(1, 2), \
        v[:, :, owner].swapaxes(1, 2)
    mask = causal(q.shape[2], k.shape[2]) if is_causal else None
    return attention(q, k, v, mask).swapaxes(1, 2)


def bhsd(q, k, v, is_causal=True, **_):
    mask = causal(q.shape[2], k.shape[2]) if is_causal else None
    return attention(q, k, v, mask)


def mla(q, q_pe, kv, k_pe, *_, **__):
    heads, kv_heads = q.shape[1], kv.shape[2]
    owner = torch.arange(heads) // (heads // kv_heads)
    query = torch.cat((q, q_pe), -1)[:, :, None]
    key = torch.cat((kv, k_pe), -1)[:, :, owner].swapaxes(1, 2)
    value = kv[:, :, owner].swapaxes(1, 2)
    return attention(query, key, value)[:, :, 0]


def relu_product(a, b, **_):
    return torch.mm(a, b).clamp(min=0)


FORMULA = {"gemm": relu_product, "fa": bshd, "mha_fwd_bhsd": bhsd,
           "mha_fwd_pipelined": bshd, "mla_decode": mla,
           "mla_decode_hopper": mla}


# ---- running a program -----------------------------------------------------

def settings(text):
    pairs = (item.split("=", 1) for item in text.split())
    def literal(v):
        try:
            return ast.literal_eval(v)
        except (ValueError, SyntaxError):
            return v
    return {name: literal(value) for name, value in pairs}


def configs():
    with open(os.path.join(PROGRAMS, "configs.json")) as file:
        programs = json.load(file)["programs"]
    return {name: programs[name] for name in FORMULA}  # others: formulas.py


def error(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300)


def upstream_mismatches(got, want):
    """Share of elements outside rtol = atol = 1e-2."""
    return 1 - np.isclose(got, want, rtol=1e-2, atol=1e-2).mean()


class Case:
    """A program at one size: how to run it, its inputs and the truth."""

    def __init__(self, name, entry, arguments, seed=0, path=None,
                 replace=lambda text: text):
        self.name, self.arguments = name, arguments
        path = path or os.path.join(PROGRAMS, entry["file"])
        self.module = tile_numpy.load(path, replace)
        self.factory = getattr(self.module, entry["kernel"])
        self.sizes = None
        if name == "gemm":
            self.sizes = {n: arguments[n] for n in "MNK"}
            self.arguments = {n: v for n, v in arguments.items()
                              if n not in "MNK" and n != "dtype"}
            shapes = [(arguments["M"], arguments["K"]),
                      (arguments["K"], arguments["N"])]
        else:
            shapes = self.build("written").shapes
        rng = np.random.default_rng(seed)
        self.inputs = [rng.uniform(-1, 1, s).astype(np.float16)
                       for s in shapes]

    def build(self, mode, **options):
        return tile_numpy.build(self.factory, self.arguments, mode,
                                sizes=self.sizes, **options)

    def run(self, mode, **options):
        return self.build(mode, **options)(*self.inputs)[0]

    def torch_inputs(self):
        return [torch.tensor(x).double() for x in self.inputs]

    def truth(self):
        formula = FORMULA[self.name]
        return formula(*self.torch_inputs(), **self.arguments).numpy()

    def reference(self):
        """The program's own ref_program, bound as tilesim binds it."""
        ref = self.module.ref_program
        names = ref.__code__.co_varnames[:ref.__code__.co_argcount]
        tensors = self.torch_inputs()
        given = {n: v for n, v in self.arguments.items()
                 if n in names[len(tensors):]}
        if "is_causal" in names:
            given.setdefault("is_causal", self.factory.__defaults__[
                self.factory.__code__.co_varnames.index("is_causal")])
        return ref(*tensors, **given).numpy()


# ---- truth -----------------------------------------------------------------

ALGORITHM, REFERENCE, ROUNDING = 1e-8, 1e-12, 5e-3


def truth(names, sets=("small", "odd")):
    failed = 0
    print(f"{'algorithm':>9} {'reference':>9} {'rounding':>9}  launch")
    for name, entry in configs().items():
        if names and name not in names:
            continue
        for line in (line for s in sets for line in entry["sizes"][s]):
            case = Case(name, entry, settings(line))
            want = case.truth()
            sums = (error(case.run("f64"), want), error(case.reference(), want),
                    error(case.run("written"), want))
            ok = all(s <= limit for s, limit in
                     zip(sums, (ALGORITHM, REFERENCE, ROUNDING)))
            failed += not ok
            print(*(f"{s:9.1e}" for s in sums), "" if ok else "WRONG", name,
                  line, flush=True)
    return failed


# ---- faults ----------------------------------------------------------------

def sampled(seq_len, block):
    """Query tiles to run: all of a short sequence, else six."""
    tiles = -(-seq_len // block)
    return range(tiles) if tiles <= 16 else sorted(
        {0, 1, tiles // 3, tiles // 2, tiles - 2, tiles - 1})


def one_head(array):
    """[queries, dim] of a tensor with one batch and one head."""
    return array.reshape(-1, array.shape[-1])


def fault_errors(program, edits, seq_len, is_causal, mode, poison=0.0):
    """(error, NaN count, upstream's mismatches) over sampled query tiles."""
    entry = configs()[program]
    arguments = dict(batch=1, heads=1, dim=128, is_causal=is_causal)
    if program == "fa":
        arguments.update(seq_len=seq_len, num_split_q=64)
    else:
        arguments.update(seq_q=seq_len, seq_kv=seq_len)
    case = Case(program, entry, arguments,
                replace=lambda text: faults.plant(text, edits, program))
    tiles = sampled(seq_len, 128)
    got = case.run(mode, poison=poison,
                   blocks=lambda ids: [b for b in ids if b[0] in tiles])
    rows = [r for t in tiles for r in range(t * 128, (t + 1) * 128)
            if r < seq_len]
    got = one_head(got)[rows].astype(np.float64)
    want = attention(*(torch.tensor(one_head(x)).double()[r] for x, r in
                       zip(case.inputs, (rows, slice(None), slice(None)))),
                     causal(seq_len, seq_len)[rows] if is_causal else None)
    want = want.numpy()
    nans = int(np.isnan(got).sum())
    mismatches = upstream_mismatches(got, want)
    return error(np.nan_to_num(got), want), nans, mismatches


def fault_table():
    failed = 0
    print("error of the f64 run; NaNs; share outside rtol = atol = 1e-2")
    for program, fault, where, edits in faults.FAULTS:
        for seq_len in 2048, 4096, 8192:
            for is_causal in False, True:
                err, nans, bad = fault_errors(program, edits, seq_len,
                                              is_causal, "f64")
                shows = where == faults.ALWAYS or is_causal
                ok = (err > 1e-6 or nans > 0) == shows
                failed += not ok
                shown = f"{err:8.1e} {nans:6d} {bad:8.3%}"
                print(shown,
                      "" if ok else "UNEXPECTED", program, fault, seq_len,
                      "causal" if is_causal else "full", flush=True)
    return failed


# ---- the unmasked tails ----------------------------------------------------

def rows_counted(seqlen_kv, block_N, num_split):
    """How often mla_unmasked.tile takes each row; None: rows past the end."""
    share = seqlen_kv // num_split
    taken = collections.Counter()
    for split in range(num_split):
        for tile in range(-(-share // block_N)):
            first = split * share + tile * block_N
            for row in range(first, first + block_N):
                taken[row if row < seqlen_kv else None] += 1
    return taken


def is_right(seqlen_kv, point):
    taken = rows_counted(seqlen_kv, point["block_N"], point["num_split"])
    return taken == collections.Counter(range(seqlen_kv))


def tails():
    path = os.path.join(FAULTY, "mla_unmasked.tile")
    points = tile_numpy.load(path).get_configs()
    failed = len(points) != 192
    for seqlen_kv, expected in (1024, 24), (2048, 8), (8192, 0):
        wrong = [p for p in points if not is_right(seqlen_kv, p)]
        small = [p for p in wrong if p["block_N"] < 64]
        failed += len(wrong) != expected or bool(small)
        print(f"seqlen_kv {seqlen_kv}: {len(wrong)} of {len(points)} wrong, "
              f"{expected} expected")

    entry = {"kernel": "mla_decode"}
    launches = [dict(seqlen_kv=kv) for kv in (8192, 8000, 4098, 1000)]
    launches += [dict(seqlen_kv=1024, block_N=n, num_split=s, block_H=128)
                 for n in (32, 64, 128) for s in (8, 16, 32)]
    for arguments in launches:
        case = Case("mla_decode", entry, arguments, path=path)
        case.inputs = case.inputs[:4] + [np.zeros_like(x)
                                         for x in case.inputs[4:]]
        want = case.truth()
        algorithm, got = error(case.run("f64"), want), case.run("written")
        point = dict(block_N=32, num_split=4, **{})
        point.update(arguments)
        right = is_right(arguments["seqlen_kv"], point)
        failed += right != (algorithm < 1e-6)
        print(f"{algorithm:8.1e} in f64, {error(got, want):8.1e} as written, "
              f"{upstream_mismatches(got, want):8.3%} outside 1e-2 ",
              "right" if right else "wrong", arguments, flush=True)
    return failed


# ---- fixtures --------------------------------------------------------------

def save_safetensors(path, arrays):
    """Float16 arrays by name, in the safetensors format."""
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F16", "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).tobytes())


def data(folder):
    """NAME-N.safetensors: inputs and output; NAME-N.txt: the launch."""
    os.makedirs(folder, exist_ok=True)
    for name, entry in configs().items():
        for n, line in enumerate(entry["sizes"]["small"]):
            case = Case(name, entry, settings(line), seed=n + 1)
            arrays = dict(zip(tensor_names(case), case.inputs[:4]))
            arrays["C" if name == "gemm" else "Output"] = case.truth().astype(
                np.float16)
            out = os.path.join(folder, f"{name}-{n}")
            save_safetensors(out + ".safetensors", arrays)
            with open(out + ".txt", "w") as file:
                file.write(line + "\n")
    return 0


def tensor_names(case):
    function = case.factory
    if case.sizes is None:
        function = function(**case.arguments)
    return function.__code__.co_varnames[:len(case.inputs)]


def main(args):
    verb = args[0] if args else ""
    if verb == "truth":
        return truth(args[1:])
    if verb == "small" and len(args) == 1:
        return truth([], ("small",))
    if verb == "faults" and len(args) == 1:
        return fault_table()
    if verb == "tails" and len(args) == 1:
        return tails()
    if verb == "data" and len(args) == 2:
        return data(args[1])
    sys.exit("usage: programs.py truth [NAME...] | small | faults | tails | "
             "data FOLDER")


if __name__ == "__main__":
    wrong = main(sys.argv[1:])
    print(f"{wrong} wrong" if wrong else "ok")
    sys.exit(1 if wrong else 0)
