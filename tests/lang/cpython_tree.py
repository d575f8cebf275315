"""cpython_tree.py - CPython's syntax tree in the words of ast_print().

The printed form is documented in src/lang/ast.def; this file maps the nodes
of Python's own `ast` module to it, so that two independent parsers can be
compared line by line.
"""
import ast

OPS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
    ast.Not: "not", ast.And: "and", ast.Or: "or", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}
SIMPLE = {
    "Assign": ("value", "targets"),
    "Delete": ("targets",), "Return": ("value",), "Expr": ("value",),
    "Pass": (), "Break": (), "Continue": (),
    "While": ("test", "body", "orelse"), "If": ("test", "body", "orelse"),
    "IfExp": ("test", "body", "orelse"), "Await": ("value",),
    "Yield": ("value",), "YieldFrom": ("value",), "Starred": ("value",),
    "NamedExpr": ("target", "value"), "Slice": ("lower", "upper", "step"),
}
RENAMED = {
    "Subscript": (("value", "value"), ("index", "slice")),
    "Raise": (("exception", "exc"), ("cause", "cause")),
    "Assert": (("test", "test"), ("message", "msg")),
    "Tuple": (("elements", "elts"),), "List": (("elements", "elts"),),
    "Set": (("elements", "elts"),),
    "ListComp": (("element", "elt"), ("generators", "generators")),
    "SetComp": (("element", "elt"), ("generators", "generators")),
    "GeneratorExp": (("element", "elt"), ("generators", "generators")),
    "DictComp": (("key", "key"), ("value", "value"),
                 ("generators", "generators")),
    "AnnAssign": (("target", "target"), ("annotation", "annotation"),
                  ("value", "value")),
}


def quoted(raw):
    """token_put_text: bytes that are not UTF-8, and controls, as \\xNN."""
    out = []
    for c in raw.decode("utf-8", "surrogateescape"):
        if c in '\\"':
            out.append("\\" + c)
        elif c < " " or c == "\x7f":
            out.append(f"\\x{ord(c):02x}")
        elif "\udc80" <= c <= "\udcff":
            out.append(f"\\x{ord(c) - 0xDC00:02x}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def text(s):
    return quoted(s.encode("utf-8", "surrogatepass"))


def place(n):
    if not hasattr(n, "lineno"):
        return ""
    return (f" @{n.lineno}:{n.col_offset + 1}-"
            f"{n.end_lineno}:{n.end_col_offset + 1}")


def number(v):
    if isinstance(v, complex):
        return f"{'%.17g' % v.imag}j"
    if isinstance(v, float):
        return "%.17g" % v
    return str(v) if v < 2**63 else "big"


class Printer:
    """Lines without the places of nodes that CPython gives none."""

    def __init__(self):
        self.lines = []

    def line(self, depth, slot, words, where=""):
        slot = f"{slot}: " if slot else ""
        blanks = "  " * min(depth, 100)
        if depth >= 100:
            blanks += f"({depth}) "
        self.lines.append(blanks + slot + words + where)

    def show(self, depth, slot, value):
        """A node, a list of nodes, or nothing."""
        if value is None:
            return
        if isinstance(value, list):
            for v in value:
                self.node(depth, slot, v)
        else:
            self.node(depth, slot, value)

    def node(self, depth, slot, n):
        if n is None:
            self.line(depth, slot, "-")
            return
        kind = type(n).__name__
        own = getattr(self, "do_" + kind, None)
        if own:
            own(depth, slot, n)
            return
        pairs = RENAMED.get(kind) or [(f, f) for f in SIMPLE[kind]]
        self.line(depth, slot, kind, place(n))
        for ours, theirs in pairs:
            self.show(depth + 1, ours, getattr(n, theirs))

    def do_Module(self, depth, slot, n):
        self.line(depth, slot, "Module")
        self.show(depth + 1, "body", n.body)

    def function(self, depth, slot, n, is_async):
        self.line(depth, slot, f"FunctionDef {text(n.name)}"
                  + (" async" if is_async else ""), place(n))
        self.show(depth + 1, "returns", n.returns)
        self.node(depth + 1, "params", n.args)
        self.type_params(depth + 1, n)
        self.show(depth + 1, "body", n.body)
        self.show(depth + 1, "decorators", n.decorator_list)

    def do_FunctionDef(self, depth, slot, n):
        self.function(depth, slot, n, False)

    def do_AsyncFunctionDef(self, depth, slot, n):
        self.function(depth, slot, n, True)

    def type_params(self, depth, n):
        if getattr(n, "type_params", None):
            self.line(depth, "type_params", "arguments")
            self.show(depth + 1, "params", n.type_params)

    def do_TypeVar(self, depth, slot, n):
        self.line(depth, slot, f"type_param {text(n.name)} plain", place(n))
        self.show(depth + 1, "bound", n.bound)

    def do_TypeVarTuple(self, depth, slot, n):
        self.line(depth, slot, f"type_param {text(n.name)} star", place(n))

    def do_ParamSpec(self, depth, slot, n):
        self.line(depth, slot, f"type_param {text(n.name)} double-star",
                  place(n))

    def do_TypeAlias(self, depth, slot, n):
        self.line(depth, slot, f"TypeAlias {text(n.name.id)}", place(n))
        self.show(depth + 1, "value", n.value)
        self.type_params(depth + 1, n)

    def do_ClassDef(self, depth, slot, n):
        self.line(depth, slot, f"ClassDef {text(n.name)}", place(n))
        if n.bases or n.keywords:
            self.line(depth + 1, "arguments", "Call")
            self.arguments(depth + 2, n.bases, n.keywords)
        self.type_params(depth + 1, n)
        self.show(depth + 1, "body", n.body)
        self.show(depth + 1, "decorators", n.decorator_list)

    def do_AugAssign(self, depth, slot, n):
        self.line(depth, slot, f"AugAssign {OPS[type(n.op)]}", place(n))
        self.show(depth + 1, "target", n.target)
        self.show(depth + 1, "value", n.value)

    def loop(self, depth, slot, n, is_async):
        self.line(depth, slot, "For" + (" async" if is_async else ""),
                  place(n))
        for field in "target", "iter", "body", "orelse":
            self.show(depth + 1, field, getattr(n, field))

    def do_For(self, depth, slot, n):
        self.loop(depth, slot, n, False)

    def do_AsyncFor(self, depth, slot, n):
        self.loop(depth, slot, n, True)

    def with_(self, depth, slot, n, is_async):
        self.line(depth, slot, "With" + (" async" if is_async else ""),
                  place(n))
        self.show(depth + 1, "items", n.items)
        self.show(depth + 1, "body", n.body)

    def do_With(self, depth, slot, n):
        self.with_(depth, slot, n, False)

    def do_AsyncWith(self, depth, slot, n):
        self.with_(depth, slot, n, True)

    def do_withitem(self, depth, slot, n):
        self.line(depth, slot, "withitem")
        self.show(depth + 1, "context", n.context_expr)
        self.show(depth + 1, "target", n.optional_vars)

    def try_(self, depth, slot, n, star):
        self.line(depth, slot, "Try" + (" except*" if star else ""), place(n))
        for ours, theirs in ("orelse", "orelse"), ("finally", "finalbody"):
            if getattr(n, theirs):
                self.line(depth + 1, ours, "Block")
                self.show(depth + 2, "body", getattr(n, theirs))
        self.show(depth + 1, "body", n.body)
        self.show(depth + 1, "handlers", n.handlers)

    def do_Try(self, depth, slot, n):
        self.try_(depth, slot, n, False)

    def do_TryStar(self, depth, slot, n):
        self.try_(depth, slot, n, True)

    def do_ExceptHandler(self, depth, slot, n):
        self.line(depth, slot, "ExceptHandler"
                  + (f" {text(n.name)}" if n.name else ""), place(n))
        self.show(depth + 1, "type", n.type)
        self.show(depth + 1, "body", n.body)

    def do_Import(self, depth, slot, n):
        self.line(depth, slot, "Import", place(n))
        self.show(depth + 1, "names", n.names)

    def do_ImportFrom(self, depth, slot, n):
        module = f" {text(n.module)}" if n.module else ""
        self.line(depth, slot, f"ImportFrom{module} level={n.level}", place(n))
        self.show(depth + 1, "names", n.names)

    def do_alias(self, depth, slot, n):
        as_ = f' as "{n.asname}"' if n.asname else ""
        self.line(depth, slot, f"alias {text(n.name)}{as_}", place(n))

    def declaration(self, depth, slot, n):
        self.line(depth, slot, type(n).__name__, place(n))
        for name in n.names:
            self.line(depth + 1, "names", f"Name {text(name)}")

    do_Global = do_Nonlocal = declaration

    def do_Name(self, depth, slot, n):
        self.line(depth, slot, f"Name {text(n.id)}", place(n))

    def do_Constant(self, depth, slot, n):
        v = n.value
        if isinstance(v, str):
            words = f"String {text(v)}"
        elif isinstance(v, bytes):
            words = f"Bytes {quoted(v)}"
        elif isinstance(v, (int, float, complex)) and not isinstance(v, bool):
            words = f"Number {number(v)}"
        else:
            words = f"Constant {'Ellipsis' if v is ... else v}"
        self.line(depth, slot, words, place(n))

    def parts(self, depth, values):
        """CPython 3.12 leaves an empty text behind a field in a spec."""
        for part in values:
            if not isinstance(part, ast.Constant):
                self.node(depth, "parts", part)
            elif part.value:
                self.line(depth, "parts", f"String {text(part.value)}")

    def do_JoinedStr(self, depth, slot, n):
        self.line(depth, slot, "JoinedStr", place(n))
        self.parts(depth + 1, n.values)

    def do_FormattedValue(self, depth, slot, n):
        mark = f" !{chr(n.conversion)}" if n.conversion >= 0 else ""
        self.line(depth, slot, f"FormattedValue{mark}")
        self.show(depth + 1, "value", n.value)
        if n.format_spec:
            self.line(depth + 1, "spec", "JoinedStr")
            self.parts(depth + 2, n.format_spec.values)

    def do_Dict(self, depth, slot, n):
        self.line(depth, slot, "Dict", place(n))
        self.show(depth + 1, "keys", n.keys)
        self.show(depth + 1, "values", n.values)

    def do_UnaryOp(self, depth, slot, n):
        self.line(depth, slot, f"UnaryOp {OPS[type(n.op)]}", place(n))
        self.show(depth + 1, "operand", n.operand)

    def do_BinOp(self, depth, slot, n):
        self.line(depth, slot, f"BinOp {OPS[type(n.op)]}", place(n))
        self.show(depth + 1, "left", n.left)
        self.show(depth + 1, "right", n.right)

    def do_BoolOp(self, depth, slot, n):
        self.line(depth, slot, f"BoolOp {OPS[type(n.op)]}", place(n))
        self.show(depth + 1, "values", n.values)

    def do_Compare(self, depth, slot, n):
        ops = "".join(" " + OPS[type(op)] for op in n.ops)
        self.line(depth, slot, "Compare" + ops, place(n))
        self.show(depth + 1, "left", n.left)
        self.show(depth + 1, "comparators", n.comparators)

    def do_Lambda(self, depth, slot, n):
        self.line(depth, slot, "Lambda", place(n))
        self.show(depth + 1, "body", n.body)
        self.node(depth + 1, "params", n.args)

    def arguments(self, depth, args, keywords):
        """In the order of the text, which CPython's tree does not keep."""
        both = sorted(args + keywords,
                      key=lambda a: (a.lineno, a.col_offset))
        for a in both:
            if not isinstance(a, ast.keyword):
                self.node(depth, "arguments", a)
            elif a.arg is None:
                self.line(depth, "arguments", "DoubleStarred", place(a))
                self.node(depth + 1, "value", a.value)
            else:
                self.line(depth, "arguments", f"keyword {text(a.arg)}",
                          place(a))
                self.node(depth + 1, "value", a.value)

    def do_Call(self, depth, slot, n):
        self.line(depth, slot, "Call", place(n))
        self.show(depth + 1, "function", n.func)
        self.arguments(depth + 1, n.args, n.keywords)

    def do_Attribute(self, depth, slot, n):
        self.line(depth, slot, f"Attribute {text(n.attr)}", place(n))
        self.show(depth + 1, "value", n.value)

    def do_comprehension(self, depth, slot, n):
        self.line(depth, slot, "comprehension"
                  + (" async" if n.is_async else ""))
        self.show(depth + 1, "target", n.target)
        self.show(depth + 1, "iter", n.iter)
        self.show(depth + 1, "ifs", n.ifs)

    def do_arguments(self, depth, slot, n):
        self.line(depth, slot, "arguments")
        plain = n.posonlyargs + n.args
        defaults = [None] * (len(plain) - len(n.defaults)) + n.defaults
        for i, (a, d) in enumerate(zip(plain, defaults)):
            kind = "positional-only" if i < len(n.posonlyargs) else "plain"
            self.param(depth + 1, a, kind, d)
        if n.vararg:
            self.param(depth + 1, n.vararg, "star", None)
        for a, d in zip(n.kwonlyargs, n.kw_defaults):
            self.param(depth + 1, a, "keyword-only", d)
        if n.kwarg:
            self.param(depth + 1, n.kwarg, "double-star", None)

    def param(self, depth, a, kind, default):
        self.line(depth, "params", f"arg {text(a.arg)} {kind}", place(a))
        self.show(depth + 1, "annotation", a.annotation)
        self.show(depth + 1, "default", default)


def tree(source, name="<text>"):
    """The lines of a program; raises SyntaxError like ast.parse."""
    p = Printer()
    p.node(0, "", ast.parse(source, name))
    return p.lines
