a = 5
a += 1; a -= 2; a *= 3; a /= 4; print(a)
a = 17
a //= 5; print(a); a **= 3; print(a); a %= 10; print(a)
a = 6
a <<= 2; a >>= 1; a |= 1; a &= 13; a ^= 3; print(a)
s = "a"; s += "b"; s *= 2; print(s)
l = [1]; m = l; l += [2]; l *= 2; print(l, m is l)
t = (1,); u = t; t += (2,); print(t, u)
d = {"n": 1}; d["n"] += 5; d["n"] *= 2; print(d)
class O: v = 1
o = O(); o.v += 1; print(o.v, O.v)
n = [[1, 2], [3]]; n[0][1] += 10; n[1] += [4]; print(n)
def idx():
    print("idx once")
    return 0
l = [1]; l[idx()] += 1; print(l)
x = 1.5; x += 1; print(x); x //= 1; print(x)
st = {1}; st2 = st; st |= {2}; print(sorted(st2)); st -= {1}; print(st2)
a = b = 3; a += 1; print(a, b)
lst = [1, 2, 3]; lst[1:] += [9]; print(lst)
