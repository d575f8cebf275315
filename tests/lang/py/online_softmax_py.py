import math
def softmax(x):
    m = max(x)
    e = [math.exp(v - m) for v in x]
    s = sum(e)
    return [v / s for v in e]
def online(x, block):
    m, l, acc = -math.inf, 0.0, []
    for b in range(0, len(x), block):
        tile = x[b:b + block]
        mn = max(m, max(tile))
        scale = math.exp(m - mn)
        p = [math.exp(v - mn) for v in tile]
        l = l * scale + sum(p)
        acc = [a * scale for a in acc] + p
        m = mn
    return [a / l for a in acc]
x = [((i * 7919) % 13) / 3.0 - 2 for i in range(10)]
a, b = softmax(x), online(x, 4)
print([f"{v:.6f}" for v in a])
print(max(abs(p - q) for p, q in zip(a, b)) < 1e-15, f"{sum(a):.12f}", all(math.isclose(p, q) for p, q in zip(a, b)))
def attention(Q, K, V, causal):
    out = []
    for i, q in enumerate(Q):
        keys = K[: i + 1] if causal else K
        w = softmax([sum(a * b for a, b in zip(q, k)) / len(q) ** 0.5 for k in keys])
        out.append([sum(wi * v[d] for wi, v in zip(w, V)) for d in range(len(V[0]))])
    return out
n, d = 5, 3
gen = lambda s: [[math.sin(s + i * d + j) for j in range(d)] for i in range(n)]
for causal in (False, True):
    for row in attention(gen(0), gen(1), gen(2), causal):
        print(" ".join(f"{v:+.5f}" for v in row))
