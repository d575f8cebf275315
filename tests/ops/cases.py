"""cases.py - what a test of a tile operation consists of.

Values are small integers, so that sums are exact in every dtype and the order
of additions does not show.
"""
import numpy as np

from dtypes import ALL, is_float, is_unsigned, places


class Case:
    """A test for each dtype; `make` gives its parts."""

    def __init__(self, name, ops, dtypes, make):
        self.name, self.ops, self.dtypes, self.make = name, ops, dtypes, make

    def parts(self, dtype, rng):
        return list(self.make(dtype, rng))


class Part:
    """One launch: its text as a macro, inputs and the results wanted."""

    def __init__(self, launch, inputs, wanted):
        self.params, self.body = launch
        self.names = [p.split(":")[0] for p in self.params]
        self.inputs, self.wanted = inputs, wanted

    def macro(self, n):
        lines = [line for text in self.body for line in text.splitlines()]
        return (f"@T.macro\ndef part{n}({', '.join(self.names)}):\n"
                "    with T.Kernel(1, threads=128):\n"
                + "".join(f"        {line}\n" for line in lines))

    def why_wrong(self, n, results):
        for name, want in self.wanted.items():
            got = results[f"{name}{n}"]
            why = difference(got, np.asarray(want))
            if why:
                return f"{name}{list(got.shape)}: {why}\n{self.macro(n)}"
        return ""


def difference(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    name = np.dtype(want.dtype).name
    if is_float(name):
        wrong = places(got.ravel(), want.ravel(), name) != 0
    else:
        wrong = got.ravel() != want.ravel()
    if not wrong.any():
        return ""
    i = int(np.flatnonzero(wrong)[0])
    return f"element {i}: {got.ravel()[i]!r}, not {want.ravel()[i]!r}"


def values(dtype, shape, rng, top=3):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    low = 0 if is_unsigned(dtype) else -top
    return rng.integers(low, top + 1, shape).astype(ALL[dtype])


def wide(array):
    """As float64 or Python integers: exact."""
    name = np.dtype(array.dtype).name
    return array.astype(np.float64 if is_float(name) else np.int64)


def tensor(name, shape, dtype):
    return f"{name}: T.Tensor({tuple(shape)}, T.{dtype})"
