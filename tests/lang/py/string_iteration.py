s = "héllo wörld"
print(len(s), [c for c in s if ord(c) > 127], s.upper() if False else s.replace("é", "e"), s[1], s[-4], s[1:8], s[::-1], list(enumerate(s))[1], {c: s.count(c) for c in "lo"}, s.index("w"), s.find("ö"), s.split("ö"), "ö" in s)
print("".join(chr(ord(c) + 1) for c in "HAL"), [ord(c) for c in "az"], list(zip("abc", "abd")), [a == b for a, b in zip("abc", "abd")], "abc" < "abd", max("zebra"), sorted("hello")[0])
for i, ch in enumerate("ab", 1): print(i, ch, end=" ")
print(*"spread", sep="-")
a, b, *c = "unpack"
print(a, b, c, [*"ab"], "".join(["x"] * 3), "a" in ("a", "b"), "ab" in "cabd", "" in "x")
vowels = sum(ch in "aeiou" for ch in "programming language")
print(vowels, "".join(ch for ch in "a1b2c3" if ch.isdigit()), "".join(reversed("abc")), " ".join("abc"), ",".join(str(i) for i in range(3)), "|".join(sorted(set("banana"))))
def is_pal(t):
    t = [c.lower() for c in t if c.isalnum()]
    return t == t[::-1]
print(is_pal("A man, a plan, a canal: Panama"), is_pal("nope"))
def rle(t):
    out = []
    for ch in t:
        if out and out[-1][0] == ch: out[-1][1] += 1
        else: out.append([ch, 1])
    return "".join(f"{c}{n if n > 1 else ''}" for c, n in out)
print(rle("aaabccd"), rle(""), "日本語"[::-1], len("日本語"), "日本語".center(7, "*"), f"{'日本':>4}|", "日本" * 2, "é".isalpha(), "é" == "\u00e9", "naïve".split("ï"))
words = "It was the best of times it was the worst of times".lower().split()
print(max(set(words), key=lambda w: (words.count(w), w)), [w.title() for w in words[:3]], " ".join(w[0].upper() + w[1:] for w in words[-2:]), len(set(words)))
print("line1\nline2\r\nline3".splitlines(), "a b\tc\nd".split(), "k1=v1&k2=v2".split("&"), dict(p.split("=") for p in "k1=v1&k2=v2".split("&")), "%s" % "x" * 3, "{}-{}".format(*"ab"))
t = "x"
t += "y"
t *= 2
print(t, t.replace("x", ""), t.strip("xy") + "|", t.find("yx"), t.rfind("y"), t[0] + t[-1], t.startswith("xy"), t.zfill(6), t > "xyx")
