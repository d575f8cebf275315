class Q:
    def __init__(self, v=()): self.v = list(v)
    def add(self, *x): self.v.extend(x); return self
    def map(self, f): return Q(map(f, self.v))
    def filter(self, f): return Q(filter(f, self.v))
    def reduce(self, f, z):
        for x in self.v: z = f(z, x)
        return z
    def __getattr__(self, n):
        if n.startswith("get_"): return self.v[int(n[4:])]
        raise AttributeError(n)
q = Q().add(1, 2).add(3).map(lambda x: x * x).filter(lambda x: x > 1)
print(q.v, q.reduce(lambda a, b: a + b, 100), q.get_0, q.get_1, hasattr(q, "get_0"), hasattr(q, "zip"))
try:
    q.nope
except AttributeError as e:
    print("AE", e)
print("  Hello ".strip().lower().replace("l", "L").split("L"), [1, [2, [3]]][1][1][0], {"a": {"b": (1, 2)}}["a"]["b"][1], (lambda: (lambda: 5))()(), [lambda: 1][0](), "abc".upper()[1:].lower())
class Tree:
    def __init__(self, v, *kids): self.v, self.kids = v, kids
    def walk(self, depth=0):
        yield depth, self.v
        for k in self.kids: yield from k.walk(depth + 1)
    def __iter__(self): return iter(self.kids)
    def total(self): return self.v + sum(k.total() for k in self)
t = Tree(1, Tree(2, Tree(3)), Tree(4))
print(list(t.walk()), t.total(), len(t.kids), [k.v for k in t], t.kids[0].kids[0].v)
print(str(1).zfill(3).rjust(5, "*"), list(map(lambda f: f(2), [lambda x: x + 1, lambda x: x ** 2])), dict(a=dict(b=1))["a"]["b"])
obj = type(t)(9)
print(obj.v, t.__class__.__name__, type(type(t)).__name__, obj.total.__name__)
fn = {"add": lambda a, b: a + b, "neg": lambda a: -a}
print(fn["add"](1, 2), fn["neg"](5), [f.__name__ for f in fn.values()])
