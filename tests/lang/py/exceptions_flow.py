def f(n):
    out = []
    for i in range(n):
        try:
            try:
                if i % 3 == 0: continue
                if i % 3 == 1: raise ValueError(i)
                out.append(("ok", i))
            except ValueError as e:
                out.append(("ve", e.args[0]))
                if i == 4: break
            else:
                out.append(("else", i))
            finally:
                out.append(("fin", i))
        finally:
            out.append("outer")
    else:
        out.append("complete")
    return out
print(f(4), f(6), sep="\n")
def g():
    try:
        return "try"
    except Exception:
        return "except"
    else:
        return "else"
    finally:
        print("in finally")
print(g())
def h():
    while True:
        try:
            raise KeyError
        except KeyError:
            break
        finally:
            print("cleanup")
    return "left"
print(h())
def chain():
    try:
        try:
            {}["a"]
        except KeyError as e:
            raise ValueError("bad value") from e
    except ValueError as e:
        c = e.__cause__
        return type(c).__name__, c.args, e.__context__ is c
print(chain())
def suppress():
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            raise ValueError from None
    except ValueError as e:
        return e.__cause__
print(suppress())
class Retry(Exception):
    def __init__(self, n): super().__init__(f"retry {n}"); self.n = n
def attempt(k):
    if k < 3: raise Retry(k)
    return f"done {k}"
k = 0
while True:
    try:
        print(attempt(k))
        break
    except Retry as r:
        print(r, r.n)
        k += 1
def multi(x):
    try:
        return [lambda: 1 / x, lambda: [][x], lambda: {}[x], lambda: int("a")][x]()
    except (ZeroDivisionError, IndexError): return "zi"
    except LookupError: return "lookup"
    except Exception as e: return type(e).__name__
print([multi(i) for i in range(4)])
try:
    raise ExceptionGroup("g", []) if False else TimeoutError("slow")
except OSError as e:
    print("TimeoutError is an OSError", e)
try:
    try:
        raise ValueError("inner")
    finally:
        raise TypeError("from finally")
except TypeError as e:
    print(e, type(e.__context__).__name__)
def deep(n):
    if n == 0: raise RuntimeError("bottom")
    try:
        deep(n - 1)
    except RuntimeError as e:
        if n == 3: raise LookupError(f"level {n}") from e
        raise
try:
    deep(5)
except LookupError as e:
    print(e, "|", e.__cause__)
x = [e for e in (ValueError("v"), KeyError("k")) if isinstance(e, ValueError)]
print(x, x[0].args, str(KeyError("k")), repr(StopIteration(3)), StopIteration(3).value if False else 3)
err = None
try:
    [][1]
except IndexError as e:
    err = e
print(err, type(err).__mro__[1].__name__, isinstance(err, LookupError))
try:
    raise Exception("a", 1)
except Exception as e:
    print(e, e.args, len(e.args))
assert not [] and (1, 2), "never"
