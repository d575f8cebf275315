people = [("bob", 30, 1.5), ("alice", 25, 2.5), ("carol", 30, 0.5), ("dave", 25, 2.5)]
print(sorted(people), sorted(people, key=lambda p: p[1]), sorted(people, key=lambda p: (-p[1], p[0])), sorted(people, key=lambda p: p[2], reverse=True), sep="\n")
print(sorted("bAcB"), sorted("bAcB", key=str.lower), sorted("bAcB", key=lambda c: (c.lower(), c.isupper())), sorted(["aa", "b", "ccc"], key=len, reverse=True))
print(min(people, key=lambda p: p[1]), max(people, key=lambda p: (p[1], -p[2])), sorted([True, False, 2, 0.5]), sorted([(1, "b"), (1, "a")]), sorted([[3], [1, 2], []]))
l = [5, 3, 9, 1]
print(l.sort(), l, l.sort(reverse=True), l, l.sort(key=lambda v: v % 3), l)
stable = [(k, i) for i, k in enumerate("banana")]
print(sorted(stable, key=lambda t: t[0]), sorted(stable, key=lambda t: t[0], reverse=True))
print([v for _, v in sorted(zip([3, 1, 2], "abc"))], sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[1]), sorted(range(10), key=lambda v: (v % 3, -v)))
calls = []
def key(v):
    calls.append(v)
    return -v
print(sorted([2, 1, 3], key=key), calls)
class Ver:
    def __init__(self, s): self.p = tuple(map(int, s.split(".")))
    def __lt__(self, o): return self.p < o.p
    def __repr__(self): return ".".join(map(str, self.p))
print(sorted(map(Ver, ["1.10", "1.9", "1.2.3", "0.99"])), max(map(Ver, ["2.0", "10.0"])))
for bad in ([1, "a"], [None, 1], [(1, "a"), (1, 2)], [{}, {}], [1.5, "x"]):
    try: print(sorted(bad))
    except TypeError as e: print(e)
def partition(pred, xs): return [x for x in xs if pred(x)], [x for x in xs if not pred(x)]
print(partition(lambda v: v > 2, [1, 5, 2, 8]), list(map(sorted, ["cab", "fed"])), "".join(sorted(set("mississippi"))))
big = [(i * 7919) % 1009 for i in range(1000)]
s = sorted(big)
print(s[:5], s[-3:], s == sorted(s), sorted(big, reverse=True) == s[::-1], sum(a <= b for a, b in zip(s, s[1:])))
