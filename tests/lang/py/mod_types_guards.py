import types
n = types.SimpleNamespace(a=1, b=[2])
n.c = n.a + 1
print(n, n.c, n == types.SimpleNamespace(a=1, b=[2], c=2), vars(n), hasattr(n, "z"))
print(isinstance(lambda: 0, types.FunctionType), isinstance(len, types.BuiltinFunctionType), isinstance(types, types.ModuleType), isinstance(None, types.NoneType), isinstance(n.__init__, types.FunctionType))
try:
    import no_such_module_anywhere
    HAVE = True
except ImportError as e:
    HAVE = False
    print(type(e).__name__, e)
try:
    from no_such_pkg.inner import thing
except (ImportError, AttributeError):
    thing = None
try:
    import no_such_module_anywhere
except Exception:
    print("again")
try:
    from no_such import *
except ImportError:
    print("star")
def optional(name):
    try:
        if name == "x": import really_not_here as m
        else: import math as m
        return m.__name__
    except ModuleNotFoundError:
        return None
    finally:
        print("looked", name)
print(HAVE, thing, optional("x"), optional("math"))
