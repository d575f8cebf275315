for s in ("12", " 12 ", "-12", "+12", "1_2", "0012", "0", "-0"):
    print(repr(s), int(s))
for s in ("", " ", "1.5", "1e5", "0x10", "1__2", "_1", "1_", "--1", "a", "1 2", "+"):
    try:
        print(repr(s), int(s))
    except ValueError as e:
        print(e)
for s, b in (("ff", 16), ("0xff", 16), ("101", 2), ("0b101", 2), ("z", 36), ("0o17", 8), ("17", 8), ("0x1F", 0), ("0b11", 0), ("10", 0), ("-0x10", 16)):
    print(s, b, int(s, b))
for s, b in (("2", 2), ("g", 16), ("0x", 16), ("09", 0), ("8", 8)):
    try:
        print(int(s, b))
    except ValueError as e:
        print(e)
for s in ("1.5", ".5", "5.", "1e3", "1E-3", "-1.5e+2", "inf", "-Infinity", "NaN", " 2 ", "1_000.5", "1e400", "1e-400"):
    print(repr(s), float(s))
for s in ("", "abc", "1.5.2", "1e", "0x10", "1__0", "e5", "1 5", "--1", "infin"):
    try:
        print(float(s))
    except ValueError as e:
        print(e)
print(int(2.0**62), int(-1e10), int(0.999), int("9223372036854775807"), int("-9223372036854775808"))
print(0x7fffffffffffffff, 0b11 + 0o7, 1e0, 1E5, 1_0.5, .5e1, 00, 0_0)
print(1.0e-5, 1.5e-7, 123e-2, 5e-1, 1e2)
