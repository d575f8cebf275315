print([x * x for x in range(5)], [x for x in range(10) if x % 2 if x > 4], [(x, y) for x in range(2) for y in "ab"])
print({x: x ** 2 for x in range(3)}, {x % 2 for x in range(5)}, sum(x for x in range(5)), list(x for x in "abc"))
print([[i * j for j in range(3)] for i in range(3)], [y for x in [[1, 2], [3]] for y in x])
matrix = [[1, 2, 3], [4, 5, 6]]
print([[row[i] for row in matrix] for i in range(3)], [sum(r) for r in matrix], list(zip(*matrix)))
x = "outer"
print([x for x in range(3)], x)
def scope():
    n = 10
    return [n + i for i in range(3)], {n: i for i in range(2)}
print(scope())
g = (i * i for i in range(4))
print(next(g), next(g), list(g), list(g), next(g, "end"))
print(any(v > 2 for v in [1, 2, 3]), all(v > 0 for v in [1, 2]), max((len(w) for w in ["a", "bbb"]), default=0), min((), default="none"))
def first(pred, it):
    return next((v for v in it if pred(v)), None)
print(first(lambda v: v > 3, range(10)), first(lambda v: v > 30, range(10)))
def lazy():
    for i in range(3):
        yield i
print([v for v in lazy()], (lambda: [w for w in range(2)])())
print([a + b for a, b in zip([1, 2], [3, 4])], [i for i, _ in enumerate("xyz")], {k: v for k, v in [("a", 1)]})
print([(i, j) for i in range(3) for j in range(i)], [c for c in "hello" if c not in "aeiou"])
print([last := v for v in [1, 2, 3]], last)
print(",".join(str(v) for v in range(4)), dict((k, len(k)) for k in ["a", "bb"]), tuple(v for v in [1]), set(v for v in [1, 1]))
funcs = [(lambda v: lambda: v)(i) for i in range(3)]
print([fn() for fn in funcs])
class C:
    base = 3
    vals = [v * 2 for v in range(base)]
print(C.vals)
print([f"{a}{b}" for a in "xy" for b in (1, 2) if not (a == "y" and b == 1)])
