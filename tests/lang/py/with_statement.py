class CM:
    def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
    def __enter__(self):
        print("enter", self.name)
        return self.name.upper()
    def __exit__(self, et, ev, tb):
        print("exit", self.name, et.__name__ if et else None, ev)
        return self.swallow
with CM("a") as x:
    print("in", x)
with CM("b") as x, CM("c") as y:
    print(x, y)
with CM("s", True):
    raise ValueError("gone")
print("after")
try:
    with CM("n"):
        raise KeyError("kept")
except KeyError as e:
    print("caught", e)
def r():
    with CM("r"):
        return 5
print(r())
for i in range(3):
    with CM(str(i)):
        if i == 1: break
with (CM("p") as p, CM("q") as q):
    print(p + q)
class T:
    def __enter__(self): return (1, (2, 3))
    def __exit__(self, *a): print(len(a))
with T() as (a, (b, c)):
    print(a, b, c)
try:
    with CM("outer"):
        with CM("inner", True):
            raise RuntimeError("1")
        print("continues")
        raise RuntimeError("2")
except RuntimeError as e:
    print(e)
