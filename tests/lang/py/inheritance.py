class Base:
    kind = "base"
    def __init__(self, n):
        self.n = n
    def who(self): return f"{self.kind}:{self.n}"
    def hook(self): return "base hook"
    def run(self): return self.hook()
class Mid(Base):
    kind = "mid"
    def __init__(self, n, extra=None):
        super().__init__(n * 2)
        self.extra = extra
    def hook(self): return "mid+" + super().hook()
class Leaf(Mid):
    def hook(self):
        return "leaf+" + super().hook()
    def who(self): return super().who().upper()
x = Leaf(3, extra=[1])
print(x.who(), x.run(), x.n, x.extra, isinstance(x, Base), issubclass(Leaf, Base), issubclass(Base, Leaf), Leaf.__bases__[0].__name__)
print([c.__name__ for c in Leaf.__mro__])
class L:
    def f(self): return ["L"]
class R:
    def f(self): return ["R"]
    def g(self): return "g of R"
class Both(L, R):
    def f(self): return ["Both"] + super().f()
print(Both().f(), Both().g(), [c.__name__ for c in Both.__mro__])
class Root:
    def f(self): return ["Root"]
class P(Root):
    def f(self): return ["P"] + super().f()
class Q(Root):
    def f(self): return ["Q"] + super().f()
class PQ(P, Q):
    def f(self): return ["PQ"] + super().f()
print(PQ().f(), [c.__name__ for c in PQ.__mro__])
class Abstract:
    def area(self): raise NotImplementedError("area")
class Sq(Abstract):
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
print(Sq(3).area())
try:
    Abstract().area()
except NotImplementedError as e:
    print("NI", e)
class Meta:
    @classmethod
    def create(cls): return cls()
    @property
    def name(self): return type(self).__name__
class Sub(Meta): pass
print(Sub.create().name, Meta.create().name)
class Cnt:
    n = 0
    def inc(self): self.n += 1; return self
c = Cnt()
c.inc().inc()
print(c.n, Cnt.n)
class WithNew:
    def __new__(cls, v):
        o = super().__new__(cls)
        o.tag = "new"
        return o
    def __init__(self, v): self.v = v
w = WithNew(5)
print(w.tag, w.v)
class Init:
    subs = []
    def __init_subclass__(cls): Init.subs.append(cls.__name__)
class I1(Init): pass
class I2(Init): pass
print(Init.subs)
class GA:
    def __getattr__(self, n): return "dyn " + n
g = GA()
g.real = 1
print(g.real, g.other, hasattr(g, "zzz"))
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    def twice(self): return 2 * self.area()
class Sq2(Shape):
    def area(self): return 4
print(Sq2().twice(), isinstance(Sq2(), Shape), isinstance(Sq2(), ABC))
