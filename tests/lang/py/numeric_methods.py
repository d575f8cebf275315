import math
def newton(f, df, x, tol=1e-12, limit=50):
    for i in range(limit):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol: return x, i + 1
    raise ArithmeticError("no convergence")
print(newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0), newton(math.cos, lambda x: -math.sin(x), 1.5))
def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * (f(a) + f(b) + sum((4 if i % 2 else 2) * f(a + i * h) for i in range(1, n)))
print(f"{simpson(math.sin, 0, math.pi):.10f} {simpson(lambda x: x ** 3, 0, 2):.6f}")
def lu(a):
    n = len(a)
    a = [row[:] for row in a]
    perm = list(range(n))
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        if a[p][k] == 0: raise ZeroDivisionError("singular")
        a[k], a[p] = a[p], a[k]
        perm[k], perm[p] = perm[p], perm[k]
        for i in range(k + 1, n):
            a[i][k] /= a[k][k]
            for j in range(k + 1, n): a[i][j] -= a[i][k] * a[k][j]
    return a, perm
m, p = lu([[2, 1, 1], [4, 3, 3], [8, 7, 9]])
print([[round(v, 6) for v in r] for r in m], p)
def mean_std(xs):
    m = math.fsum(xs) / len(xs)
    return m, math.sqrt(math.fsum((x - m) ** 2 for x in xs) / (len(xs) - 1))
print("%.6f %.6f" % mean_std([1.5, 2.5, 2.5, 2.75, 3.25, 4.75]))
def to_f16(x):
    if x == 0 or not math.isfinite(x): return x
    m, e = math.frexp(x)
    e = max(e, -13)
    q = 2.0 ** (e - 11)
    return round(x / q) * q
print([to_f16(v) for v in (1.0, 0.1, 65504.0, 1 / 3, 1e-7, 2049.0, 2051.0)])
def egcd(a, b): return (a, 1, 0) if b == 0 else (lambda g, x, y: (g, y, x - a // b * y))(*egcd(b, a % b))
print(egcd(240, 46), pow(3, 200, 13), [n for n in range(2, 40) if all(n % d for d in range(2, int(n ** 0.5) + 1))])
def kahan(xs):
    s = c = 0.0
    for x in xs:
        y = x - c
        t = s + y
        c = (t - s) - y
        s = t
    return s
print(kahan([0.1] * 1000), sum([0.1] * 1000), math.fsum([0.1] * 1000))
poly = lambda c: lambda x: sum(a * x ** i for i, a in enumerate(c))
print([poly([1, -3, 2])(x) for x in (0, 0.5, 1, 2)], poly([])(3))
x, seen = 1, []
for _ in range(10):
    x = (1103515245 * x + 12345) % 2 ** 31
    seen.append(x >> 16)
print(seen)
