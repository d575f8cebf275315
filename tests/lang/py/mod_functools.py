import functools
from functools import partial, reduce, lru_cache, cache, wraps, cached_property
def f(a, b, c=3, *d, **k): return (a, b, c, d, k)
p = partial(f, 1, c=10)
print(p(2), p(2, c=5), p(b=7), partial(p, 4)(x=1), p.func is f, p.args, p.keywords)
print(reduce(lambda a, b: a + b, [1, 2, 3]), reduce(lambda a, b: a * b, [1, 2, 3], 10), reduce(max, [3, 9, 2]))
calls = []
@lru_cache(maxsize=None)
def fib(n):
    calls.append(n)
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(30), len(calls), fib.cache_info(), fib.__name__)
fib.cache_clear()
print(fib(5), fib.cache_info().misses)
@lru_cache
def g(x, y=1):
    calls.append((x, y))
    return x + y
calls.clear()
print(g(1), g(1), g(1, y=1), g(x=1), len(calls))
@functools.lru_cache(maxsize=2)
def h(x):
    calls.append(x)
    return x
calls.clear()
h(1); h(2); h(1); h(3); h(2)
print(calls, h.cache_info())
@cache
def sq(x): return x * x
print(sq(4), sq(4), sq.cache_info())
try:
    sq([])
except TypeError as e:
    print(e)
class C:
    def __init__(self): self.n = 0
    @cached_property
    def v(self):
        self.n += 1
        return 42
c = C()
print(c.v, c.v, c.n)
print(list(map(partial(pow, 2), range(5))), sorted([3, 1], key=partial(lambda s, v: s * v, -1)))
@functools.cache
def const(): return [1]
print(const() is const())
try:
    reduce(lambda a, b: a, [])
except TypeError as e:
    print(e)
