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
that NumPy's own library rounds, at most a place beside it. An empty cell was
not compared: most are dtypes that the operation does not have. `e4m3z` and
`e5m2z` are MI300X's `float8_e4m3fnuz` and `float8_e5m2fnuz`. Casts and copies of
`float8_e8m0fnu`, which has no arithmetic of its own, are compared in
`tests/golden/run/e8m0.tile`, and the rounding modes of `T.ieee_*`, which are of
float32, in `ieee_modes.tile` beside it.
"""


def table(seen):
    names = []
    for name, _ in sorted(seen, key=lambda s: (not s[0].startswith("T."),
                                               s[0].lower())):
        if name not in names:
            names.append(name)
    columns = [*ALL, *CARRIED]
    lines = [HEAD, "| | " + " | ".join(SHORT[d] for d in columns) + " |",
             "|---|" + "---|" * len(columns)]
    for name in names:
        cells = ["x" if (name, d) in seen else " " for d in columns]
        shown = name.replace("|", "\\|")
        lines.append(f"| `{shown}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def compare(top, seen):
    path = os.path.join(top, "docs", "coverage.md")
    text = table(seen)
    if os.environ.get("UPDATE"):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    try:
        with open(path, encoding="utf-8") as page:
            old = page.read()
    except FileNotFoundError:
        old = ""
    return "" if old == text else "it differs: UPDATE=1 tests/ops.tap writes it"
