s = {3, 1, 2, 3}
print(len(s), sorted(s), 1 in s, 9 in s, set(), set([1]), frozenset([1]), sorted(frozenset("aab")))
s.add(5)
s.add(5)
s.discard(99)
s.remove(1)
print(sorted(s))
a, b = {1, 2, 3}, {3, 4}
print(sorted(a | b), a & b, sorted(a - b), sorted(a ^ b), a <= b, {1} < a, a.issubset({1, 2, 3, 4}), a.issuperset({1}), a.isdisjoint({9}))
print(sorted(a.union([7, 8], [9])), a.intersection([1, 3]) == {1, 3}, sorted(a.difference([1])), sorted(a.symmetric_difference(b)))
a |= {10}
a -= {1}
a &= {2, 10, 3}
print(sorted(a))
a.update([1, 2], {5})
print(sorted(a), {x % 3 for x in range(10)} == {0, 1, 2}, bool(set()), set("hello") == {"h", "e", "l", "o"})
print({frozenset([1, 2]): "f"}[frozenset([2, 1])], isinstance(frozenset(), frozenset), hash(frozenset([1])) == hash(frozenset([1])))
c = a.copy()
c.clear()
print(len(c), len(a), {1, 2} == {2, 1}, {1} != {2})
print(sorted({(1, 2), (0, 5)}), {1, 1.0, True}, len({0, False, 0.0, ""}))
