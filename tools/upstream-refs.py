# upstream-refs.py - marks the reference functions of upstream's examples.
#
#   upstream-refs.py TABLE EXAMPLES
#
# Each function of the files in TABLE (tests/data/upstream.tsv) that is a
# reference by its name prints "@evaluated FILE NAME" when it is called, from
# now on: EXAMPLES is a copy. Lists them as FILE<tab>NAME.
import ast
import os
import re
import sys

BY_NAME = re.compile(r"(^|_)(ref|reference|naive|torch|pytorch)(_|$)|^ref")
NO_REFERENCES = {               # kernels, and times
    "naive_gemv", "naive_splitk_gemv", "benchmark_pytorch",
}


def references(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and BY_NAME.search(node.name) \
                and node.name not in NO_REFERENCES:
            yield node


# Before the first statement, on its own line where that can hold both.
def mark(lines, function, path):
    first = function.body[0]
    at, column = first.lineno - 1, first.col_offset
    line = lines[at]
    call = f'print("@evaluated {path} {function.name}")'
    simple = not isinstance(first, (ast.If, ast.For, ast.While, ast.With,
                                    ast.FunctionDef, ast.Try, ast.ClassDef))
    ends = "; " if simple else "\n" + " " * column
    lines[at] = line[:column] + call + ends + line[column:]


def mark_file(top, path):
    full = os.path.join(top, path)
    if not os.path.exists(full):
        return
    with open(full, encoding="utf-8") as f:
        text = f.read()
    lines = text.split("\n")
    functions = sorted(references(ast.parse(text)), key=lambda f: -f.lineno)
    for function in functions:
        mark(lines, function, path)
    for function in reversed(functions):
        print(path, function.name, sep="\t")
    with open(full, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        for row in f:
            if not row.startswith("#"):
                mark_file(sys.argv[2], row.split("\t")[0])


main()
