x = 1
def read(): return x
x = 2
print(read())
def make():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    fs.append(lambda i=i: i)
    i = "changed"
    return [f() for f in fs]
print(make())
def outer():
    def uses(): return helper()
    def helper(): return "first"
    a = uses()
    def helper(): return "second"
    return a, uses()
print(outer())
class A:
    def call(self): return self.impl()
    def impl(self): return "A"
a = A()
A.impl = lambda self: "patched"
print(a.call())
a.impl = lambda: "instance"
print(a.call(), A().call())
def deco(f):
    return lambda *a: ("deco", f(*a))
@deco
def fact(n): return 1 if n == 0 else n
print(fact(3))
def later(): return undefined_yet + 1
undefined_yet = 41
print(later())
d = {"f": lambda: d["v"], "v": 1}
print(d["f"]())
d["v"] = 2
print(d["f"]())
gen = (x * i for i in range(3))
x = 10
print(list(gen))
def default(v=[]):
    v.append(len(v))
    return v
print(default(), default(), default([9]))
k = 5
def snap(k=k): return k
k = 6
print(snap(), snap(7))
funcs = {name: (lambda name=name: name.upper()) for name in "ab"}
print([f() for f in funcs.values()])
def nest():
    v = 0
    def inc():
        nonlocal v
        v += 1
        return lambda: v
    f, g = inc(), inc()
    return f(), g(), v
print(nest())
len = lambda s: "shadowed"
print(len([1]))
del len
print(len([1]))
for name in ["p", "q"]:
    exec_ = lambda: name
print(exec_())
