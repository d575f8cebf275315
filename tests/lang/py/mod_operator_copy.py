import operator, copy
from operator import itemgetter, attrgetter, mul
print(operator.add(1, 2), mul(3, 4), operator.sub(5, 2), operator.truediv(1, 2), operator.floordiv(7, 2), operator.mod(7, 3), operator.pow(2, 5), operator.neg(3), operator.not_(0), operator.lt(1, 2), operator.eq("a", "a"), operator.contains([1], 1), operator.getitem([5, 6], 1), operator.and_(6, 3), operator.xor(6, 3))
print(itemgetter(1)([5, 6]), itemgetter("a", "b")({"a": 1, "b": 2}), sorted([("b", 1), ("a", 2)], key=itemgetter(1)), max({"a": 3, "b": 9}.items(), key=itemgetter(1)))
class O:
    def __init__(self, v): self.v, self.w = v, [v]
print(attrgetter("v")(O(3)), sorted([O(2), O(1)], key=attrgetter("v"))[0].v, attrgetter("v", "w")(O(1)))
a = [1, [2, 3], {"k": [4]}]
b = copy.copy(a)
c = copy.deepcopy(a)
a[1].append(9)
a[2]["k"].append(5)
a.append("new")
print(a, b, c)
o = O([1])
p, q = copy.copy(o), copy.deepcopy(o)
o.v.append(2)
print(p.v, q.v, p.w is o.w, q.w is o.w)
s = [1]
t = copy.deepcopy([s, s])
print(t[0] is t[1], copy.copy((1, 2)), copy.deepcopy({"a": {1, 2}}) == {"a": {1, 2}})
loop = [1]
loop.append(loop)
l2 = copy.deepcopy(loop)
print(l2[1] is l2, l2 is loop)
