big = 9223372036854775807
for f in (lambda: big + 1, lambda: -big - 2, lambda: big * 2, lambda: 2 ** 63, lambda: 1 << 63, lambda: -(-big - 1), lambda: abs(-big - 1), lambda: (-big - 1) // -1):
    try:
        v = f()
        assert v > big or v < -big - 1
        print("beyond 64 bits")
    except OverflowError:
        print("beyond 64 bits")
print(big, -big - 1, big // 2, big % 10, big - 1 + 1, (-big - 1) % -1, big & 255, big >> 62, ~big, big ^ big, -big // 3)
print(2 ** 62, 2 ** 62 - 1 + 2 ** 62, 3 ** 39, -9223372036854775808, 7 ** 22, 10 ** 18 * 9)
print(big == big + 0.0, big < 1e19, -1e19 < -big, float(big), int(float(2 ** 52)), big / big)
print(sum([big, -big]), max(big, 1), min(-big, 1), pow(2, 62), pow(3, 100, 7), divmod(big, 1000), hash(5), hash(True))
