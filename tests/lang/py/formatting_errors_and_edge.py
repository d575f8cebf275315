for spec, v in [("d", 5), (">8", "x"), ("08.3f", 2.5), ("+,", 1234), ("x", 255), ("e", 0), (".3", "abcdef"), ("^7", 1.5), ("_", 10 ** 6), ("%", 0.25), ("c", 97), ("g", 1e-5), ("<5", True), ("b", False), ("#o", 8), (" ", 3), ("=+7", 4), ("*>6", -3), ("010", -42), (".0f", 0.5), (".0f", 1.5), (",.1f", 9999.95), ("n", 5), ("s", "t"), ("", None), ("", [1]), ("5", "ab"), (">5", "ab"), ("z.1f", -0.01)]:
    try: print(repr(spec), repr(v), "->", repr(format(v, spec)))
    except Exception as e: print(repr(spec), repr(v), "!", type(e).__name__, e)
for spec, v in [("q", 1), ("d", 1.5), ("s", 1), ("d", "x"), (".2d", 3), (",s", "x"), ("x", 1.5), ("f", "x"), ("5", [1]), ("d", None), ("+", "x"), ("=5", "x"), (".", 1.0), ("1.2.3", 1.0), ("<<", 1), (",x", 255), ("c", -1), ("#s", "x") if False else ("q", 1.0)]:
    try: print(repr(spec), repr(v), "->", repr(format(v, spec)))
    except Exception as e: print(repr(spec), repr(v), "!", type(e).__name__)
print("{} {} {}".format(1, 2, 3), "{2}{0}{1}".format(*"abc"), "{a[0]}{b.real}".format(a=[1], b=2), "{!r}".format("x"), "{0!s:>4}".format(1), "{:>{}}".format("a", 3), "{:{f}{a}{w}}".format("m", f="*", a="^", w=5))
for bad in ("{", "}", "{0", "{a}", "{0}{}", "{!x}", "{:d}", "{0.nope}", "{0[9]}"):
    try: print(bad.format("s"))
    except Exception as e: print(bad, type(e).__name__)
print("%5d|%-5d|%05d|%+d|% d|%x|%#x|%o|%e|%.2e|%g|%G|%f|%.0f|%s|%r|%c|%%|%5s|%-5s|%.2s|%5.1f|%-8.3f|" % (1, 2, 3, 4, 5, 255, 255, 8, 12345.678, 0.00012, 1e-7, 1e20, 1.5, 2.5, "s", "r", "c", "ab", "cd", "efg", 3.14159, 2.71828))
for f, v in [("%d", "x"), ("%z", 1), ("%s %s", (1,)), ("%s", (1, 2)), ("%(a)s", 5), ("%(a)s", {"b": 1}), ("%", 1), ("%d", None), ("%c", "ab") if False else ("%x", 1.5), ("%(a)d %(a)s", {"a": 7})]:
    try: print(f % v)
    except Exception as e: print(f, type(e).__name__, e)
print(f"{1:{'>' if True else '<'}{5}}|{'x' * 3!r:^9}|{1.0!r:>6}|{'a' 'b':>{2 + 2}}|", f"{{{1}}}", f"{'{}'}", f"{1}{2}{3}", f"{'a'!s}{'b'!r}{'c'!a}")
