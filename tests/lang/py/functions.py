def f(a, b=2, *args, c, d=4, **kw):
    return (a, b, args, c, d, sorted(kw.items()))
print(f(1, c=3), f(1, 5, 6, 7, c=8), f(1, c=3, z=9, y=8), f(*[1, 2, 3], **{"c": 0, "q": 1}))
def g(a, /, b, *, c=3): return (a, b, c)
print(g(1, 2), g(1, b=2), g(1, 2, c=5))
def defaults(x, acc=[]):
    acc.append(x)
    return acc
print(defaults(1), defaults(2), defaults(3, []))
def outer():
    x = 1
    def inner():
        nonlocal x
        x += 1
        return x
    return inner
h = outer()
print(h(), h(), outer()())
count = 0
def inc():
    global count
    count += 1
inc(); inc()
print(count)
fs = [lambda: i for i in range(3)]
print([k() for k in fs])
fs = [lambda i=i: i for i in range(3)]
print([k() for k in fs])
def closure_late():
    out = []
    for j in range(3):
        def show():
            return j
        out.append(show)
    return [s() for s in out]
print(closure_late())
def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)
print(fact(10), fact(20))
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
print(even(50), odd(7))
print((lambda x, y=2, *a, **k: (x, y, a, k))(1), (lambda: None)(), (lambda *, k: k)(k=4))
def none(): pass
print(none(), none.__name__, f.__name__, (lambda: 0).__name__)
def doc():
    """The doc."""
    return doc.__doc__
print(doc())
f.attr = 5
print(f.attr, hasattr(f, "nope"), callable(f), callable(3))
def swap(a, b): return b, a
print(swap(*swap(1, 2)), max(*[1, 2], 3), print is print)
def kwonly(*, a, b=1): return a + b
print(kwonly(a=1), kwonly(b=2, a=3))
def apply(fn, *a, **k): return fn(*a, **k)
print(apply(sorted, [3, 1], reverse=True), apply(dict, x=1), apply(apply, max, 1, 2))
def compose(*fns):
    def run(x):
        for fn in reversed(fns):
            x = fn(x)
        return x
    return run
print(compose(str, abs, lambda v: v - 10)(3))
x = "global"
def shadow():
    x = "local"
    def read(): return x
    return read(), [x for _ in range(2)]
print(shadow(), x)
