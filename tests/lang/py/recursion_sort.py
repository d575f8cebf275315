def quicksort(v):
    if len(v) <= 1: return v
    p, *rest = v
    return quicksort([x for x in rest if x < p]) + [p] + quicksort([x for x in rest if x >= p])
print(quicksort([3, 6, 1, 8, 2, 9, 2]))
def merge_sort(a):
    if len(a) < 2: return a
    m = len(a) // 2
    l, r = merge_sort(a[:m]), merge_sort(a[m:])
    out = []
    while l and r:
        out.append(l.pop(0) if l[0] <= r[0] else r.pop(0))
    return out + l + r
print(merge_sort([5, 2, 9, 1, 5, 6]))
def hanoi(n, a="A", b="B", c="C"):
    return [] if n == 0 else hanoi(n - 1, a, c, b) + [(a, c)] + hanoi(n - 1, b, a, c)
print(len(hanoi(6)), hanoi(2))
def perms(s): return [s] if len(s) <= 1 else [c + p for i, c in enumerate(s) for p in perms(s[:i] + s[i + 1:])]
print(perms("abc"))
def flatten(x): return [y for e in x for y in (flatten(e) if isinstance(e, (list, tuple)) else [e])]
print(flatten([1, [2, (3, [4])], []]))
def ack(m, n): return n + 1 if m == 0 else ack(m - 1, 1) if n == 0 else ack(m - 1, ack(m, n - 1))
print(ack(2, 3))
def deep(n):
    try:
        return deep(n + 1)
    except RecursionError as e:
        return type(e).__name__
print(deep(0))
def sieve(n):
    ok = [True] * (n + 1)
    for i in range(2, int(n ** 0.5) + 1):
        if ok[i]:
            for j in range(i * i, n + 1, i): ok[j] = False
    return [i for i in range(2, n + 1) if ok[i]]
print(sieve(50), len(sieve(5000)))
data = [("x", 3), ("y", 1), ("z", 3), ("w", 2)]
print(sorted(data, key=lambda t: t[1]), sorted(data, key=lambda t: t[1], reverse=True), sorted(data, key=lambda t: (-t[1], t[0])))
print(sorted([3, 1.5, True, -2]), sorted("Hello"), sorted(["10", "9", "1"]), sorted([[2], [1, 5], [1]]), sorted([(2, "a"), (1, "b")], reverse=True))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print([collatz(n) for n in range(1, 15)], max(range(1, 300), key=collatz))
memo = {}
def lcs(a, b):
    if (a, b) in memo: return memo[a, b]
    if not a or not b: r = ""
    elif a[0] == b[0]: r = a[0] + lcs(a[1:], b[1:])
    else: r = max(lcs(a[1:], b), lcs(a, b[1:]), key=len)
    memo[a, b] = r
    return r
print(lcs("AGGTAB", "GXTXAYB"))
