def swizzle(i, j, n=8, v=8):
    return ((j // v) % n ^ (i % 8)) * v + j % v
print([swizzle(r, c) for r in range(4) for c in (0, 8, 16)])
def make_layout(shape, fn):
    return [[fn(i, j) for j in range(shape[1])] for i in range(shape[0])]
l = make_layout((2, 4), lambda i, j: i * 4 + (j ^ i))
for row in l:
    print(" ".join(f"{v:2d}" for v in row))
def strides(shape):
    out = [1]
    for s in reversed(shape[1:]):
        out.insert(0, out[0] * s)
    return out
print(strides([2, 3, 4]), strides((5,)))
def unravel(flat, shape):
    idx = []
    for s in reversed(shape):
        idx.append(flat % s)
        flat //= s
    return tuple(reversed(idx))
print([unravel(k, (2, 3)) for k in range(6)], unravel(-1, (4, 4)))
class Layout:
    def __init__(self, shape, fn): self.shape, self.fn = tuple(shape), fn
    def __call__(self, *idx):
        assert len(idx) == len(self.shape), f"expected {len(self.shape)} got {len(idx)}"
        return self.fn(*idx)
    def __matmul__(self, other): return Layout(other.shape, lambda *i: self(*other(*i)))
    @property
    def size(self):
        n = 1
        for s in self.shape: n *= s
        return n
t = Layout((4, 2), lambda i, j: (j, i))
u = Layout((2, 4), lambda i, j: i * 4 + j)
print((u @ t)(3, 1), u.size, t(1, 0))
try:
    u(1)
except AssertionError as e:
    print(e)
lane = lambda t: (t % 32) // 4
print([lane(t) for t in range(0, 64, 8)], [hex(1 << b) for b in (0, 4, 8)], bin(0b1010 & ~0b0010))
mask = 0
for b in (0, 3, 5):
    mask |= 1 << b
print(mask, [i for i in range(8) if mask >> i & 1], f"{mask:08b}", mask.bit_length())
def next_pow2(n): return 1 if n <= 1 else 1 << (n - 1).bit_length()
print([next_pow2(n) for n in (0, 1, 2, 3, 5, 64, 65)])
