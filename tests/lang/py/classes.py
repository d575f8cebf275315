class A:
    "doc of A"
    count = 0
    def __init__(self, x, y=2):
        self.x, self.y = x, y
        A.count += 1
    def total(self): return self.x + self.y
    def __repr__(self): return f"A({self.x}, {self.y})"
    def __eq__(self, o): return isinstance(o, A) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __len__(self): return self.x
    def __getitem__(self, i): return i * self.x
    def __setitem__(self, i, v): self.y = (i, v)
    def __delitem__(self, i): print("del", i)
    def __contains__(self, v): return v == self.x
    def __call__(self, *a, **k): return ("called", a, k)
    def __bool__(self): return self.x > 0
    def __add__(self, o): return A(self.x + (o.x if isinstance(o, A) else o))
    def __radd__(self, o): return A(o + self.x)
    def __iadd__(self, o): self.x += o; return self
    def __neg__(self): return A(-self.x)
    def __lt__(self, o): return self.x < o.x
    def __str__(self): return f"<{self.x}>"
    @property
    def double(self): return self.x * 2
    @double.setter
    def double(self, v): self.x = v // 2
    @staticmethod
    def make(): return A(0)
    @classmethod
    def of(cls, *a): return cls(*a)
a = A(3)
print(a, repr(a), a.total(), A.total(a), len(a), a[5], 3 in a, a(1, k=2), bool(a), bool(A(0)), A.count)
a["k"] = 7
print(a.y)
del a[9]
print(a + 1, a + A(2), 5 + a, -a, sum([A(1), A(2)], A(0)), a == A(3), a != A(3), a == 3, hash(a) == hash(3))
a += 10
print(a, a.double)
a.double = 8
print(a.x, A.make().x, A.of(1, 5).y, a.make().y)
print(sorted([A(3), A(1)]), min(A(2), A(1)), {A(1): "v"}[A(1)], A(1) in [A(2), A(1)])
print(a.__class__.__name__, type(a) is A, isinstance(a, A), isinstance(a, object), type(a).__name__, A.__name__, type(3).__name__)
a.z = 1
print(a.z, hasattr(a, "z"), hasattr(a, "w"), getattr(a, "w", "none"), vars(A(1, 2)), a.__dict__)
setattr(a, "w", 5)
print(a.w)
del a.w
print(hasattr(a, "w"))
m = a.total
a.y = 100
print(m(), m.__self__ is a, m.__name__)
class Empty: pass
e = Empty()
e.v = [1]
e.v.append(2)
print(e.v, Empty().__class__ is Empty, Empty.__name__)
print(f"{A(7)} {A(7)!r} {A(7)!s:>5}|", [A(1)], {"k": A(2)}, str([A(1), A(2)]))
class D:
    x = 1
    y = x + 1
    def f(self): return self.y
    g = f
    z = [x, y]
print(D.y, D().g(), D.z)
