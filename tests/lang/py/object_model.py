class P:
    x = 1
    def __init__(self): self.y = 2
    def m(self): return self.y
    @classmethod
    def c(cls): return cls.x
    @staticmethod
    def s(): return 3
p = P()
print(p.m(), P.m(p), p.c(), P.c(), p.s(), P.s(), P.x, p.x)
P.x = 10
p.x = 20
print(P.x, p.x, P().x, P.c(), p.__dict__, sorted(k for k in P.__dict__ if not k.startswith("__")))
f = p.m
p.y = 99
print(f(), f.__self__ is p, f.__func__ is P.m, P.m is P.m, f == p.m, p.m == P().m)
print(type(p), type(p) == P, p.__class__ is P, isinstance(p, P), P.__name__, P.__module__, type(P) is type, type(type) is type, isinstance(P, type), issubclass(P, object), P.__mro__[-1] is object)
q = P()
print(p == q, p is p, p != q, p in [q, p], [q, p].index(p), {p: 1}[p], hash(p) == hash(p), bool(p))
setattr(P, "added", lambda self, k: self.y + k)
print(p.added(1), getattr(p, "added")(2), hasattr(q, "added"), callable(p.added), callable(p))
class Meta2:
    registry = []
    def __init_subclass__(cls, **kw): Meta2.registry.append(cls.__name__)
class X1(Meta2): pass
class X2(X1): y = 1
print(Meta2.registry, X2.__mro__[1].__name__, X2().y, [c.__name__ for c in X2.__mro__])
class Slots:
    __slots__ = ("a", "b")
    def __init__(self, a): self.a = a
s = Slots(1)
print(s.a, hasattr(s, "b"))
class Desc:
    @property
    def v(self): return self._v
    @v.setter
    def v(self, val):
        if val < 0: raise ValueError("negative")
        self._v = val
d = Desc()
d.v = 5
print(d.v)
try: d.v = -1
except ValueError as e: print(e)
try: Desc().v
except AttributeError as e: print(e)
class Attr:
    def __getattr__(self, n):
        if n.startswith("dyn_"): return n[4:]
        raise AttributeError(f"no {n}")
    def __setattr__(self, n, v): super().__setattr__(n, (n, v))
a = Attr()
a.real = 1
print(a.real, a.dyn_x, hasattr(a, "zzz"), getattr(a, "zzz", "dflt"))
class Callable2:
    def __init__(self, n): self.n = n
    def __call__(self, x, *rest, k=0): return self.n + x + sum(rest) + k
c = Callable2(10)
print(c(1), c(1, 2, 3, k=4), list(map(c, [1, 2])), callable(c), (lambda f: f(5))(c))
o = object()
print(type(o).__name__, o == o, o == object(), isinstance(o, object))
