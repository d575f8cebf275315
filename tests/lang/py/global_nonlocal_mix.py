x = 0
def a():
    global x
    x += 1
    def b():
        global x
        x += 10
        y = 1
        def c():
            nonlocal y
            y += 1
            return y, x
        return c() + c()
    return b()
print(a(), x)
def counter():
    i = 0
    def up():
        nonlocal i
        i += 1
        return i
    def get(): return i
    def boost():
        nonlocal i
        for i in range(5, 8): pass
        return i
    return up, get, boost
up, get, boost = counter()
print(up(), up(), get(), boost(), get(), up())
def swap():
    p, q = 1, 2
    def do():
        nonlocal p, q
        p, q = q, p
    do()
    return p, q
print(swap())
def walrus():
    v = 0
    def set_():
        nonlocal v
        return (v := v + 5)
    return set_(), set_(), v
print(walrus())
def loops():
    acc = []
    for n in range(3):
        def add(k):
            acc.append((n, k))
            return len(acc)
        add(n * 2)
    return acc
print(loops())
class K:
    x = "class x"
    def m(self): return x
    def n(self):
        global made
        made = self.x
        return made
print(K().m(), K().n(), made)
def gen():
    total = 0
    def add(v):
        nonlocal total
        total += v
        return total
    for v in (1, 2, 3): yield add(v)
print(list(gen()))
def shadow(len): return len * 2
print(shadow(4), len("abc"))
def exc():
    err = "outer"
    try:
        raise ValueError("v")
    except ValueError as e:
        err = str(e)
    return err
print(exc())
