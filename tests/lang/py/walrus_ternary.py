data = [3, 8, 1, 9, 4]
print([y for x in data if (y := x * 2) > 6], y)
if (m := max(data)) > 5 and (i := data.index(m)) < 4: print(m, i)
print((a := 1) + (b := a + 1), a, b, [c := 5, c ** 2], (lambda: (d := 3) + d)())
while (line := data.pop() if data else None) is not None: print(line, end=" ")
print(line, data)
def classify(n): return "neg" if n < 0 else "zero" if n == 0 else "even" if n % 2 == 0 else "odd"
print([classify(v) for v in (-1, 0, 2, 3)], (1 if False else 2) + 3, 1 if 0 else 2 if 0 else 3)
x = 5
print("big" if x > 3 else "small", x if x else None, not x if x else x, (x, -x)[x > 3], [x, 0][not x], {True: "t", False: "f"}[x == 5])
print(any((hit := v) > 2 for v in [1, 2, 3, 4]), hit, f"{(w := 7)}{w}", {(k := "key"): k.upper()})
total = 0
print([total := total + v for v in range(5)], total)
def f(v=(default := 10)): return v
print(f(), default, (lambda v: "yes" if v else "no")(0), [("a" if i % 2 else "b") * i for i in range(4)])
print(x and "and" or "or", 0 or "" or "last", None if x else 1, (None or {}).get("k", "d"))
