log = []
def noisy(n):
    for i in range(n):
        log.append(i)
        yield i
e = (log.append(("g", i)) or i * 10 for i in range(5))
print(next(e), log, next(e), log)
log.clear()
m = map(lambda v: log.append(v) or v, [1, 2, 3])
print(log, next(m), log, list(m), log)
log.clear()
print(any(log.append(v) or v > 1 for v in range(10)), log)
log.clear()
print(all(log.append(v) or v < 2 for v in range(10)), log)
log.clear()
z = zip((log.append(("a", i)) or i for i in range(3)), (log.append(("b", i)) or i for i in range(2)))
print(list(z), log)
it = iter(range(10))
print([next(it) for _ in range(3)], sum(it), list(it))
it = iter([1, 2, 3, 4, 5, 6])
print(list(zip(it, it)), list(zip(*[iter("abcdef")] * 3)))
d = {"a": 1, "b": 2}
ki = iter(d)
print(next(ki), next(ki), next(ki, None))
en = enumerate(iter("ab"))
print(next(en), list(en))
gen = (x for x in [3, 1, 2])
print(sorted(gen), sorted(gen), list(reversed(sorted([1, 3, 2]))))
f = filter(lambda v: v % 2, iter(range(6)))
print(next(f), list(f))
def take(n, it): return [v for _, v in zip(range(n), it)]
import itertools
c = itertools.count(10, 5)
print(take(3, c), next(c), take(2, itertools.cycle("xy")), take(2, itertools.repeat(0)))
a, b = iter([1, 2, 3]), iter([4, 5, 6])
print([p for p in zip(a, b) if sum(p) > 5], next(a, "end"))
print(max((v for v in [1, 5, 2]), key=lambda v: -v), min(iter([4, 2])), sum(v * v for v in range(4)), list(iter(())))
nested = ((i, j) for i in range(3) for j in range(i) if (i + j) % 2)
print(list(nested), dict((k, v) for k, v in zip("ab", [1, 2])), {k for k in "aab"} == {"a", "b"}, [*map(str, range(3))])
try:
    next(x for x in [] if x)
except StopIteration as s:
    print("StopIteration", s.args)
print(list(map(lambda *a: a, [1, 2], "ab", (True, False))), list(itertools.islice((i * i for i in itertools.count()), 5)))
