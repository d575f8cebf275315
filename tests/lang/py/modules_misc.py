import sys, os, time, copy, operator, logging, warnings, enum, abc, math as mm
from os import path
from os.path import join as j, basename
print(path.join("a", "b"), j("a", "/b"), j("x/", "y"), j("", "z"), basename("p/q.txt"), path.splitext("a.b/c"), path.dirname("nofolder"), path.dirname("/a"), os.sep)
print(sys.argv[1:], sys.byteorder, sys.platform, isinstance(sys.path, list), sys.version_info[0], sys.version_info[:1] == (3,), sys.version_info > (2, 7))
log = logging.getLogger(__name__)
log.setLevel(logging.DEBUG)
log.debug("nothing %s", 1)
logging.basicConfig(level=logging.INFO)
print(logging.INFO, logging.WARNING < logging.ERROR)
t0 = time.time()
t1 = time.perf_counter()
time.sleep(0)
print(time.time() >= t0, time.perf_counter() >= t1)
print(os.environ.get("HOME_NOT_SET_X"), os.getenv("NOT_SET_Y", "dflt"), "PATHX" in os.environ, os.path.exists("/definitely/not/here"))
warnings.simplefilter("ignore")
warnings.filterwarnings("ignore", category=UserWarning)
print(mm.floor(2.5), mm is sys.modules["math"] if False else True, operator.mul(6, 7), copy.copy([1]))
class Base(abc.ABC):
    @abc.abstractmethod
    def go(self): ...
class Impl(Base):
    def go(self): return "gone"
print(Impl().go(), issubclass(Impl, Base))
try:
    sys.exit("message")
except SystemExit as e:
    print("exit", e.args, e)
try:
    sys.exit()
except SystemExit as e:
    print("exit", e.args)
print(__name__, __doc__, hasattr(sys, "exit"), callable(os.path.join))
sys.stdout.write("direct\n")
print("to stderr", file=sys.stderr)
if __name__ == "__main__" and len(sys.argv) > 1:
    print("args:", sys.argv[1:])
