class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1
        return self.n
print(list(Countdown(3)), sum(Countdown(4)), [x for x in Countdown(2)], max(Countdown(5)))
it = iter(Countdown(2))
print(next(it), next(it), next(it, "end"))
class Seq:
    def __init__(self, *a): self.a = a
    def __getitem__(self, i): return self.a[i]
    def __len__(self): return len(self.a)
s = Seq(1, 2, 3)
print(list(s), 2 in s, 9 in s, [*s], s[-1], s[0:2], list(reversed([*s])), tuple(s), dict(enumerate(s)))
a, b, c = s
print(a, b, c)
it = iter([1, 2, 3])
print(next(it), list(it), list(it))
z = zip([1, 2, 3], "ab")
print(list(z), list(z), list(zip()), list(zip([1], [2], [3])), list(zip([1, 2], [3, 4], strict=True)))
m = map(lambda a, b: a + b, [1, 2], [10, 20, 30])
print(next(m), list(m), list(map(int, "123")), list(map(str.upper, ["a", "b"])), list(map(len, ["a", "bb"])))
e = enumerate("ab", start=5)
print(next(e), list(e), list(filter(lambda v: v % 2, range(5))), list(filter(str.isdigit, "a1b2")))
r = reversed([1, 2, 3])
print(next(r), list(r), list(reversed("abc")), list(reversed(range(0, 10, 3))), list(reversed((1, 2))), list(reversed({"a": 1, "b": 2})))
d = {"a": 1, "b": 2}
for k in list(d):
    d[k + k] = 0
print(d)
try:
    for k in d:
        d[k + "!"] = 1
except RuntimeError as ex:
    print("RuntimeError", ex)
l = [1, 2, 3]
for v in l:
    if v < 3 and len(l) < 6:
        l.append(v * 10)
print(l)
print(list(iter("ab")), iter(it) is it, sorted(Countdown(3)), 1 in Countdown(3), list(zip(Countdown(2), Countdown(3))))
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as ex:
    print(ex)
def g():
    yield 1
    yield 2
for i, v in enumerate(g()):
    print(i, v, end=" ")
print(*map(lambda t: t[0] * t[1], zip(range(3), range(3))))
