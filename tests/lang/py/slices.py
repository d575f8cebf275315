s = list(range(10))
for a in (None, 0, 2, -3, 12, -12):
    for b in (None, 0, 5, -2, 12, -12):
        print(a, b, s[a:b], s[a:b:2], s[a:b:-1], s[a:b:-3])
t = "abcdefghij"
print(t[2:8:3], t[::-1], t[-1:-5:-2], t[5:], t[:5], t[-100:100], (1, 2, 3, 4)[::2], (1, 2, 3)[::-1])
print(range(20)[5:15:3], list(range(20)[::-4]), range(10)[-3:], len(range(10)[2:8]), range(10)[::-1][0])
l = list(range(6))
l[1:4] = []
print(l)
l[len(l):] = [7, 8]
print(l)
l[::2] = ["a", "b", "c"]
print(l)
l[::-1] = range(5)
print(l)
l[-2:] = "xy"
print(l)
l[1:1] = [100, 200]
print(l)
del l[-1], l[0:2]
print(l)
del l[::-2]
print(l)
try:
    l[::2] = [1, 2, 3, 4]
except ValueError as e:
    print(e)
class S:
    def __getitem__(self, k): return k
o = S()
print(o[1], o[1:2], o[::3], o[1, 2], o[1:2, ::3], o[...], o["k"], o[None:], o[()], o[1:2,])
