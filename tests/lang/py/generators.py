def count(n):
    i = 0
    while i < n:
        yield i
        i += 1
print(list(count(3)), sum(count(5)), [v for v in count(2)], max(count(4)))
def chain(*its):
    for it in its:
        yield from it
print(list(chain([1], "ab", count(2))))
def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
print(list(tree(3)))
def early():
    yield 1
    return
    yield 2
print(list(early()), dict(zip("ab", count(2))), tuple(count(2)), set(count(2)), sorted(count(3), reverse=True))
g = count(3)
print(next(g), next(g), next(g), next(g, "end"))
def pairs(d):
    for k in d:
        yield k, d[k]
for k, v in pairs({"a": 1}):
    print(k, v)
a, b = count(2)
print(a, b, *count(3))
def empty():
    return
    yield
print(list(empty()), list(map(str, count(2))), list(enumerate(count(2))))
class Bag:
    def __init__(self, items): self.items = items
    def __iter__(self):
        for i in self.items:
            yield i
print(list(Bag([1, 2])), 2 in Bag([1, 2]), sorted(Bag([3, 1])), [*Bag("xy")])
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        yield a
        a, b = b, a + b
print(list(fib(10)), sum(v for v in fib(10) if v % 2 == 0))
try:
    next(iter([]))
except StopIteration:
    print("stop")
