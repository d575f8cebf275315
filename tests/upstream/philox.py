# philox.py - the first n numbers of Philox4x32-10 (Salmon et al., 2011) with a
# 64-bit seed as key: what triton.randint4x and cuRAND's generator of that name
# give, which has been the counter that counts fours.
import torch

WORD = 0xffffffff


# The high and low word of a * m, for 32-bit a in 64-bit integers.
def product(a, m):
    low = a * (m & 0xffff)
    high = a * (m >> 16) + (low >> 16)
    return (high >> 16) & WORD, ((high & 0xffff) << 16) | (low & 0xffff)


def numbers(n, seed):
    at = torch.arange((n + 3) // 4, dtype=torch.int64)
    c = [at, at * 0, at * 0, at * 0]
    key = [seed & WORD, seed >> 32]
    for _ in range(10):
        h0, l0 = product(c[0], 0xd2511f53)
        h1, l1 = product(c[2], 0xcd9e8d57)
        c = [h1 ^ c[1] ^ key[0], l1, h0 ^ c[3] ^ key[1], l0]
        key = [(key[0] + 0x9e3779b9) & WORD, (key[1] + 0xbb67ae85) & WORD]
    return torch.stack(c, -1).reshape(-1)[:n]
