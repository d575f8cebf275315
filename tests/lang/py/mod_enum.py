from enum import Enum, IntEnum, StrEnum, auto
class Color(Enum):
    RED = 1
    GREEN = 2
    ALIAS = 1
    def nice(self): return self.name.lower()
    @classmethod
    def default(cls): return cls.GREEN
print(Color.RED, repr(Color.RED), Color.RED.name, Color.RED.value, Color(2), Color["GREEN"], Color.ALIAS is Color.RED, Color.RED.nice(), Color.default())
print(list(Color), len(Color), Color.RED == Color.RED, Color.RED == 1, Color.RED != Color.GREEN, Color.RED in Color, {Color.RED: "r"}[Color.RED], isinstance(Color.RED, Color), type(Color.RED) is Color)
class N(IntEnum):
    A = 3
    B = 5
print(N.A + 1, N.A < N.B, N.A == 3, [10, 20, 30, 40][N.A], sorted([N.B, N.A]), N.A | 4, max(N), repr(N.A), str(N.A), f"{N.A}", int(N.B), {3: "x"}[N.A])
class S(StrEnum):
    ONE = auto()
    TWO = "two!"
print(S.ONE, S.TWO == "two!", S.ONE + "x", f"{S.TWO:>6}", S("one"), len(S.ONE) if False else 3)
class Au(Enum):
    X = auto()
    Y = auto()
    Z = 10
    W = auto()
print([m.value for m in Au], [m.name for m in Au])
try:
    Color(9)
except ValueError as e:
    print(e)
try:
    Color["NOPE"]
except KeyError as e:
    print("KeyError", e)
try:
    Color.NOPE
except AttributeError as e:
    print("AttributeError")
class Planet(Enum):
    EARTH = (5.9, 6.3)
    MARS = (0.6, 3.4)
    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius
    @property
    def g(self): return round(self.mass / self.radius ** 2, 3)
print(Planet.EARTH.mass, Planet.MARS.g, Planet((0.6, 3.4)).name)
class P(str, Enum):
    FULL = "full"
print(P.FULL == "full", P.FULL.value, P("full") is P.FULL)
for m in Color:
    print(m.name, m.value, end=" ")
print(Color.__members__["RED"] is Color.RED, [*Color.__members__])
