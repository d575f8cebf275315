counter = {"n": 0}
history = []
def tick(k="n", by=1):
    counter[k] = counter.get(k, 0) + by
    history.append((k, counter[k]))
    return counter[k]
for i in range(3): tick()
tick("m", by=5)
print(counter, history, tick.__defaults__ if False else "-")
class Config:
    defaults = {"a": 1}
    _inst = None
    def __new__(cls):
        if cls._inst is None:
            cls._inst = super().__new__(cls)
            cls._inst.values = dict(cls.defaults)
        return cls._inst
a, b = Config(), Config()
a.values["x"] = 9
print(a is b, b.values, Config.defaults)
x = 10
def read(): return x
def write():
    global x
    x = 20
print(read()); write(); print(read(), x)
def shadow(x): x += 1; return x
print(shadow(1), x)
G = 1
def both():
    global G, H
    G += 1
    H = G * 2
both()
print(G, H)
for G in range(3): pass
print(G)
def f():
    for i in range(2):
        def g(): return i
    return g(), i
print(f())
del history[1:]
print(history, len(counter))
import math as M
def uses(): return M.sqrt(x)
print(f"{uses():.3f}")
print([v for v in ("a", "b")], "v" in globals(), __name__, "counter" in globals())
