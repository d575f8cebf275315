r = range(2, 20, 3)
print(r, len(r), r[0], r[-1], r[2:4], 8 in r, 9 in r, list(r), r.start, r.stop, r.step, r.index(8) if False else 2, sum(r), max(r), min(r))
print(range(5) == range(0, 5, 1), range(0) == range(3, 1), range(1, 4) != range(1, 5), hash(range(3)) == hash(range(0, 3)), bool(range(0)), bool(range(1)))
print(list(range(10, 0, -3)), list(range(-3, 3)), list(range(0, -5, -2)), list(range(3, 3)), len(range(0, 100, 7)), len(range(5, 0)), len(range(0, -10, -3)))
print(list(reversed(range(5))), list(reversed(range(1, 10, 4))), [*range(3)], (*range(2),), {*range(2)}, dict.fromkeys(range(2)))
print(range(10)[::2], range(10)[::-1], range(10)[8:2:-2], range(10)[-3:], range(5)[1:][1:], list(range(10)[::-3]))
a, b, c = range(3)
print(a, b, c, 3.0 in range(5), 2.5 in range(5), "a" in range(3), True in range(2), -1 in range(3))
for i in range(3):
    i *= 10
    print(i, end=" ")
print(i, isinstance(r, range), type(r).__name__, str(range(1)), repr(range(1, 2, 3)))
for v in (lambda: range(1, 2, 0), lambda: range(1.5), lambda: range("3"), lambda: range(5)[5], lambda: range(5)[-6], lambda: range(None)):
    try: v()
    except Exception as e: print(type(e).__name__, e)
print([i for i in range(1, 4) for _ in range(i)], list(zip(range(3), range(10, 40, 10))), list(map(lambda i: i * i, range(4))), sorted(range(5), key=lambda v: (v % 2, -v)))
big = range(10 ** 15)
print(len(big), big[-1], 10 ** 14 in big, big[5:8], big[::10 ** 14])
