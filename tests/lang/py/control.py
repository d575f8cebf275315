for i in range(10):
    if i % 2 == 0:
        continue
    if i > 7:
        break
    print(i, end=" ")
else:
    print("never")
print()
for i in []:
    pass
else:
    print("empty else")
n = 0
while n < 5:
    n += 1
    if n == 3:
        continue
    print(n, end=",")
else:
    print("done")
while True:
    n -= 1
    if n < 0:
        break
print(n)
def classify(x):
    if x < 0:
        return "neg"
    elif x == 0:
        return "zero"
    elif x < 10:
        return "small"
    else:
        return "big"
print([classify(v) for v in (-1, 0, 5, 50)])
for a in range(3):
    for b in range(3):
        if b == 2:
            break
        print((a, b), end="")
    else:
        print("no")
print()
print([x if x % 2 else -x for x in range(5)])
i = 10
for i in range(3):
    pass
print(i)
for x in range(10, 0, -3):
    print(x, end=" ")
for x in range(5, 5):
    print("no")
print(list(range(5)), list(range(2, 8, 2)), list(range(3, -3, -2)), len(range(0, 10, 3)), range(10)[3], range(10)[-1], range(10)[2:5], range(0, 10, 2)[1::2], range(3), range(1, 5, 2))
pass; x = 1; y = 2; print(x, y)
if (n := 5) > 3: print("walrus", n)
print([y := 1, y + 1, (z := y * 10)], z)
total = 0
while (total := total + 3) < 10: pass
print(total)
