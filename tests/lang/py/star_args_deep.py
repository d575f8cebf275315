def show(*args, **kw): return f"{args} {sorted(kw.items())}"
def outer(*args, **kw): return show(*args, "mid", *args[::-1], **kw, extra=len(args))
print(outer(), outer(1), outer(1, 2, k=3), show(*[], **{}), show(*(1,), *[2], *{3: 4}, *range(2), *"xy"))
def opt(a, b="b", *rest, c="c", **kw): return a, b, rest, c, kw
print(opt(1), opt(1, 2), opt(1, 2, 3, 4), opt(a=1), opt(1, c=5), opt(b=2, a=1), opt(1, z=9, **{"y": 8}), opt(*[1, 2, 3], c=0))
args, kwargs = [1, 2], {"c": 3, "w": 4}
print(opt(*args, **kwargs), args, kwargs)
def collect(first, *others, sep=", "): return sep.join(map(str, (first, *others)))
print(collect(1), collect(1, 2, 3), collect("a", "b", sep="-"))
def mutable(*a, **k):
    k["added"] = True
    return a, k
orig = {"x": 1}
print(mutable(*args, **orig), orig)
wrap = lambda f: lambda *a, **k: f(*a, **k)
print(wrap(opt)(1, 2, q=3), wrap(wrap(max))(3, 9, key=lambda v: -v), wrap(print)("printed", end=";\n"))
def pos(a, b, /, c, *, d): return a, b, c, d
print(pos(1, 2, 3, d=4), pos(1, 2, c=3, d=4))
def kwname(self=None, cls=None, args=None, kwargs=None): return self, cls, args, kwargs
print(kwname(cls=1, args=2, kwargs=3), kwname(*[1, 2]))
def defaults(a, b=[], c={}, d=(), e=None, f=1.5, g="s", h=True, i=lambda: 7): return b, c, d, e, f, g, h, i()
print(defaults(0))
print((lambda *, a=1, **k: (a, k))(b=2), (lambda a, /, b: a - b)(5, b=3), (lambda *a: a)(*"abc"), (lambda **k: k)(**{"a b": 1}))
n = 0
def nxt():
    global n
    n += 1
    return n
print(show(nxt(), *[nxt(), nxt()], nxt(), k=nxt(), **{"z": nxt()}))
