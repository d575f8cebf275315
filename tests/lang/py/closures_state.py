def make_stack():
    items = []
    def push(x): items.append(x); return len(items)
    def pop(): return items.pop()
    def peek(default=None): return items[-1] if items else default
    return push, pop, peek
push, pop, peek = make_stack()
print(push(1), push(2), peek(), pop(), pop(), peek("empty"))
def memoize(fn):
    cache = {}
    def run(*args):
        if args not in cache: cache[args] = fn(*args)
        return cache[args]
    run.cache = cache
    return run
@memoize
def slow(a, b): return a ** b
print(slow(2, 10), slow(2, 10), slow.cache)
def pipeline(*stages):
    def run(x):
        for name, fn in stages:
            x = fn(x)
            log.append((name, x))
        return x
    return run
log = []
print(pipeline(("inc", lambda v: v + 1), ("sq", lambda v: v * v))(3), log)
class Event:
    def __init__(self): self.handlers = []
    def on(self, fn):
        self.handlers.append(fn)
        return fn
    def fire(self, *a): return [h(*a) for h in self.handlers]
ev = Event()
@ev.on
def first(x): return x + 1
ev.on(lambda x: x * 2)
print(ev.fire(10), first(1))
def accumulate():
    total = 0
    def add(v):
        nonlocal total
        total += v
        return total
    return add
a1, a2 = accumulate(), accumulate()
print(a1(5), a1(5), a2(1))
adders = {n: (lambda n: lambda x: x + n)(n) for n in (1, 10)}
print(adders[1](5), adders[10](5))
def curry(f, *a): return lambda *b: f(*a, *b)
print(curry(max, 3)(1, 7), curry(curry, print)("curried")("x"))
ys = []
for i in range(3):
    ys.append(lambda: i)
i = 100
print([y() for y in ys])
Y = lambda f: (lambda x: x(x))(lambda x: f(lambda *a: x(x)(*a)))
print(Y(lambda self: lambda n: 1 if n < 2 else n * self(n - 1))(6))
