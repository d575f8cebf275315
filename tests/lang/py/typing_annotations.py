from __future__ import annotations
from typing import Optional, Sequence, TypeVar, Generic, Protocol, Literal, TYPE_CHECKING, cast, Iterable, Iterator, Mapping
T = TypeVar("T")
if TYPE_CHECKING:
    import nothing_here
def first(xs: Sequence[T], default: Optional[T] = None) -> T | None:
    return xs[0] if xs else default
class Box(Generic[T]):
    value: T
    def __init__(self, value: T) -> None:
        self.value = value
    def map(self, fn: "Callable[[T], T]") -> Box[T]:
        return Box(fn(self.value))
class Sized(Protocol):
    def size(self) -> int: ...
mode: Literal["a", "b"] = "a"
x: int | None = None
print(first([1, 2]), first([], "d"), Box(3).map(lambda v: v + 1).value, mode, x, cast(int, "not int"))
def gen(n: int) -> Iterator[int]:
    yield from range(n)
print(list(gen(3)), first.__name__)
class Undefined:
    def later(self) -> NotDefinedAnywhere: return 1
print(Undefined().later())
IntList = list[int]
Pair = tuple[int, str]
D = dict[str, list[int]]
v: Pair = (1, "a")
print(v, isinstance(v, tuple))
