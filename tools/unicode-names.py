#!/usr/bin/env python3
"""unicode-names.py - prints src/lang/unicode.def from Python's own tables."""
import unicodedata

HEADER = """\
// unicode.def - which characters beyond ASCII may stand in a name.
//
// Unicode %s, printed by tools/unicode-names.py: where a name may begin, with
// what else it may go on, and what of it is not its own normal form NFKC
// (without U+00B5, which the lexer replaces).
"""


def is_start(c):
    return chr(c).isidentifier()


def is_more(c):
    return ("a" + chr(c)).isidentifier() and not is_start(c)


def is_not_normal(c):
    return (c != 0xB5 and ("a" + chr(c)).isidentifier()
            and not unicodedata.is_normalized("NFKC", chr(c)))


def ranges(test):
    first = None
    for c in range(0x80, 0x110001):
        inside = c < 0x110000 and test(c)
        if inside and first is None:
            first = c
        elif not inside and first is not None:
            yield first, c - 1
            first = None


def table(name, test):
    rows = [f"{name}(0x{a:04x}, 0x{b:04x})" for a, b in ranges(test)]
    lines = [" ".join(rows[i:i + 3]) for i in range(0, len(rows), 3)]
    return f"#ifdef {name}\n" + "\n".join(lines) + f"\n#undef {name}\n#endif\n"


print(HEADER % unicodedata.unidata_version
      + table("NAME_START", is_start) + table("NAME_MORE", is_more)
      + table("NOT_NORMAL", is_not_normal), end="")
