def outer(a):
    b = a + 1
    def middle(c):
        d = b + c
        def inner(e):
            return a, b, c, d, e
        return inner
    return middle
print(outer(1)(2)(3))
def make(n):
    def f(k):
        return f(k - 1) + n if k else 0
    return f
print(make(3)(4))
def gen_ops():
    ops = {}
    def op(name):
        def reg(fn):
            ops[name] = fn
            return fn
        return reg
    @op("add")
    def _(a, b): return a + b
    @op("mul")
    def _(a, b): return a * b
    return ops
ops = gen_ops()
print(ops["add"](2, 3), ops["mul"](2, 3), sorted(ops))
def args_through(*args, **kwargs):
    def inner(*a, **k):
        return args + a, {**kwargs, **k}
    return inner
print(args_through(1, x=1)(2, y=2))
def default_capture():
    fs = []
    for i in range(3):
        def f(x, i=i, *, scale=i * 10): return x + i + scale
        fs.append(f)
    return [f(1) for f in fs]
print(default_capture())
def conditional(flag):
    if flag:
        def f(): return "true version"
    else:
        def f(): return "false version"
    return f()
print(conditional(True), conditional(False))
def rec_list(n):
    return [n, rec_list(n - 1)] if n else []
print(rec_list(4))
def varnames(self, cls, l, x_1, _y): return self, cls, l, x_1, _y
print(varnames(1, 2, 3, 4, 5))
def returns_multiple(): return 1, (2, 3), [4], {"k": 5}
a, (b, c), [d], e = returns_multiple()
print(a, b, c, d, e["k"])
def early(n):
    for i in range(n):
        for j in range(n):
            if i * j == 6: return i, j
    return None
print(early(4), early(2))
print((lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4), (lambda a, b=2: a * b)(3), [f(2) for f in (lambda x: x, lambda x: x * x)])
def star_only(*, a, b=2): return a, b
print(star_only(a=1), star_only(b=1, a=0))
def mutate(lst, d):
    lst.append(1)
    d["k"] = 1
    lst = [99]
    return lst
l, d = [], {}
print(mutate(l, d), l, d)
