# triton - its functions on the host. Kernels are defined and never called.


def cdiv(a, b):
    return -(-a // b)


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()


def jit(function=None, **kwargs):
    return jit if function is None else function


def autotune(**kwargs):
    return jit


def heuristics(values):
    return jit


class Config:
    def __init__(self, kwargs, **more):
        self.kwargs = kwargs
