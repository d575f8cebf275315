"""coverage.py - the table of docs/coverage.md: what was compared with NumPy."""
import os

from dtypes import ALL, CARRIED

SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32",
         "float64": "f64", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2",
         "float8_e4m3fnuz": "e4m3z", "float8_e5m2fnuz": "e5m2z",
         "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
         "bool": "bool", "int4": "i4", "uint4": "u4",
         "float4_e2m1fn": "e2m1", "tfloat32": "tf32"}
HEAD = """# What is compared with NumPy

Written by `tests/ops.tap`: a mark stands for an operation that was run on
tensors of this dtype, with 0, 1, 16 and 37 elements or with tiles of odd
sizes, and gave what NumPy and ml_dtypes give: the same bits, or for functions
that NumPy's own library rounds, at most a place beside it. The other cells are
dtypes that upstream does not have for the operation, either: `r`, its compiler
refuses a kernel that uses it (asked of the wheel 0.1.13, without a GPU); `n`,
nvcc refuses the source that it makes; `o`, see below the table. `e4m3z` and
`e5m2z` are MI300X's `float8_e4m3fnuz` and `float8_e5m2fnuz`. Casts and copies of
`float8_e8m0fnu`, which has no arithmetic of its own, are compared in
`tests/golden/run/e8m0.tile`, and the rounding modes of `T.ieee_*`, which are of
float32, in `ieee_modes.tile` beside it.
"""
OTHER = """
The cells marked `o`:

- `T.atomic_addx4`: upstream adds four float32 over the bytes of any other
  dtype, `T.atomic_addx2` of MI300X's 8-bit floats likewise.
- Atomics, `/` and `~` of bool: upstream has C work on bytes, so that 2 and 255
  come about and a division by False traps. `T.reinterpret` of bool is of bytes.
- Reducers, `T.reduce_sum` and `T.reduce_abssum` of 8-bit floats: sums that
  round on the way, in an order that is not told; `T.atomic_or` of those of MI300X: not compiled here.
- `T.alloc_reducer` and what goes with it of 4-bit floats and tfloat32, `/` and
  two elements at a time of tfloat32: built, and not compared.
- `T.gemm_sp`, `T.im2col`: the compiler was not asked.
"""


def reasons(top):
    """(operation, dtype) of each cell that is not compared: its letter."""
    path = os.path.join(top, "tests", "data", "coverage_empty.tsv")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file
                if not line.startswith("#")]
    return {(name, dtype): why for name, why, dtypes in rows
            for dtype in dtypes.split()}


def table(seen, why):
    names = []
    for name, _ in sorted(seen, key=lambda s: (not s[0].startswith("T."),
                                               s[0].lower())):
        if name not in names:
            names.append(name)
    columns = [*ALL, *CARRIED]
    lines = [HEAD, "| | " + " | ".join(SHORT[d] for d in columns) + " |",
             "|---|" + "---|" * len(columns)]
    for name in names:
        cells = ["x" if (name, d) in seen else why.get((name, SHORT[d]), " ")
                 for d in columns]
        shown = name.replace("|", "\\|")
        lines.append(f"| `{shown}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" + OTHER


def compare(top, seen):
    path = os.path.join(top, "docs", "coverage.md")
    text = table(seen, reasons(top))
    if os.environ.get("UPDATE"):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    try:
        with open(path, encoding="utf-8") as page:
            old = page.read()
    except FileNotFoundError:
        old = ""
    if "|   |" in text:
        return "a cell is neither compared nor in coverage_empty.tsv"
    return "" if old == text else "it differs: UPDATE=1 tests/ops.tap writes it"
