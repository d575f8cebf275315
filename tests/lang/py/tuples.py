t = (1, 2, 3)
a, b, c = t
print(a, b, c, t[0], t[-1], t[1:], t + (4,), t * 2, (), (1,), len(t), 2 in t)
(x, y), z = (1, 2), 3
print(x, y, z)
first, *rest = [1, 2, 3, 4]
*init, last = "abcd"
h, *m, e = range(5)
print(first, rest, init, last, h, m, e)
[p, q] = 1, 2
p, q = q, p
print(p, q)
for i, (k, v) in enumerate([("a", 1), ("b", 2)]):
    print(i, k, v)
print((1, 2) < (1, 3), (1, 2) == (1, 2), hash((1, 2)) == hash((1, 2)), tuple([1, 2]), tuple("ab"), tuple(range(3)))
def many():
    return 1, 2, *[3, 4]
print(many(), (*range(3), *"ab"), [*range(2), 9], {*[1, 1]}, (lambda *a: a)(*[1, 2], 3))
i = 0
arr = [0, 0, 0]
i, arr[i] = 1, 5
print(i, arr)
a = b = c = 7
print(a, b, c)
x, = [5]
print(x)
a, (b, *c), d = 1, (2, 3, 4), 5
print(a, b, c, d)
(a), b = 1, 2
print(a, b)
