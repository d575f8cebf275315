rows = [
    {"name": "gemm", "ms": 1.2345, "flops": 2 * 4096 ** 3, "ok": True},
    {"name": "attention", "ms": 12.5, "flops": 4 * 4096 * 4096 * 128 * 8, "ok": False},
    {"name": "norm", "ms": 0.0421, "flops": 0, "ok": None},
]
cols = [("name", "<", 12), ("ms", ">", 10), ("TFLOP/s", ">", 9), ("ok", "^", 6)]
print("".join(f"{c:{a}{w}}" for c, a, w in cols).rstrip())
print("=" * sum(w for *_, w in cols))
for r in rows:
    rate = r["flops"] / r["ms"] * 1e-9 if r["flops"] else None
    line = f"{r['name']:<12}{r['ms']:>10.3f}{'-' if rate is None else format(rate, '.2f'):>9}{'?' if r['ok'] is None else 'yes' if r['ok'] else 'no':^6}"
    print(line.rstrip())
total = sum(r["ms"] for r in rows)
print(f"{'total':<12}{total:>10.3f} ({len(rows)} rows, best {min(rows, key=lambda r: r['ms'])['name']!r}, {sum(bool(r['ok']) for r in rows)}/{len(rows)} ok)")
print(*(f"{i + 1}. {r['name'].capitalize():.<15}{r['ms']:e}" for i, r in enumerate(sorted(rows, key=lambda r: -r["ms"]))), sep="\n")
print("%-10s|%8.2f|%s" % ("sum", total, ",".join(sorted({r["name"][0] for r in rows}))))
units = ["B", "KiB", "MiB", "GiB"]
def human(n):
    i = 0
    while n >= 1024 and i < len(units) - 1:
        n /= 1024
        i += 1
    return f"{n:.1f} {units[i]}" if i else f"{n} B"
print([human(v) for v in (0, 1023, 1024, 1536, 1 << 20, 5 * (1 << 30))])
bar = lambda v, w=20: "#" * round(v * w) + "." * (w - round(v * w))
for v in (0, 0.125, 0.5, 0.975, 1): print(f"[{bar(v)}] {v:7.1%}")
hist = {}
for w in "the cat and the dog and the bird".split(): hist[w] = hist.get(w, 0) + 1
for w, n in sorted(hist.items(), key=lambda kv: (-kv[1], kv[0])): print(f"{w:>5} {'*' * n}")
print("\t".join(["a", "b"]).expandtabs(8), "|".join("abc"), "-".join(str(i) for i in range(3)), sep=" ~ ")
