# __init_subclass__ and what a class statement hands to it.
class Registry:
    made = []

    def __init_subclass__(cls, /, tag=None, **rest):
        super().__init_subclass__(**rest)
        Registry.made.append((cls.__name__, tag))


class A(Registry, tag="a"):
    pass


class B(A):
    def __init_subclass__(cls, **kw):
        super().__init_subclass__(tag="b", **kw)
        cls.below_b = True


class C(B):
    pass


print(Registry.made, C.below_b, hasattr(B, "below_b"))


class Mixin:
    def __init_subclass__(cls, size=1, **kw):
        super().__init_subclass__(**kw)
        cls.size = size


class D(Mixin, Registry, size=4, tag="d"):
    pass


print(D.size, Registry.made[-1])

try:
    class E(Mixin, unknown=1):
        pass
except TypeError as e:
    print("TypeError")

try:
    class F(object, x=2):
        pass
except TypeError:
    print("TypeError")


class G:
    def __class_getitem__(cls, item):
        return (cls.__name__, item)


print(G[3], G["x", 1])
