d = {}
for w in ["z", "a", "m", "b"]:
    d[w] = len(d)
print(d)
d["a"] = 99
print(d)
del d["z"]
d["z"] = 0
print(d, list(d), list(d.values()))
d2 = {**d, "a": 1, "new": 2}
print(d2, sorted(d2), min(d2), max(d2, key=d2.get), list(d2.items())[0])
inv = {v: k for k, v in d2.items()}
print(inv, dict(sorted(d2.items())), dict(reversed(list(d2.items()))))
g = {}
for k, v in [("a", 1), ("b", 2), ("a", 3)]:
    g.setdefault(k, []).append(v)
print(g, g.get("c", []), len(g), "a" in g, ["a" in g.keys(), [1, 3] in g.values(), ("b", [2]) in g.items()])
keys = d.keys()
d["late"] = 5
print(keys, len(keys), list(d.items())[-1])
for k in sorted(d, reverse=True):
    print(k, d[k], end=" ")
print()
print({1: "a", 2: "b"} == {2: "b", 1: "a"}, {"a": 1} | {"b": 2}, {} or "empty", bool({0: 0}))
nested = {}
nested.setdefault("x", {}).setdefault("y", []).append(1)
print(nested, nested["x"]["y"][0])
m = dict(zip(range(3), "abc"))
while m:
    print(m.popitem(), end=" ")
print(m)
d = dict(a=1, b=2, c=3)
print({k: d[k] for k in d if d[k] > 1}, {k.upper(): v * 10 for k, v in d.items()}, sum(d.values()), "".join(d), list(map(str.upper, d)))
del d["b"]
print(d, [*d], (*d.items(),), {**d})
print({(i, j): i * j for i in range(2) for j in range(2)}, {True: 1, 1: 2, 1.0: 3}, {None: 0, (): 1, "": 2, 0: 3})
for i in range(200): d[i] = i
for i in range(0, 200, 3): del d[i]
print(len(d), list(d)[2:6], list(d)[-1], sum(k for k in d if isinstance(k, int)))
