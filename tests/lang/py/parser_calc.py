class Lexer:
    def __init__(self, text): self.text, self.pos = text, 0
    def tokens(self):
        out = []
        while self.pos < len(self.text):
            c = self.text[self.pos]
            if c.isspace(): self.pos += 1
            elif c.isdigit() or c == ".":
                start = self.pos
                while self.pos < len(self.text) and (self.text[self.pos].isdigit() or self.text[self.pos] == "."):
                    self.pos += 1
                s = self.text[start:self.pos]
                out.append(("num", float(s) if "." in s else int(s)))
            elif c in "+-*/()^":
                out.append(("op", c))
                self.pos += 1
            else:
                raise SyntaxError(f"unexpected {c!r} at {self.pos}")
        return out + [("end", None)]
class Parser:
    LEVELS = [("+", "-"), ("*", "/")]
    OPS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
    def __init__(self, text): self.toks, self.i = Lexer(text).tokens(), 0
    def peek(self): return self.toks[self.i][1]
    def take(self):
        tok = self.toks[self.i]
        self.i += 1
        return tok
    def expr(self, level=0):
        if level == len(self.LEVELS): return self.power()
        v = self.expr(level + 1)
        while self.peek() in self.LEVELS[level]:
            op = self.take()[1]
            v = self.OPS[op](v, self.expr(level + 1))
        return v
    def power(self):
        b = self.unary()
        if self.peek() == "^":
            self.take()
            return b ** self.power()
        return b
    def unary(self):
        kind, v = self.take()
        if v == "-": return -self.unary()
        if v == "(":
            r = self.expr()
            if self.take()[1] != ")": raise SyntaxError("expected )")
            return r
        if kind != "num": raise SyntaxError(f"unexpected {v}")
        return v
def calc(s):
    p = Parser(s)
    v = p.expr()
    if p.peek() is not None: raise SyntaxError(f"trailing {p.peek()}")
    return v
for s in ("1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-2 ^ 2", "10 / 4 - 1.5", "2 * (3 + 4) - -1", "1 / 0", "1 +", "(1", "2 $ 3", "1 2"):
    try:
        print(s, "=", calc(s))
    except (SyntaxError, ZeroDivisionError) as e:
        print(s, "!", type(e).__name__, e)
