"""random_programs.py - programs of random operations for eval_vs_python.py.

Each line prints one operation's result or its exception. Numbers that Python
has and 64 bits have not are printed as "big" on both sides.
"""
import random

PRELUDE = '''\
def t(f):
    try:
        v = f()
    except OverflowError as e:
        if "overflow" in str(e) or "too large" in str(e):
            v = "big"
        else:
            v = "OverflowError", str(e)
    except Exception as e:
        v = type(e).__name__, str(e)
    if isinstance(v, int) and not -9223372036854775808 <= v <= 9223372036854775807:
        v = "big"
    if isinstance(v, tuple) and any(isinstance(x, int) and not -9223372036854775808 <= x <= 9223372036854775807 for x in v):
        v = "big"
    print(repr(v))
'''

INTS = [0, 1, -1, 2, 3, 7, 10, 63, 64, 100, 255, 1000, 65536, 10**9, 2**31,
        2**53, 2**53 + 1, 2**62, 2**63 - 1, -2**63, -7, -1000]
FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 0.1, 1e16, 1e15, 1e-5, 1e22, 1e100,
          1e-300, 5e-324, 1.7976931348623157e308, 123456.789, 2.0**53, 2.0**63]
TEXTS = ["", "a", "abc", "abcabc", "  pad ", "x,y,,z", "Hello World", "aXbXc",
         "123", "-45", "3.25", "tab\tend", "line\nnext", "héé", "日本", "__x__"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def one(self, *choices):
        return self.r.choice(choices)

    def int(self):
        if self.r.random() < 0.5:
            return self.r.choice(INTS)
        return self.r.randrange(-10**self.r.randrange(1, 18),
                                10**self.r.randrange(1, 18))

    def float(self):
        if self.r.random() < 0.4:
            return self.r.choice(FLOATS)
        if self.r.random() < 0.3:
            return self.r.uniform(-1000, 1000)
        return self.r.uniform(-1, 1) * 10.0**self.r.randrange(-320, 308)

    def number(self):
        v = self.one(self.int, self.float)()
        # the one int whose literal is an operator and a number too large
        return "(-9223372036854775807 - 1)" if v == -2**63 else f"({v!r})"

    def text(self):
        if self.r.random() < 0.7:
            return repr(self.r.choice(TEXTS))
        return repr("".join(self.r.choice("ab ,X1é\t")
                            for _ in range(self.r.randrange(8))))

    def part(self):
        return self.one("", "", str(self.r.randrange(-12, 12)))

    def slice(self):
        step = self.one("", "", ":", f":{self.r.choice([-3, -2, -1, 1, 2, 3])}")
        return f"[{self.part()}:{self.part()}{step}]"

    def spec(self):
        fill = self.one("", "", "", "*", "0", " ", "é")
        align = self.one("", "", "<", ">", "^", "=")
        return ((fill + align if align else "") + self.one("", "", "+", "-", " ")
                + self.one("", "", "#") + self.one("", "", "0")
                + self.one("", "", str(self.r.randrange(1, 20)))
                + self.one("", "", ",", "_")
                + self.one("", "", f".{self.r.randrange(12)}")
                + self.one("", "d", "x", "X", "o", "b", "e", "E", "f", "F", "g",
                           "G", "%", "s", "c", "q"))

    def percent(self):
        return ("%" + self.one("", "-", "+", " ", "0", "#", "-0")
                + self.one("", str(self.r.randrange(1, 15)))
                + self.one("", f".{self.r.randrange(8)}")
                + self.one("d", "i", "x", "X", "o", "e", "f", "g", "G", "s", "r"))

    def arithmetic(self):
        op = self.one("+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", ">",
                      "&", "|", "^", ">>", "<<")
        right = self.number()
        if op in ("<<", ">>"):
            right = f"({self.r.randrange(-2, 70)})"
        return f"{self.number()} {op} {right}"

    def power(self):
        base = self.one(str(self.r.randrange(-12, 12)), repr(self.r.uniform(0, 9)))
        return f"({base}) ** ({self.r.randrange(-6, 20)})"

    def function(self):
        return self.one(
            f"divmod({self.number()}, {self.number()})",
            f"round({self.number()}, {self.r.randrange(-3, 12)})",
            f"round({self.number()})", f"int({self.number()})",
            f"float({self.number()})", f"abs({self.number()})",
            f"repr({self.number()})", f"bool({self.number()})",
            f"-{self.number()}", f"str({self.number()})",
            f"max({self.number()}, {self.number()})",
            f"sum([{self.float()!r}, {self.number()}])",
            f"sorted([{self.number()}, {self.number()}, {self.number()}])",
            f"float(repr({self.number()}))", f"hex({self.number()})")

    def format(self):
        v = self.one(self.number, self.number, self.text)()
        return f"format({v}, {self.spec()!r})"

    def old_format(self):
        spec = self.percent()
        v = self.int() % 10**17 if spec[-1] in "di" else self.number()
        return f"{spec!r} % ({v},)"

    def method(self):
        s, a, b = self.text(), self.text(), self.text()
        n = self.r.randrange(-6, 12)
        return s + self.one(
            f".split({a})", ".split()", f".split({a}, {n})", f".rsplit({a}, {n})",
            f".split(None, {n})", f".rsplit(None, {n})", ".splitlines()",
            f".replace({a}, {b})", f".replace({a}, {b}, {n})", f".find({a})",
            f".rfind({a})", f".find({a}, {n})", f".rfind({a}, 0, {n})",
            f".count({a})", f".count({a}, {n})", f".startswith({a})",
            f".endswith({a})", f".startswith({a}, {n})", f".strip({a})",
            f".lstrip({a})", f".rstrip({a})", ".strip()", ".upper()", ".lower()",
            ".title()", ".capitalize()", ".swapcase()", f".center({n})",
            f".ljust({n}, '*')", f".rjust({n})", f".zfill({n})",
            f".partition({a})", f".rpartition({a})", f".join([{a}, {b}])",
            ".isdigit()", ".isalpha()", ".isspace()", ".isupper()", ".islower()",
            ".isidentifier()", f".removeprefix({a})", f".removesuffix({a})",
            f".index({a})", f".expandtabs({abs(n)})", self.slice(), f"[{n}]",
            f" * {n}", f" + {a}", f" < {a}", f" in {a}", ".isalnum()")

    def conversion(self):
        return f"{self.one('int', 'float')}({self.text()})"

    def sequence(self):
        items = [self.r.randrange(10) for _ in range(self.r.randrange(9))]
        v = self.one(items, tuple(items))
        n = self.r.randrange(-4, 9)
        return f"{v!r}" + self.one(
            self.slice(), self.slice(), f"[{n}]", f" + {v!r}", f" * {n}",
            f".index({abs(n)})", f".count({abs(n)})", f" == {items!r}",
            f" < {v!r}[1:]")

    def range(self):
        a, b = self.r.randrange(-9, 15), self.r.randrange(-9, 15)
        c, n = self.r.choice([-3, -2, -1, 1, 2, 3, 0]), self.r.randrange(-6, 9)
        r = f"range({a}, {b}, {c})"
        return self.one(f"list({r})", f"len({r})", f"{r}[{n}]",
                        f"{r}{self.slice()}", f"{n} in {r}",
                        f"list(reversed({r}))")

    def line(self):
        make = self.one(self.arithmetic, self.arithmetic, self.power,
                        self.function, self.function, self.format, self.format,
                        self.old_format, self.method, self.method,
                        self.conversion, self.sequence, self.range)
        return f"t(lambda: {make()})"

    def assignment(self):
        items = [self.r.randrange(10) for _ in range(self.r.randrange(9))]
        new = [self.r.randrange(10, 99) for _ in range(self.r.randrange(5))]
        change = self.one(f"v{self.slice()} = {new}", f"del v{self.slice()}",
                          f"v.insert({self.r.randrange(-9, 9)}, 'i')",
                          f"v[{self.r.randrange(-9, 9)}] = 'i'",
                          f"v.pop({self.r.randrange(-9, 9)})",
                          f"v += {new}", f"v *= {self.r.randrange(-1, 4)}")
        return (f"v = {items}\ntry:\n    {change}\nexcept Exception as e:\n"
                f"    print(type(e).__name__, e)\nprint(v)")


def program(seed, lines):
    m = Maker(seed)
    body = [m.assignment() if m.r.random() < 0.1 else m.line()
            for _ in range(lines)]
    return PRELUDE + "\n".join(body) + "\n"
