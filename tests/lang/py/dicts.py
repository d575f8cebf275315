d = {"a": 1, "b": 2}
d["c"] = 3
d["a"] = 10
print(d, len(d), d["a"], d.get("z"), d.get("z", 0), "a" in d, "z" in d)
print(list(d), list(d.keys()), list(d.values()), list(d.items()), d.keys(), d.values(), d.items())
print(d.pop("b"), d, d.pop("zz", None), d.setdefault("n", 5), d.setdefault("a", 6), d)
d.update({"x": 1}, y=2)
d.update([("z", 3)])
print(d, d.popitem(), d)
del d["x"]
print(d)
for k in d:
    print(k, d[k], end="; ")
print()
for k, v in d.items():
    print(k, v, end="; ")
print()
print({k: v * 2 for k, v in d.items() if k != "n"}, dict(a=1, b=2), dict([(1, 2), (3, 4)]), dict(zip("ab", [1, 2])), dict({"q": 1}, r=2))
e = {**d, "w": 0, **{"a": "over"}}
print(e, {1: "i", 1.0: "f", True: "b"}, {(1, 2): "t"}[(1, 2)], {None: 1}, {})
print(d | {"m": 1}, dict.fromkeys("ab"), dict.fromkeys([1, 2], 0))
d |= {"m": 2}
print(d, d == dict(d), d.copy() is d)
nested = {"a": {"b": [1, {"c": 2}]}}
print(nested["a"]["b"][1]["c"], nested)
nested["a"]["b"][0] += 5
print(nested)
d.clear()
print(d, bool(d))
big = {i: i * i for i in range(100)}
for i in range(0, 100, 2):
    del big[i]
print(len(big), list(big)[:5], 50 in big, 51 in big, sum(big.values()))
big[0] = "again"
print(list(big)[-1], list(reversed(list(big)))[:2])
keys = {"a": 1, "b": 2}.keys() & {"a", "z"}
print(keys, sorted({"a": 1, "b": 2}.keys() - {"a"}))
counts = {}
for ch in "hello":
    counts[ch] = counts.get(ch, 0) + 1
print(counts, max(counts, key=counts.get), sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])))
