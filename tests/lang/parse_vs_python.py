#!/usr/bin/env python3
"""parse_vs_python.py - tilesim's parser held against CPython's.

    parse_vs_python.py TOOL [--mutations N] [--seed N] [--verbose] [PATH...]

TOOL is the program made of parse_files.c; PATHs are files or folders (default:
the programs, the golden inputs, and this Python's own library without what was
installed into it). Every file that CPython parses must give the same tree, with
the same places, and the same names in the same scopes; every file that it
refuses must be refused. Then random mutations of the files: what is a syntax
error there must be one here, and what compiles there must give the same tree
here. Prints TAP.

Python before 3.12 reads f-strings by other rules: there places inside them
are not compared, and mutants of programs with f-strings are left out.
"""
import argparse
import ast
import io
import os
import random
import re
import subprocess
import symtable
import sys
import sysconfig
import tempfile
import tokenize
import warnings

import cpython_tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PEP701 = sys.version_info >= (3, 12)
PLACE = re.compile(r" @\d+:\d+-\d+:\d+$")
SCOPE = re.compile(r"( (locals|globals|nonlocals)\([^)]*\))*( generator)?"
                   r"(?= @\d+:\d+-\d+:\d+$)")
SCOPED = re.compile(r"(\w+: )?(FunctionDef|ClassDef|Lambda|ListComp|SetComp|"
                    r"DictComp|GeneratorExp)\b")
NUMBER = re.compile(r'^((?:\w+: )?Number) "[^"]*"')
DEBUG = re.compile(r'^parts: FormattedValue ("(?:[^"\\]|\\.)*")')


class Tool:
    """One process that parses file after file."""

    def __init__(self, path, mode=()):
        self.process = subprocess.Popen(
            [path, *mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def parse(self, path):
        """Exit code and printed lines."""
        self.process.stdin.write(os.fsencode(path) + b"\n")
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"the parser died on {path}")
            if line.startswith(b"= "):
                return int(line[2:]), lines
            lines.append(line.decode("utf-8", "surrogateescape")
                         .rstrip("\n"))


INDENT = re.compile(r" *(?:\((\d+)\) )?")


def depth_of(line):
    """Deep lines give their depth as a number."""
    m = INDENT.match(line)
    return int(m[1]) if m[1] else m.end() // 2


def merge_debug(out, indent, words):
    """The text of `{x=}`: CPython puts it into the text before."""
    m = DEBUG.match(words)
    if not m:
        return words
    head = indent + "parts: String "
    if out and out[-1].startswith(head):
        last = PLACE.sub("", out.pop())
        out.append(last[:-1] + m[1][1:])
    else:
        out.append(head + m[1])
    return "parts: FormattedValue" + words[m.end():]


def comparable(lines):
    """Our lines, less what CPython's tree does not have."""
    out = []
    for i, line in enumerate(lines):
        indent = INDENT.match(line)[0]
        words = line[len(indent):]
        if SCOPED.match(words):
            words = SCOPE.sub("", words)
        words = NUMBER.sub(r"\1", words)
        words = merge_debug(out, indent, words)
        childless = (i + 1 == len(lines)
                     or depth_of(lines[i + 1]) <= depth_of(line))
        if words.startswith("arguments: Call") and childless:
            continue
        out.append(indent + words)
    return out


def difference(ours, theirs, in_fstrings):
    """The first pair of lines that differ, or None."""
    depth = None
    for a, b in zip(ours, theirs):
        level = depth_of(b)
        if depth is not None and level <= depth:
            depth = None
        if depth is None and not in_fstrings and "JoinedStr" in b:
            depth = level
        if not PLACE.search(b) or depth is not None:
            a = PLACE.sub("", a)
        if depth is not None:
            b = PLACE.sub("", b)
        if a != b:
            return a, b
    if len(ours) != len(theirs):
        longer = max(ours, theirs, key=len)
        return f"{len(ours)} lines, {len(theirs)} with CPython", longer[
            min(len(ours), len(theirs))]
    return None


def is_utf8(raw):
    """By what it declares, and by what it is."""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(raw).readline)[0]
        raw.decode("utf-8")
    except (SyntaxError, UnicodeDecodeError):
        return False
    return encoding in ("utf-8", "utf-8-sig", "ascii") and b"\0" not in raw


def python_tree(raw):
    """(lines, why not): lines is None where CPython sees a syntax error."""
    try:
        module = ast.parse(raw)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        return None, str(e)
    for n in ast.walk(module):
        if isinstance(n, ast.Match):
            return None, "match"
    p = cpython_tree.Printer()
    try:
        p.node(0, "", module)
    except RecursionError:
        return None, "deep"
    return p.lines, None


COMPREHENSIONS = ("genexpr", "listcomp", "setcomp", "dictcomp")
HIDDEN = ("__class__", "__classdict__", "__conditional_annotations__")


def unmangled(name, owner):
    """__x in a class C is _C__x in CPython's table."""
    prefix = f"_{owner.lstrip('_')}__" if owner else None
    if prefix and name.startswith(prefix) and not name.endswith("__"):
        return name[len(prefix) - 2:]
    return name


def python_scopes(table, owner=None):
    """(line, locals, globals, nonlocals) of each scope, nested ones after."""
    for child in table.get_children():
        kind = child.get_type()
        kind = getattr(kind, "value", kind)
        inner = child.get_name() if kind == "class" else owner
        names = [(unmangled(s.get_name(), inner), s)
                 for s in child.get_symbols()
                 if s.get_name()[0] != "." and s.get_name() not in HIDDEN]
        # In a comprehension these are the targets of its ':='.
        declared = names if child.get_name() not in COMPREHENSIONS else []
        yield (child.get_lineno(),
               tuple(sorted(n for n, s in names if s.is_local())),
               tuple(sorted(n for n, s in declared if s.is_declared_global())),
               tuple(sorted(n for n, s in declared if s.is_nonlocal())))
        yield from python_scopes(child, inner)


def our_scopes(lines):
    for line in lines:
        if not SCOPED.match(line.lstrip(" ")):
            continue
        facts = line[SCOPE.search(line).start():]
        lists = [re.search(rf" {what}\(([^)]*)\)", facts)
                 for what in ("locals", "globals", "nonlocals")]
        place = PLACE.search(line)[0]
        yield (int(place[2:place.index(":")]),
               *(tuple(sorted(n for n in m[1].split() if n not in HIDDEN))
                 if m else () for m in lists))


def scope_difference(raw, lines):
    """None, or the first scope that the two know differently.

    Python 3.12 counts comprehensions to the scope around them.
    """
    if sys.version_info >= (3, 12) or any(
            line.lstrip(" ").startswith(("type_params:", "body: TypeAlias"))
            for line in lines):
        return None             # type parameters have scopes of their own
    table = symtable.symtable(raw, "<text>", "exec")
    theirs = sorted(python_scopes(table))
    ours = sorted(our_scopes(lines))
    for a, b in zip(ours, theirs):
        if a != b:
            return a, b
    return None if len(ours) == len(theirs) else (len(ours), len(theirs))


def compiles(raw):
    try:
        compile(raw, "<mutant>", "exec", dont_inherit=True)
        return True
    except (SyntaxError, ValueError, MemoryError, RecursionError,
            OverflowError):
        return False


NOT_BUILT = 4                   # exit code: match, \N{...}, unusual letters


def compare(tool, path, raw):
    """None, or what is wrong."""
    theirs, why = python_tree(raw)
    code, ours = tool.parse(path)
    if theirs is None:
        if why in ("match", "deep") or code:
            return None
        return f"accepted, but CPython says: {why}"
    if code == NOT_BUILT:
        return None
    if code:
        if not compiles(raw):
            return None
        return f"refused (exit {code}), but CPython compiles it"
    d = difference(comparable(ours), theirs, PEP701)
    if d:
        return f"{d[0].strip()} | {d[1].strip()}"
    d = scope_difference(raw, ours) if compiles(raw) else None
    return f"scopes: {d[0]} | {d[1]}" if d else None


TOKENS = """( ) [ ] { } : ; , . = == := + - * ** / // @ -> ... < > | & ^ ~ !=
    += @= if else elif for in is not and or lambda def class return yield from
    import as with try except finally raise assert del global nonlocal pass
    break continue while async await None True x y f 1 2.5 'a' b'a' f'{x}'
    """.split() + ["\n", "    ", "\\\n", " ", "\t", "# c\n", "f'", "'", '"""',
                   "{x!r:>{y}}", "'''", "*x", "**x", "x=1", "(x, y)", "0x", "_"]


def mutate(rng, raw):
    """A slice of the text with one to three edits."""
    lines = raw.decode("utf-8").splitlines(keepends=True)
    if len(lines) > 60:
        start = rng.randrange(len(lines) - 40)
        lines = lines[start:start + 40]
        while lines and lines[0][:1] in " \t\r\n#":
            lines.pop(0)
    words = re.findall(r"\w+|\s+|[^\w\s]", "".join(lines))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        if not words:
            break
        i = rng.randrange(len(words))
        how = rng.randrange(5)
        if how == 0:
            del words[i]
        elif how == 1:
            words.insert(i, rng.choice(TOKENS))
        elif how == 2:
            words[i] = rng.choice(TOKENS)
        elif how == 3:
            j = rng.randrange(len(words))
            words[i], words[j] = words[j], words[i]
        else:
            words.insert(i, words[rng.randrange(len(words))])
    return "".join(words).encode("utf-8")


def old_fstring(raw):
    return not PEP701 and re.search(
        rb"(?i)\b(f|fr|rf)['\"]|\btype\b|except\s*\*", raw)


def python_files(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, inner, names in os.walk(path):
            inner[:] = sorted(set(inner) - {"site-packages"})
            for name in sorted(names):
                if name.endswith((".py", ".tile")):
                    yield os.path.join(folder, name)


def check_files(tool, files, verbose):
    failures, done = 0, []
    for path in files:
        with open(path, "rb") as f:
            raw = f.read()
        if not is_utf8(raw):
            continue
        why = compare(tool, path, raw)
        if why and not old_fstring(raw):
            failures += 1
            print(f"# {path}: {why}")
        elif verbose:
            print(f"# {path}")
        done.append((path, raw))
    return failures, done


def check_mutants(tool, done, count, rng, folder):
    failures = refused = 0
    path = os.path.join(folder, "mutant.py")
    for i in range(count):
        raw = mutate(rng, rng.choice(done)[1])
        if not is_utf8(raw) or old_fstring(raw):
            continue
        with open(path, "wb") as f:
            f.write(raw)
        why = compare(tool, path, raw)
        refused += not compiles(raw)
        if why:
            failures += 1
            kept = os.path.join(folder, f"wrong{i}.py")
            with open(kept, "wb") as f:
                f.write(raw)
            print(f"# mutant {i}: {why}")
            if failures <= 3:
                for line in raw.decode("utf-8", "replace").split("\n"):
                    print(f"#   {line}")
    print(f"# {count} mutants, {refused} of them not Python")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for mutants that fail")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(5000)
    paths = args.paths or [
        os.path.join(ROOT, "programs"), os.path.join(ROOT, "tests/golden"),
        sysconfig.get_paths()["stdlib"]]
    tool = Tool(args.tool)
    failures, done = check_files(tool, python_files(paths), args.verbose)
    print("ok" if not failures else "not ok", f"1 - {len(done)} files give "
          f"CPython {sys.version.split()[0]}'s tree")
    with tempfile.TemporaryDirectory() as scratch:
        wrong = check_mutants(tool, done, args.mutations,
                              random.Random(args.seed), args.keep or scratch)
    print("ok" if not wrong else "not ok", "2 - mutants of them are accepted "
          "and refused as by CPython")
    print("1..2")
    return 1 if failures or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
