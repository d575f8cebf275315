def t(v, name):
    print(name, end=" ")
    return v
print(t(0, "a") and t(1, "b"), t(1, "c") and t(0, "d") and t(2, "e"))
print(t(0, "a") or t([], "b") or t("z", "c"), t(1, "x") or t(2, "y"))
print(not t(0, "n"), not not "x", not [] and not {}, 1 and 2 or 3, 0 and 2 or 3)
print(t(1, "cond") if t(0, "test") else t(2, "else"))
print(True and False or True and not False, (1 or 0) and 0, None or "default", 0 or 0.0 or "" or [] or None)
x = None
print(x and x.attr, x or {}, x is None and "none" or "some")
print(bool(t), all([]), any([]), all(v for v in [1, 0, t(1, "never")] if v or True))
class B:
    def __init__(self, v): self.v = v
    def __bool__(self):
        print("bool", self.v, end=" ")
        return self.v
print("yes" if B(True) else "no", "yes" if B(False) else "no", not B(True), bool(B(False)))
class Len:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
print(bool(Len(0)), bool(Len(3)), "e" if not Len(0) else "f")
i = 0
while not (i >= 3 or i == 7): i += 1
print(i)
