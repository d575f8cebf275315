from dataclasses import dataclass, field, asdict, astuple, replace, fields, is_dataclass, FrozenInstanceError
@dataclass
class A:
    x: int
    y: float = 2.0
    tags: list = field(default_factory=list)
    hidden: int = field(default=0, repr=False, compare=False)
    def area(self): return self.x * self.y
a = A(1)
b = A(1, 2.0)
a.tags.append("t")
print(a, b, a == b, a != b, A(1) == b, a.area(), a.hidden, A(3, y=1))
print(asdict(a), astuple(b), replace(a, x=10), [f.name for f in fields(A)], is_dataclass(a), is_dataclass(A), is_dataclass(3))
@dataclass(frozen=True)
class F:
    m: int
    n: int = 4
f = F(1)
print(f, hash(f) == hash(F(1)), {f: "v"}[F(1, 4)], f == F(1), f in {F(1)})
try:
    f.m = 2
except FrozenInstanceError as e:
    print(type(e).__name__, e)
@dataclass(order=True)
class O:
    a: int
    b: str = ""
print(O(1) < O(2), sorted([O(2, "a"), O(1, "z"), O(1, "b")]), max(O(1), O(3)), O(1) <= O(1))
@dataclass
class Base:
    p: int = 1
@dataclass
class Derived(Base):
    q: int = 2
    total: int = field(init=False, default=0)
    def __post_init__(self):
        self.total = self.p + self.q
print(Derived(), Derived(5, 6), Derived(q=9).total)
@dataclass
class K:
    a: int
    _: int = 0
    b: int = field(kw_only=True, default=3)
print(K(1, b=7))
for bad in (lambda: A(), lambda: A(1, 2, 3, 4, 5), lambda: A(1, zz=1), lambda: F(1, m=1)):
    try:
        bad()
    except TypeError as e:
        print(e)
@dataclass
class N:
    inner: A
    items: dict = field(default_factory=dict)
n = N(A(1), {"k": A(2)})
print(n, asdict(n))
try:
    @dataclass
    class Bad:
        l: list = []
except ValueError as e:
    print(e)
@dataclass(eq=False)
class NE:
    v: int
print(NE(1) == NE(1))
@dataclass
class WithRepr:
    v: int
    def __repr__(self): return "mine"
print(WithRepr(1))
