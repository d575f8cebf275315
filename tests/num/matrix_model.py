"""Matrix-core arithmetic in exact fractions: a second, independent reading of
docs/numerics.md. Writes a capture file (tests/data/hardware/README.md) whose D
this model computed; `tilesim matrix` must find no mismatch in it.

Usage: matrix_model.py FILE [SEED]
"""
import random
import struct
import sys
from fractions import Fraction
from math import floor

# name: number, bytes, exponent bits, mantissa bits, bias, specials
FORMATS = {
    "f16": (0, 2, 5, 10, 15, "ieee"),
    "bf16": (1, 2, 8, 7, 127, "ieee"),
    "tf32": (2, 4, 8, 10, 127, "ieee"),
    "e4m3": (3, 1, 4, 3, 7, "fn"),
    "e5m2": (4, 1, 5, 2, 15, "ieee"),
    "f32": (5, 4, 8, 23, 127, "ieee"),
    "e4m3fnuz": (6, 1, 4, 3, 8, "fnuz"),
    "e5m2fnuz": (7, 1, 5, 2, 16, "fnuz"),
}
INF, NAN = "inf", "nan"


def two(n):
    return Fraction(2) ** n


def decode(code, fmt):
    """(kind or None, sign, magnitude as a fraction, exponent)"""
    _, size, e_bits, m_bits, bias, specials = FORMATS[fmt]
    if fmt == "tf32":
        code >>= 13
    sign = -1 if code >> (e_bits + m_bits) & 1 else 1
    field = code >> m_bits & (1 << e_bits) - 1
    fraction = code & (1 << m_bits) - 1
    top = (1 << e_bits) - 1
    if specials == "ieee" and field == top:
        return (NAN if fraction else INF), sign, None, None
    if specials == "fn" and field == top and fraction == (1 << m_bits) - 1:
        return NAN, sign, None, None
    if specials == "fnuz" and sign < 0 and field == 0 and fraction == 0:
        return NAN, sign, None, None
    exponent = max(field, 1) - bias
    significand = Fraction(fraction, 1 << m_bits) + (1 if field else 0)
    return None, sign, significand * two(exponent), exponent


def leading(x):
    """floor(log2 |x|) of a fraction that is not 0."""
    n, d = abs(x).numerator, abs(x).denominator
    e = n.bit_length() - d.bit_length()
    return e if abs(x) >= two(e) else e - 1


def to_grid(x, exponent, how):
    """x as a multiple of 2^exponent; how: trunc, floor or even."""
    q = x / two(exponent)
    if how == "trunc":
        n = -floor(-q) if q < 0 else floor(q)
    elif how == "floor":
        n = floor(q)
    else:
        n = round(q)                            # halves to even
    return n * two(exponent)


def encode(x, fmt, negative=False):
    """Bits of a value that the format holds, but for its range."""
    _, size, e_bits, m_bits, bias, _ = FORMATS[fmt]
    sign = (1 if x < 0 or (x == 0 and negative) else 0) << (e_bits + m_bits)
    if x == 0:
        return sign
    e = max(leading(x), 1 - bias)
    if e + bias >= (1 << e_bits) - 1:
        return sign | ((1 << e_bits) - 1) << m_bits
    scaled = abs(x) / two(e - m_bits)
    assert scaled.denominator == 1
    field = e + bias if scaled >= 1 << m_bits else 0
    return sign | field << m_bits | int(scaled) & (1 << m_bits) - 1


def products(a, b):
    """[(value, exponent)] of those that are not 0, or what an Inf or NaN
    among them makes of the sum."""
    found, out = set(), []
    for (ka, sa, ma, ea), (kb, sb, mb, eb) in zip(a, b):
        if NAN in (ka, kb) or (ka == INF and mb == 0) or (kb == INF and ma == 0):
            found.add(NAN)
        elif INF in (ka, kb):
            found.add(sa * sb)
        elif ma and mb:
            out.append((sa * sb * ma * mb, ea + eb))
    return out, found


def special(found, c, acc):
    kind, sign, _, _ = c
    found = set(found)
    if kind == NAN:
        found.add(NAN)
    if kind == INF:
        found.add(sign)
    _, size, e_bits, m_bits, _, _ = FORMATS[acc]
    if NAN in found or {1, -1} <= found:
        return 0x7fff if acc == "f16" else 0x7fffffff
    if found:
        return encode(two(1000) * found.pop(), acc)
    return None


def cut_sum(terms, e, bits):
    return sum((to_grid(v, e - bits, "trunc") for v, _ in terms), Fraction(0))


def fused(a, b, c, acc, bits, keep, zero):
    terms, found = products(a, b)
    bad = special(found, c, acc)
    if bad is not None:
        return bad
    value = c[1] * c[2]
    e = max([x for _, x in terms] + [c[3] if value else zero])
    total = cut_sum(terms, e, bits) + to_grid(value, e - bits, "trunc")
    if total == 0:
        return 0
    least = -14 if acc == "f16" else -126
    grid = max(leading(total), least) - (keep - 1)
    d = to_grid(total, grid, "even" if acc == "f16" else "trunc")
    return encode(d, acc) if d else 0


def late(a, b, c, pairs):
    terms, found = products(a, b)
    if not pairs:
        found |= {1 if v > 0 else -1 for v, _ in terms if abs(v) >= two(128)}
    bad = special(found, c, "f32")
    if bad is not None:
        return bad
    value = c[1] * c[2]
    ec = c[3] if value else -126
    none = -10 ** 6
    if pairs:
        groups = [products(a[g::2], b[g::2])[0] for g in (0, 1)]
        es = [max([x for _, x in g], default=none) for g in groups]
        ed = max(es)
        s = sum((to_grid(cut_sum(g, e, 24), ed - 24, "floor")
                 for g, e in zip(groups, es) if g), Fraction(0))
        if ec < max(ed, ec) - 25:
            value = Fraction(0)
    else:
        ed = max([x for _, x in terms], default=none)
        s = cut_sum(terms, ed, 24) if terms else Fraction(0)
    e = max(ed, ec)
    t = to_grid(s, e - 32, "floor") + to_grid(value, e - 24, "floor")
    if t == 0:
        return 0
    t = to_grid(t, max(leading(t), -126) - 31, "floor")
    d = to_grid(t, max(leading(t), -126) - 23, "even")
    return encode(d, "f32", negative=t < 0)


# unit, a and b, accumulator, k, step, the step's function
def hopper(bits, keep, zero):
    return lambda a, b, c, acc: fused(a, b, c, acc, bits, keep, zero)


FAMILIES = [
    ("wgmma", "f16", "f16", "f32", 16, 16, hopper(25, 24, -133)),
    ("wgmma", "f16", "f16", "f16", 16, 16, hopper(25, 11, -21)),
    ("mma", "bf16", "bf16", "f32", 8, 8, hopper(25, 24, -133)),
    ("mma", "tf32", "tf32", "f32", 8, 8, hopper(25, 24, -133)),
    ("wgmma", "e4m3", "e5m2", "f32", 32, 32, hopper(13, 14, -133)),
    ("wgmma", "e5m2", "e4m3", "f16", 32, 32, hopper(13, 11, -21)),
    ("mfma", "f16", "f16", "f32", 16, 8, lambda a, b, c, _: late(a, b, c, 0)),
    ("mfma", "f16", "f16", "f32", 4, 4, lambda a, b, c, _: late(a, b, c, 0)),
    ("mfma", "bf16", "bf16", "f32", 16, 8, lambda a, b, c, _: late(a, b, c, 0)),
    ("mfma", "tf32", "tf32", "f32", 8, 4, lambda a, b, c, _: late(a, b, c, 0)),
    ("mfma", "e4m3fnuz", "e5m2fnuz", "f32", 32, 16,
     lambda a, b, c, _: late(a, b, c, 1)),
    ("mfma", "e5m2fnuz", "e5m2fnuz", "f32", 16, 16,
     lambda a, b, c, _: late(a, b, c, 1)),
]
M, N, TILES = 4, 5, 40


def draw(r, fmt, mode, around):
    _, size, e_bits, m_bits, bias, _ = FORMATS[fmt]
    width = 1 + e_bits + m_bits
    if mode == 0:
        code = r.getrandbits(width)
    else:
        field = bias + around + r.randint(-mode, mode)
        field = min(max(field, 0), (1 << e_bits) - 2)
        code = field << m_bits | r.getrandbits(m_bits) | \
            r.getrandbits(1) << (width - 1)
        if r.random() < 0.1:
            code = 0
    return code << (8 * size - width)


def record(r, family):
    unit, fa, fb, acc, k, step, rule = family
    sizes = [FORMATS[f][1] for f in (fa, fb, acc, acc)]
    blobs = [b"", b"", b"", b""]
    for _ in range(TILES):
        mode = r.choice([0, 1, 3, 8, 20])
        meet = r.choice([0, 0, 0, -20, 12, -60, -100, -133, 60, 120])
        half = meet // 2
        a = [draw(r, fa, mode, half) for _ in range(M * k)]
        b = [draw(r, fb, mode, meet - half) for _ in range(N * k)]
        c = [draw(r, acc, mode, meet + r.choice([0, 0, -2, 10, -24, -40]))
             for _ in range(M * N)]
        da = [decode(x, fa) for x in a]
        db = [decode(x, fb) for x in b]
        d = []
        for i in range(M):
            for j in range(N):
                x = c[i * N + j]
                for s in range(0, k, step):
                    x = rule(da[i * k + s:i * k + s + step],
                             db[j * k + s:j * k + s + step],
                             decode(x, acc), acc)
                d.append(x)
        for n, values in enumerate((a, b, c, d)):
            blobs[n] += b"".join(v.to_bytes(sizes[n], "little")
                                 for v in values)
    counts = [M * k, N * k, M * N, M * N]
    name = f"{unit}.model.{acc}.{fa}.{fb}.k{k}".encode()
    header = struct.pack("<64s12i", name, M, N, k,
                         *(n * s for n, s in zip(counts, sizes)), TILES,
                         *(FORMATS[f][0] for f in (fa, fb, acc, acc)))
    return header + b"".join(blobs)


def main():
    r = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with open(sys.argv[1], "wb") as f:
        for family in FAMILIES:
            f.write(record(r, family))


if __name__ == "__main__":
    main()
