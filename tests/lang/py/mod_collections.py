from collections import namedtuple, defaultdict, OrderedDict, Counter
P = namedtuple("P", "x y")
p = P(1, y=2)
print(p, p.x, p[1], p == (1, 2), len(p), list(p), p._replace(x=9), p._asdict(), P._fields, isinstance(p, tuple), P.__name__)
x, y = p
print(x, y, P._make([5, 6]), P(*[7, 8]), hash(p) == hash((1, 2)), p < P(1, 3), {p: 1}[(1, 2)], p + (3,), p[0:1])
Q = namedtuple("Q", ["a", "b", "c"], defaults=[2, 3])
print(Q(1), Q(1, c=9), Q(1, 5, 6))
for bad in (lambda: P(1), lambda: P(1, 2, 3), lambda: P(1, z=1), lambda: p.nope):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__)
d = defaultdict(list)
d["a"].append(1); d["a"].append(2); d["b"].append(3)
print(d, d["zz"], len(d), dict(d), d.get("q"), isinstance(d, dict))
n = defaultdict(int)
for ch in "hello": n[ch] += 1
print(dict(n), n["none"], defaultdict(lambda: "dflt")["k"])
try:
    defaultdict()["x"]
except KeyError as e:
    print("KeyError", e)
o = OrderedDict([("b", 1), ("a", 2)])
o["c"] = 3
o.move_to_end("b")
print(list(o), o == {"a": 2, "b": 1, "c": 3})
c = Counter("abracadabra")
print(c["a"], c["z"], c.most_common(2), sum(c.values()), dict(Counter([1, 1, 2])))
c["b"] += 10
print(c.most_common(1), len(c))
from typing import NamedTuple
class T(NamedTuple):
    m: int
    n: int = 5
    def area(self): return self.m * self.n
    @property
    def both(self): return (self.m, self.n)
t = T(2)
print(t, t.area(), t.both, t._fields, T(1, n=3), t._replace(n=1).area())
