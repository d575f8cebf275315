"""module doc"""
import math, sys
import math as m
from math import pi, sqrt as root
from math import *
print(m.floor(2.7), pi, root(16), ceil(1.2), __name__, math is m)
if __name__ == "__main__":
    print("main", sys.argv[1:], len(sys.argv))
print(sys.maxsize, sys.version_info >= (3, 8), sys.version_info.major, sys.platform)
import os.path
import os
print(os.path.join("a", "b", "c.py"), os.path.basename("/x/y.py"), os.path.dirname("/x/y.py"), os.path.splitext("f.tar.gz"), os.path.splitext("x/.hid"))
print(os.environ.get("NO_SUCH_VAR", "dflt"), os.path.exists("/nonexistent/q"))
import collections.abc
from typing import Optional, List, Dict, Tuple, Union, Any, Callable
def typed(a: int, b: Optional[str] = None, *c: List[int], d: Dict[str, int] | None = None) -> Tuple[int, ...]:
    x: int = a
    y: "forward"
    return x, b, c, d
print(typed(1), typed(1, "s", 2, d={}))
T = Union[int, str]
Alias = list[int]
z: int
w: float = 2.5
print(w, isinstance(3, int | str), isinstance("s", (int, str)), isinstance(None, int | None))
import warnings, logging, time
warnings.filterwarnings("ignore")
logging.getLogger("x").info("nothing")
print(time.time() > 0)
