# numpy_script.py - runs unchanged under NumPy and under tilesim, and prints the
# same (tests/numpy.test).
import numpy as np

KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16,
         np.float32, np.float64]


def show(name, a):
    if isinstance(a, np.ndarray):
        print(name, str(a.dtype).replace("torch.", ""), tuple(a.shape),
              a.tolist())
    elif str(a) in ("True", "False"):
        print(name, a)
    else:
        print(name, float(a))


def refuses(name, f):
    try:
        f()
        print(name, "passed")
    except Exception as e:
        print(name, isinstance(e, (TypeError, ValueError, AssertionError)))


def pairs():
    for s in KINDS:
        for t in KINDS:
            a, b = np.array([1, 2, 3], dtype=s), np.array([3, 1, 2], dtype=t)
            show("add", a + b)
            show("mul", a * b)
            show("less", a < b)
            show("div", (a / b).astype(np.float16))
            if np.int8 in (s, t):
                show("floordiv", a // b)


def numbers():
    for t in KINDS:
        a = np.array([[5, 2], [7, 4]], dtype=t)
        show("a + 1", a + 1)
        show("1 - a", np.array(9, dtype=t) - a)
        show("a * 0.5", a * 0.5)
        show("a / 2", a / 2)
        show("a % 3", a % 3)
        show("a ** 2", a ** 2)
        show("-", 20 - a)
        show("sum", a.sum())
        show("sum 0", a.sum(axis=0).astype(np.int64))
        show("mean", a.mean())
        show("max", a.max(axis=1))
        show("min", a.min())
        show("prod", a.prod())
        show("cumsum", a.cumsum().astype(np.float64))
        show("T", a.T)
        show("flat", a.T.flatten())
        show("like", np.zeros_like(a))
        show("sqrt", np.sqrt(a * a))
        show("==", a == 5)
        a[0] = 6
        a[:, 1] += 1
        show("written", a)
        show("where", np.where(a > 5, a, 0 * a))


def bits():
    w = np.zeros((2, 4), dtype=np.int8)
    x = np.array([[1, 2], [3, 1]], dtype=np.int8)
    for j in range(4):
        w[:, j] |= x[:, j % 2] << (2 * (j % 3))
    show("packed", w)
    show("as words", w.view(np.int32))
    show("and", w.view(np.int32) >> 8 & 255)
    show("back", (w.view(np.int32) ^ 1).view(np.int8))
    show("not", ~w)


def functions():
    show("median", np.median([1, 5, 2, 4]))
    show("mean", np.mean([1, 2, 4]))
    show("arange", np.arange(5))
    show("arange", np.arange(0, 1, 0.25))
    show("cat", np.concatenate([np.arange(2), np.arange(3)]))
    show("stack", np.stack([np.arange(2), np.arange(2)], axis=1))
    show("full", np.full((2, 2), 1.5))
    show("ones", np.ones(3, dtype=np.int16))
    show("list", np.array([[1, 2.5], [3, 4]]))
    show("bools", np.array([True, False]))
    show("cast", np.array([1.7, -2.7]).astype(np.int32))
    for i in np.unravel_index(17, (3, 4, 5)):
        show("place", i)
    show("argmax", np.array([3, 9, 1]).argmax())
    show("argsort", np.array([3, 9, 1]).argsort())
    show("equal", np.array_equal(np.arange(3), [0, 1, 2]))
    show("close", np.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]))
    show("any", np.array([0, 1]).any())
    for i, x in enumerate(np.arange(3) * 2):
        show("item", i * 10 + x)
    show("slice", np.arange(10)[np.array([3, 4])][0] + np.arange(10)[2:8:3])
    a = np.arange(4)
    b, c = a.reshape(2, 2), a.copy()
    a[0] = 8
    show("shared", b)
    show("copied", c)


def faults():
    a = np.arange(3)
    refuses("float into int", lambda: a.__iadd__(0.5))
    refuses("unequal", lambda: np.testing.assert_array_equal(a, [0, 1, 3]))
    refuses("far", lambda: np.testing.assert_allclose([1.0], [1.1]))
    refuses("text", lambda: a + "x")
    np.testing.assert_allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    np.testing.assert_array_equal(a, a)


if __name__ == "__main__":
    pairs()
    numbers()
    bits()
    functions()
    faults()
