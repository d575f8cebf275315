out = []
def emit(fmt, *args, indent=0):
    out.append("    " * indent + fmt % args if args else "    " * indent + fmt)
emit("for (int %s = 0; %s < %d; ++%s) {", "i", "i", 16, "i")
emit("x[%d] = %.3ff;", 3, 0.5, indent=1)
emit("}")
print("\n".join(out))
table = [("name", "value", "unit"), ("alpha", 1.5, "ms"), ("b", 1234.5678, "GB/s")]
widths = [max(len(str(r[c])) for r in table) for c in range(3)]
for r in table:
    print(" | ".join(f"{str(v):<{w}}" for v, w in zip(r, widths)).rstrip())
print("-" * (sum(widths) + 6))
src = """
line one
  indented # comment
last"""
for i, line in enumerate(src.strip().splitlines(), 1):
    code, _, comment = line.partition("#")
    print(f"{i:>3}: {code.rstrip()!r:<20}{comment.strip()}")
words = "the quick brown fox jumps over the lazy dog the end".split()
freq = {}
for w in words: freq[w] = freq.get(w, 0) + 1
print(", ".join(f"{w}={n}" for w, n in sorted(freq.items(), key=lambda t: (-t[1], t[0]))[:4]))
print("".join(reversed("stressed")), "".join(c.upper() if i % 2 else c for i, c in enumerate("abcdef")), " ".join(w[::-1] for w in "ab cd".split()))
def caesar(s, k): return "".join(chr((ord(c) - 97 + k) % 26 + 97) if c.islower() else c for c in s)
print(caesar("hello, world", 3), caesar(caesar("abc", 5), -5))
print("key=%s, {x}".replace("{x}", "y") % "v", "a" "b" * 2, ("x" * 3 + "y") * 2, "%s" * 3 % (1, 2, 3))
print("yes" if "b" in "abc" and not "z" in "abc" else "no", "a" < "b" < "c", "abc"[1:][0], "abc".index("c") if "c" in "abc" else -1)
print(f"{'a':-^11}", f"{'left':<10}|{'right':>10}|{'mid':^10}|", f"{3.0:>10.3f}|{-3.0:<10.2e}|{3:^+10d}|")
path = "a/b/c.tar.gz"
print(path.split("/")[-1].split(".", 1), path.rsplit(".", 1)[0], path.replace("/", "::").upper().lower().title())
print(str(b"x"), str([b"q"]), repr("a\\b"), "tab\there", 'q"q', "n\\n", "\x41\102\u0043", "a\
b")
print("%-10s|%5.2f|%+05d|%x|%o|%e|%%|%c" % ("ab", 3.14159, 42, 255, 8, 12345.678, "z"))
