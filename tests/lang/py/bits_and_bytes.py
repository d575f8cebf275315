def popcount(n): return bin(n).count("1")
print([popcount(v) for v in (0, 1, 255, 0b1011)], [1 << i for i in range(5)], 0xff >> 4, 0xf0 & 0x3c, 0xf0 | 0x0f, 0xff ^ 0x0f, ~0x0f & 0xff)
def gray(n): return n ^ (n >> 1)
print([f"{gray(i):03b}" for i in range(8)], [int(b, 2) for b in ("101", "0b11")], int("7f", 16), hex(0xABC), oct(64), bin(-6), f"{-10:b}", f"{10:#x}")
def swizzle(x, bits, base, shift):
    mask = ((1 << bits) - 1) << (base + shift)
    return x ^ ((x & mask) >> shift)
print([swizzle(v, 2, 0, 2) for v in range(16)], [swizzle(v * 8, 3, 3, 3) for v in range(10)])
def bit_reverse(n, w):
    r = 0
    for _ in range(w):
        r = (r << 1) | (n & 1)
        n >>= 1
    return r
print([bit_reverse(i, 3) for i in range(8)], (5).bit_length(), (0).bit_length(), (255).bit_count(), -7 >> 1, -7 // 2, -7 & 0xf, 7 & -8, -1 << 4)
def pack(vals, bits):
    out = 0
    for i, v in enumerate(vals): out |= (v & ((1 << bits) - 1)) << (i * bits)
    return out
p = pack([1, 2, 3, 15], 4)
print(hex(p), [(p >> (4 * i)) & 0xf for i in range(4)], pack([-1, 7], 4), p.bit_length())
b = bytes([72, 105])
print(b, list(b), b.decode(), len(b), b[0], b + b"!", b == b"Hi", bytes(3), b"\x00\xff".hex(), "é".encode(), [x ^ 0xff for x in b"ab"])
def f32_bits(sign, exp, man): return (-1) ** sign * 2.0 ** (exp - 127) * (1 + man / 2 ** 23)
print(f32_bits(0, 127, 0), f32_bits(1, 128, 1 << 22), f32_bits(0, 124, 0x4ccccd) - 0.1 < 1e-8)
def crc(data):
    c = 0xffff
    for x in data:
        c ^= x << 8
        for _ in range(8): c = ((c << 1) ^ 0x1021 if c & 0x8000 else c << 1) & 0xffff
    return c
print(hex(crc(b"123456789")), sum(1 for i in range(60) if (1 << i) & 0x21), 10 & 12 | 3 ^ 1, 1 | 2 == 3, (1 | 2) == 3, not 1 & 2)
x = 0b1100
x &= 0b0110; x |= 1; x ^= 0b1000; x <<= 2; x >>= 1
print(bin(x), True & False, True | 2, True ^ True, ~True, 3 & 1 == 1)
