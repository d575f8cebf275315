print(1 < 2 < 3, 1 < 3 < 2, 1 < 2 > 0, 3 > 2 > 1 > 0)
print(1 == 1 == 1, 1 != 2 != 1, (1 < 2) == True)
def f(x):
    print("f", x)
    return x
print(f(1) < f(2) < f(0) < f(9))
print("a" < "b", "abc" < "abd", "Z" < "a", "" < "a", "ab" > "a")
print([1, 2] < [1, 3], [1, 2] < [1, 2, 0], [] < [1], (1, "a") < (1, "b"), [2] > [1, 9])
print([1, 2] == [1, 2], (1, 2) == (1, 2), [1, 2] == (1, 2), {1: 2} == {1: 2}, {1, 2} == {2, 1})
print({1: 2, 3: 4} == {3: 4, 1: 2}, {1: 2} != {1: 3}, {1} <= {1, 2}, {1, 2} < {1, 2}, {3} > set())
print(1 is 1, None is None, None is not None, [] is [], True is True)
print(1 in [1, 2], 3 not in [1, 2], "b" in "abc", "bc" in "abc", "" in "abc", "d" in "abc")
print(1 in {1: 2}, 2 in {1: 2}, 2 in (1, 2), 5 in range(10), 5 in range(0, 10, 2), 5.0 in range(10), "a" in {"a"})
print(None == 0, None == None, "1" == 1, [] == None, 0 == False, "" == False)
print(range(3) == range(0, 3), range(0) == range(5, 5), range(0, 10, 3) == range(0, 12, 3))
a = [1]
a.append(a)
print(a[1] is a)
print(True < 2, False < True, 1 == True, {True: "x"}[1])
