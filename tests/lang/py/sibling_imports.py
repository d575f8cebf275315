import helper_mod
import helper_mod as hm
from helper_mod import value, double as dbl, Klass
from helper_mod import *
import helper_pkg.inner
from helper_pkg import inner as inn, top
from helper_pkg.inner import deep
print(helper_mod.value, hm is helper_mod, value, dbl(4), Klass(3).get(), exported("x"))
print(helper_pkg.inner.deep(), inn is helper_pkg.inner, top, deep(), helper_mod.__name__)
try:
    hidden
except NameError as e:
    print(e)
try:
    from helper_mod import nothing
except ImportError as e:
    print(type(e).__name__)
helper_mod.counter += 1
import helper_mod as again
print(again.counter, helper_mod.bump(), again.counter)
print(__name__, helper_mod.main_guard)
