print([*range(3), *[9]], (*"ab",), {*[1, 2]}, {**{"a": 1}, "b": 2})
def f(*args, **kwargs): return args, kwargs
print(f(*[1], 2, *[3], x=1, **{"y": 2}), f(**{"a": 1}, **{"b": 2}), f(*(), **{}), f(*"ab"), f(*{"k": 1}), f(*range(2)))
a, (b, c), *d = 1, (2, 3), 4, 5
print(a, b, c, d)
[x, *y] = "abc"
print(x, y)
for a, *b in [(1, 2, 3), (4,)]:
    print(a, b)
(a, b), [c, d] = [1, 2], (3, 4)
print(a, b, c, d)
d = {}
d["x"], d["y"] = 1, 2
print(d)
l = [0, 1, 2]
l[0], l[2] = l[2], l[0]
print(l)
class O: pass
o = O()
o.a, o.b = "ab"
print(o.a, o.b)
*a, = range(3)
print(a)
a, b = b, a = 1, 2
print(a, b)
first, second, *_ = (v for v in range(10))
print(first, second, len(_))
def kw(**k): return list(k.items())
print(kw(z=1, a=2), dict(**{"q": 1}, w=2))
x, y = {"k1": 1, "k2": 2}
print(x, y)
head, *tail = {"a": 1}
print(head, tail)
m = [[1, 2], [3, 4]]
(p, q), (r, s) = m
print(p, q, r, s, list(zip(*m)), max(*m[0], *m[1]))
try:
    f(**{1: 2})
except TypeError as e:
    print("TypeError")
try:
    f(x=1, **{"x": 2})
except TypeError as e:
    print("dup")
