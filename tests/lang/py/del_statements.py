a, b, c = 1, 2, 3
del a
del (b, c)
try: a
except NameError as e: print(e)
d = {"x": 1, "y": {"z": [1, 2, 3]}}
del d["x"], d["y"]["z"][1]
print(d)
l = list(range(8))
del l[0], l[-1], l[1:3]
print(l)
del l[:]
print(l)
class O: attr = 1
o = O()
o.p = o.q = 2
del o.p
print(hasattr(o, "p"), o.q, o.attr)
try: del o.attr
except AttributeError: print("no instance attribute")
del O.attr
print(hasattr(o, "attr"))
try: del o.missing
except AttributeError as e: print("AttributeError")
try: del d["nope"]
except KeyError as e: print("KeyError", e)
try: del l[5]
except IndexError as e: print(e)
def f():
    x = 1
    del x
    x = 2
    return x
print(f())
for i in range(3):
    t = i
    del t
print("t" in globals(), i)
m = [[1, 2], [3, 4]]
del m[0][0], m[1]
print(m)
x = y = []
del x
y.append(1)
print(y)
