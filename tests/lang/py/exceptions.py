def f(x):
    try:
        if x == 0: raise ValueError("zero")
        if x == 1: return "returned"
        if x == 2: return [][0]
        if x == 3: {}["k"]
        if x == 4: raise KeyError
        if x == 5: int("q")
    except ValueError as e:
        return f"VE {e}"
    except (IndexError, KeyError) as e:
        return f"LE {type(e).__name__} {e} {e.args}"
    else:
        return "else"
    finally:
        print("finally", x, end=" | ")
for i in range(7):
    print(f(i))
try:
    try:
        1 / 0
    finally:
        print("inner finally")
except ZeroDivisionError:
    print("outer")
try:
    try:
        raise ValueError("a")
    except ValueError as e:
        raise RuntimeError("b") from e
except RuntimeError as e:
    print(e, repr(e.__cause__), e.__cause__.args)
try:
    try:
        raise ValueError("first")
    except ValueError:
        raise TypeError("second")
except TypeError as e:
    print(e, repr(e.__context__))
class MyError(Exception):
    def __init__(self, code, msg="m"):
        super().__init__(msg)
        self.code = code
class Sub(MyError): pass
try:
    raise Sub(7, "hello")
except MyError as e:
    print(type(e).__name__, e.code, e, repr(e), e.args, isinstance(e, Exception))
class Plain(Exception): pass
class Str(Exception):
    def __str__(self): return "custom str"
for ex in (Plain(), Plain("x"), Plain("x", 2), Str("y"), KeyError("k"), ValueError(1), Exception(None), OSError("o")):
    print(repr(str(ex)), repr(ex), ex.args)
def reraise():
    try:
        raise KeyError("orig")
    except KeyError:
        try:
            raise
        except KeyError as e:
            print("re", e)
            raise
try:
    reraise()
except LookupError as e:
    print("caught", e)
def ret():
    try:
        return 1
    finally:
        print("fin")
print(ret())
def override():
    try:
        raise ValueError
    finally:
        return "swallowed"
print(override())
def loop():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
            print("body", i)
        finally:
            print("f", i)
    return i
print(loop())
try:
    assert 1 == 2, "message"
except AssertionError as e:
    print("assert", e)
try:
    assert False
except AssertionError as e:
    print("assert", repr(e), e.args)
assert True, "never"
try:
    raise Exception
except Exception as e:
    print(repr(e))
try:
    undefined_name
except NameError as e:
    print(e)
def unbound():
    try:
        print(v)
    except UnboundLocalError as e:
        print(e)
    v = 1
unbound()
try:
    raise SystemExit(3)
except SystemExit as e:
    print("exit", e.args)
def nested():
    try:
        try:
            raise ValueError("v")
        except TypeError:
            print("no")
        finally:
            print("f1")
    except ValueError:
        print("yes")
    else:
        print("no")
    finally:
        print("f2")
nested()
e = "kept"
try:
    raise ValueError("x")
except ValueError as e:
    pass
try:
    e
except NameError as n:
    print(n)
print(issubclass(KeyError, LookupError), issubclass(ZeroDivisionError, ArithmeticError), ValueError.__name__, Exception.__mro__[1].__name__)
try:
    [].nope
except AttributeError as a:
    print(a)
x = ValueError("stored")
try:
    raise x
except ValueError as y:
    print(x is y)
