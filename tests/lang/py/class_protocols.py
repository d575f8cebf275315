class Vec:
    def __init__(self, *v): self.v = list(v)
    def __add__(self, o): return Vec(*(a + b for a, b in zip(self.v, o.v))) if isinstance(o, Vec) else NotImplemented
    def __radd__(self, o): return Vec(*(o + a for a in self.v)) if isinstance(o, (int, float)) else NotImplemented
    def __mul__(self, k): return Vec(*(a * k for a in self.v))
    def __rmul__(self, k): return self * k
    def __truediv__(self, k): return Vec(*(a / k for a in self.v))
    def __floordiv__(self, k): return Vec(*(a // k for a in self.v))
    def __mod__(self, k): return Vec(*(a % k for a in self.v))
    def __pow__(self, k): return Vec(*(a ** k for a in self.v))
    def __and__(self, o): return "and"
    def __or__(self, o): return "or"
    def __xor__(self, o): return "xor"
    def __lshift__(self, k): return Vec(*(a << k for a in self.v))
    def __rshift__(self, k): return Vec(*(a >> k for a in self.v))
    def __matmul__(self, o): return sum(a * b for a, b in zip(self.v, o.v))
    def __neg__(self): return Vec(*(-a for a in self.v))
    def __pos__(self): return self
    def __invert__(self): return Vec(*(~a for a in self.v))
    def __abs__(self): return sum(a * a for a in self.v) ** 0.5
    def __eq__(self, o): return isinstance(o, Vec) and self.v == o.v
    def __lt__(self, o): return abs(self) < abs(o)
    def __le__(self, o): return abs(self) <= abs(o)
    def __len__(self): return len(self.v)
    def __getitem__(self, i): return Vec(*self.v[i]) if isinstance(i, slice) else self.v[i]
    def __setitem__(self, i, x): self.v[i] = x
    def __delitem__(self, i): del self.v[i]
    def __iter__(self): return iter(self.v)
    def __contains__(self, x): return x in self.v
    def __bool__(self): return any(self.v)
    def __int__(self): return int(abs(self))
    def __float__(self): return float(abs(self))
    def __index__(self): return len(self.v)
    def __round__(self, n=0): return Vec(*(round(a, n) for a in self.v))
    def __repr__(self): return f"Vec{tuple(self.v)}"
    def __call__(self, f): return Vec(*map(f, self.v))
    def __reversed__(self): return iter(self.v[::-1])
    def __hash__(self): return hash(tuple(self.v))
    def __format__(self, spec): return "(" + ", ".join(format(a, spec) for a in self.v) + ")"
a, b = Vec(3, 4), Vec(1, 2)
print(a + b, 10 + a, a * 2, 2 * a, a / 2, a // 2, a % 2, a ** 2, a @ b, -a, +a is a, ~a, abs(a), a << 1, a >> 1, a & b, a | b, a ^ b)
print(a == b, a != b, a < b, a > b, a <= b, a >= b, len(a), a[0], a[-1], a[::-1], [*a], 3 in a, bool(a), bool(Vec(0, 0)), int(a), float(a), round(Vec(1.26, 2.34), 1))
print(list(range(a)) if False else "ab"[Vec(1):], [10, 20, 30][a], a(lambda x: x * x), list(reversed(a)), {a: 1}[Vec(3, 4)], f"{a:.1f} {a}", sorted([a, b]), max(a, b), sum([a, b], Vec(0, 0)))
a[0] = 9
del a[1]
print(a, hex(Vec(1, 2, 3)), divmod(7, 2), min(b, Vec(5, 5)), "%d" % 3)
for bad in (lambda: a + "x", lambda: "x" + a, lambda: a - 1, lambda: a @ 3):
    try:
        print(bad())
    except (TypeError, AttributeError) as e:
        print(type(e).__name__, e)
class Meter:
    def __init__(self, v): self.v = v
    def __add__(self, o):
        if not isinstance(o, Meter): return NotImplemented
        return Meter(self.v + o.v)
    def __eq__(self, o):
        if not isinstance(o, Meter): return NotImplemented
        return self.v == o.v
class Feet:
    def __radd__(self, o): return "feet.radd"
    def __eq__(self, o): return "feet.eq"
print(Meter(1) + Feet(), Meter(1) == Feet(), Meter(1) == 1, Meter(1) != 1, Meter(2) == Meter(2), Feet() != 3)
class Prop:
    def __init__(self): self._x = 0
    x = property(lambda s: s._x, lambda s, v: setattr(s, "_x", v * 2))
p = Prop()
p.x = 5
p.x += 1
print(p.x)
class RO:
    @property
    def y(self): return 1
try:
    RO().y = 2
except AttributeError as e:
    print("AttributeError")
