x = "module"
def a():
    return x
def b():
    x = "b"
    return a(), x
print(b())
class C:
    x = "class"
    def get(self): return x
    lst = [x for _ in range(1)] if False else x
print(C().get(), C.lst)
def outer():
    v = 1
    def set2():
        nonlocal v
        v = 2
    def get(): return v
    set2()
    return get()
print(outer())
def g():
    global newname
    newname = "made"
g()
print(newname)
def counter():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    def reset():
        nonlocal n
        n = 0
    return inc, reset
i, r = counter()
print(i(), i(5), r(), i())
def deep():
    a = 1
    def l1():
        b = 2
        def l2():
            nonlocal a
            a += b
            return a
        return l2
    return l1()(), a
print(deep())
del x
try:
    x
except NameError as e:
    print(e)
x = 1
def cond(flag):
    if flag:
        y = 1
    try:
        return y
    except UnboundLocalError:
        return "unbound"
print(cond(True), cond(False))
def loopvar():
    for q in range(3): pass
    return q
print(loopvar())
def delete():
    z = 1
    del z
    try:
        z
    except UnboundLocalError as e:
        return str(e)
print(delete())
def free():
    def inner(): return later
    try:
        return inner()
    except NameError as e:
        msg = str(e)
    later = 1
    return msg, inner()
print(free())
print([n for n in ("len", "nope") if n in dir() or n == "len"] if False else "ok")
len_ = len
def len(v): return -1
print(len([1, 2]), len_([1, 2]))
del len
print(len([1, 2]))
print(sorted(k for k in globals() if k in ("counter", "deep")), "outer" in globals())
def loc(p):
    q = 2
    return sorted(locals())
print(loc(1))
if True:
    inblock = 1
print(inblock)
f = [lambda: k for k in range(3)]
k = "not this"
print([h() for h in f])
