cfg = {"model": {"layers": [{"n": 4, "act": "relu"}, {"n": 2}], "name": "net"}, "opt": ("sgd", {"lr": 0.1})}
print(cfg["model"]["layers"][0]["act"], cfg["opt"][1]["lr"], len(cfg["model"]["layers"]), cfg.get("x", {}).get("y", "none"), [l.get("act", "id") for l in cfg["model"]["layers"]])
cfg["model"]["layers"].append({"n": 1})
cfg["opt"][1]["lr"] *= 0.5
cfg.setdefault("extra", []).extend([1, 2])
print(cfg)
def walk(v, path=()):
    if isinstance(v, dict):
        for k, x in v.items(): yield from walk(x, path + (k,))
    elif isinstance(v, (list, tuple)):
        for i, x in enumerate(v): yield from walk(x, path + (i,))
    else: yield ".".join(map(str, path)), v
print(dict(walk(cfg)))
def merge(a, b): return {**a, **{k: merge(a[k], v) if isinstance(v, dict) and isinstance(a.get(k), dict) else v for k, v in b.items()}}
print(merge({"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"y": 3, "z": 4}, "c": 5}))
table = [[r * c for c in range(4)] for r in range(3)]
print(table, [row[1:3] for row in table], list(map(list, zip(*table))), sum(map(sum, table)), [max(c) for c in zip(*table)], table[-1][-1], [x for row in table for x in row if x % 2])
alias = table[0]
alias.append("tail")
shallow, deep = table[:], [r[:] for r in table]
table[1][0] = "changed"
print(table[0], shallow[1][0], deep[1][0], len(shallow), table == shallow, table == deep)
groups = {}
for name, g in [("a", 1), ("b", 2), ("c", 1)]: groups.setdefault(g, []).append(name)
print(groups, {g: len(v) for g, v in groups.items()}, sorted(groups, key=lambda g: -len(groups[g])))
t = ([1], {"k": [2]}, (3, [4]))
t[0].append(5)
t[1]["k"] += [6]
t[2][1][0] = 7
print(t, t[1]["k"][-1], [*t[0], *t[1]["k"]], hash((1, (2, 3))) == hash((1, (2, 3))))
try:
    t[0] += [8]
except TypeError as e:
    print(e, t[0])
inverse = {}
for k, vs in {"x": [1, 2], "y": [2, 3]}.items():
    for v in vs: inverse.setdefault(v, set()).add(k)
print({k: sorted(v) for k, v in inverse.items()}, [[]] * 2 == [[], []], {(): []}[()], [({},)][0][0])
