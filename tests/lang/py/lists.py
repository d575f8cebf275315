a = [3, 1, 2]
a.append(4)
a.extend([5, 6])
a.insert(0, 0)
a.insert(-1, 99)
a.insert(100, 7)
print(a, len(a), a.pop(), a.pop(0), a.index(99), a.count(1))
a.remove(99)
a.sort()
print(a, a[::-1])
a.reverse()
print(a, a.copy() is a, a.copy() == a)
a.sort(key=lambda v: (v % 2, v), reverse=True)
print(a)
b = [1, 2, 3, 4, 5, 6]
print(b[1:4], b[:2], b[4:], b[-2:], b[::2], b[::-2], b[1:5:2], b[10:], b[3:1], b[-1:-4:-1], b[4:0:-2])
b[1:3] = [20, 30, 40]
print(b)
b[::2] = [0, 0, 0, 0]
print(b)
b[2:2] = ["in"]
print(b)
b[:] = [1, 2, 3]
print(b)
del b[0]
print(b)
b = list(range(10))
del b[::3]
print(b)
del b[1:3], b[-1]
print(b)
c = [0] * 3
c[1] += 5
c += [1, 2]
c *= 2
print(c)
d = [[0] * 2 for _ in range(2)]
d[0][1] = 7
print(d, [1] + [2], [1, 2] * 2, 2 * [0], [None] * 2)
x = y = []
x.append(1)
print(y, x is y)
e = [1, 2, 3]
e += (4, 5)
e += "ab"
print(e, sorted(["b", "A", "c"]), sorted(["b", "A", "c"], key=str.lower), sorted([3, 1, 2], reverse=True))
print(sorted([(1, "b"), (1, "a"), (0, "z")]), sorted({"b": 1, "a": 2}), sorted(range(5), key=lambda v: -v))
print([1, [2, [3, [4]]]], [], [[]], [()], [1, "a", None, True, 1.5])
print(list(map(lambda v: v * 2, [1, 2])), list(filter(None, [0, 1, "", "a"])), list(zip([1, 2], "ab")), list(enumerate("ab", 1)))
print(any([]), all([]), any([0, 1]), all([1, 0]), sum([1, 2, 3]), sum([[1], [2]], []), min([3, 1]), max(3, 1, 2), max([1, -5], key=abs))
print(list(reversed([1, 2, 3])), [1, 2, 3].index(3), [1, 2, 3, 2].index(2, 2), (1, 2, 2).count(2), (1, 2).index(2))
e.clear()
print(e, bool(e), not e)
words = ["bb", "a", "ccc", "dd"]
words.sort(key=len)
print(words)
