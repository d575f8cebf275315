def trace(fn):
    def wrapper(*args, **kwargs):
        print("enter", fn.__name__, args, kwargs)
        r = fn(*args, **kwargs)
        print("leave", r)
        return r
    return wrapper
@trace
def add(a, b=1): return a + b
add(1); add(1, b=2)
def repeat(n):
    def deco(fn):
        def wrapper(*a):
            return [fn(*a) for _ in range(n)]
        return wrapper
    return deco
@repeat(3)
@trace
def hi(x): return f"hi {x}"
print(hi("a"))
class Counter:
    def __init__(self, fn):
        self.fn, self.n = fn, 0
    def __call__(self, *a):
        self.n += 1
        return self.fn(*a)
@Counter
def sq(x): return x * x
print(sq(2), sq(3), sq.n)
registry = {}
def register(name):
    def deco(fn):
        registry[name] = fn
        return fn
    return deco
@register("one")
def one(): return 1
@register("two")
def two(): return 2
print(sorted(registry), registry["two"]())
import functools
def keep(fn):
    @functools.wraps(fn)
    def inner(*a):
        "inner doc"
        return fn(*a)
    return inner
@keep
def named():
    "named doc"
    return 1
print(named.__name__, named.__doc__, named.__wrapped__.__name__)
def classdeco(cls):
    cls.extra = 42
    return cls
@classdeco
class K: pass
print(K.extra, K().extra)
