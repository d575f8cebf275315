# numpy: arrays as scripts use them beside tensors. An array holds a tensor;
# what is computed follows NumPy's dtypes, not torch's.
import torch

int8 = torch.int8
int16 = torch.int16
int32 = torch.int32
int64 = torch.int64
uint8 = torch.uint8
uint16 = torch.uint16
uint32 = torch.uint32
uint64 = torch.uint64
float16 = torch.float16
float32 = torch.float32
float64 = torch.float64
bool_ = torch.bool
inf = float("inf")
nan = float("nan")
pi = 3.141592653589793
newaxis = None


def _is_float(dtype):
    return dtype in (torch.float16, torch.float32, torch.float64)


def _bytes(dtype):
    return torch.empty(0, dtype=dtype).itemsize


# The float that holds a dtype's numbers.
def _float_of(dtype):
    if _is_float(dtype):
        return dtype
    size = _bytes(dtype)
    return torch.float16 if size == 1 else \
        torch.float32 if size == 2 else torch.float64


def _promoted(a, b):
    if _is_float(a) != _is_float(b):
        a, b = _float_of(a), _float_of(b)
    return torch.promote_types(a, b)


# Both operands as tensors of one dtype; a number takes the array's.
def _pair(a, b, divide=False):
    x, y = _tensor_of(a), _tensor_of(b)
    if x is None or y is None:
        own, number = (x, b) if y is None else (y, a)
        t = own.dtype
        if isinstance(number, float) and not _is_float(t):
            t = torch.float64
        elif t == torch.bool and not isinstance(number, bool):
            t = torch.int64
    else:
        t = _promoted(x.dtype, y.dtype)
    if divide and not _is_float(t):
        t = torch.float64
    x = torch.tensor(a, dtype=t) if x is None else x.to(t)
    y = torch.tensor(b, dtype=t) if y is None else y.to(t)
    return x, y


def _tensor_of(x):
    if isinstance(x, ndarray):
        return x._tensor
    if isinstance(x, (list, tuple)):
        return array(x)._tensor
    if isinstance(x, (bool, int, float)):
        return None
    raise TypeError("numpy: an operand of type " + type(x).__name__)


def _wrapped(t):
    return t.item() if t.dim() == 0 else ndarray(t)


def _index(key):
    if isinstance(key, tuple):
        return tuple([_index(k) for k in key])
    return key._tensor if isinstance(key, ndarray) else key


class ndarray:
    def __init__(self, tensor):
        self._tensor = tensor
        self.dtype = tensor.dtype
        self.shape = tuple(tensor.shape)
        self.ndim = tensor.dim()
        self.size = tensor.numel()
        self.itemsize = tensor.itemsize
        self.nbytes = tensor.nbytes

    @property
    def T(self):
        return self.transpose()

    def __len__(self):
        return len(self._tensor)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, key):
        return _wrapped(self._tensor[_index(key)])

    def __setitem__(self, key, value):
        self._tensor[_index(key)] = _index(value)

    def __repr__(self):
        return "array(" + repr(self.tolist()) + ")"

    def __str__(self):
        return str(self.tolist())

    def __array__(self):
        return self

    def __add__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x + y)

    def __radd__(self, other):
        x, y = _pair(other, self)
        return _wrapped(x + y)

    def __sub__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x - y)

    def __rsub__(self, other):
        x, y = _pair(other, self)
        return _wrapped(x - y)

    def __mul__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x * y)

    def __rmul__(self, other):
        x, y = _pair(other, self)
        return _wrapped(x * y)

    def __truediv__(self, other):
        x, y = _pair(self, other, True)
        return _wrapped(x / y)

    def __rtruediv__(self, other):
        x, y = _pair(other, self, True)
        return _wrapped(x / y)

    def __floordiv__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x // y)

    def __mod__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x % y)

    def __pow__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x ** y)

    def __and__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x & y)

    def __or__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x | y)

    def __xor__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x ^ y)

    def __lshift__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x << y)

    def __rshift__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x >> y)

    # An in-place result has to have the array's own dtype.
    def _write(self, result):
        t = result if isinstance(result, ndarray) else array(result)
        if t.dtype != self.dtype and (_is_float(t.dtype)
                                      and not _is_float(self.dtype)):
            raise TypeError("numpy: cannot write " + str(t.dtype)
                            + " into an array of " + str(self.dtype))
        self._tensor.copy_(t._tensor)
        return self

    def __iadd__(self, other):
        return self._write(self + other)

    def __isub__(self, other):
        return self._write(self - other)

    def __imul__(self, other):
        return self._write(self * other)

    def __itruediv__(self, other):
        return self._write(self / other)

    def __iand__(self, other):
        return self._write(self & other)

    def __ior__(self, other):
        return self._write(self | other)

    def __ixor__(self, other):
        return self._write(self ^ other)

    def __neg__(self):
        return _wrapped(-self._tensor)

    def __invert__(self):
        return _wrapped(~self._tensor)

    def __abs__(self):
        return _wrapped(self._tensor.abs())

    def __eq__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x == y)

    def __ne__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x != y)

    def __lt__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x < y)

    def __le__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x <= y)

    def __gt__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x > y)

    def __ge__(self, other):
        x, y = _pair(self, other)
        return _wrapped(x >= y)

    def __bool__(self):
        return bool(self._tensor)

    def item(self):
        return self._tensor.item()

    def tolist(self):
        return self._tensor.tolist()

    def astype(self, dtype):
        return ndarray(self._tensor.to(_dtype(dtype), copy=True))

    def view(self, dtype):
        return ndarray(self._tensor.view(_dtype(dtype)))

    def copy(self):
        return ndarray(self._tensor.clone())

    def reshape(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        return ndarray(self._tensor.reshape(*shape))

    def flatten(self):
        return ndarray(self._tensor.flatten().clone())

    def transpose(self, *axes):
        if not axes:
            axes = range(self.ndim - 1, -1, -1)
        elif len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = axes[0]
        return ndarray(self._tensor.permute(*axes))

    def fill(self, value):
        self._tensor.fill_(value)

    def sum(self, axis=None):
        return _reduced(torch.sum, self, axis)

    def prod(self, axis=None):
        return _reduced(torch.prod, self, axis)

    def mean(self, axis=None):
        t = self._tensor
        t = t if _is_float(t.dtype) else t.double()
        return _reduced(torch.mean, ndarray(t), axis)

    def max(self, axis=None):
        return _reduced(torch.amax, self, axis)

    def min(self, axis=None):
        return _reduced(torch.amin, self, axis)

    def all(self):
        return bool(self._tensor.all())

    def any(self):
        return bool(self._tensor.any())

    def cumsum(self, axis=None):
        t = self._tensor.flatten() if axis is None else self._tensor
        return ndarray(t.cumsum(0 if axis is None else axis,
                                dtype=_sum_dtype(t.dtype)))

    def argmax(self):
        return self._tensor.argmax().item()

    def argmin(self):
        return self._tensor.argmin().item()

    def argsort(self):
        return ndarray(self._tensor.argsort(stable=True))


def _dtype(dtype):
    names = {float: torch.float64, int: torch.int64, bool: torch.bool}
    return names[dtype] if dtype in names else dtype


def _sum_dtype(dtype):
    return dtype if _is_float(dtype) else torch.int64


def _reduced(function, a, axis):
    t = a._tensor
    if function is torch.sum or function is torch.prod:
        t = t.to(_sum_dtype(t.dtype))
    if axis is None:
        t, axis = t.flatten(), 0
    return _wrapped(function(t, axis))


def _new(function, shape, dtype):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return ndarray(function(shape, dtype=_dtype(dtype)))


def zeros(shape, dtype=float64):
    return _new(torch.zeros, shape, dtype)


def ones(shape, dtype=float64):
    return _new(torch.ones, shape, dtype)


def empty(shape, dtype=float64):
    return _new(torch.empty, shape, dtype)


def full(shape, value, dtype=None):
    if dtype is None:
        dtype = torch.float64 if isinstance(value, float) else torch.int64
    a = empty(shape, dtype)
    a.fill(value)
    return a


def zeros_like(a, dtype=None):
    return zeros(a.shape, a.dtype if dtype is None else dtype)


def ones_like(a, dtype=None):
    return ones(a.shape, a.dtype if dtype is None else dtype)


# The first number of nested lists tells floats from integers.
def array(values, dtype=None):
    if isinstance(values, ndarray):
        t = values._tensor.clone()
    else:
        t = torch.tensor(values)
        if t.dtype == torch.float32:
            t = torch.tensor(values, dtype=torch.float64)
    return ndarray(t if dtype is None else t.to(_dtype(dtype)))


def asarray(values, dtype=None):
    if isinstance(values, ndarray) and dtype in (None, values.dtype):
        return values
    return array(values, dtype)


def arange(*args, dtype=None):
    t = torch.arange(*args)
    if t.dtype == torch.float32:
        t = torch.arange(*args, dtype=torch.float64)
    return ndarray(t if dtype is None else t.to(_dtype(dtype)))


def concatenate(arrays, axis=0):
    return ndarray(torch.cat([asarray(a)._tensor for a in arrays], axis))


def stack(arrays, axis=0):
    return ndarray(torch.stack([asarray(a)._tensor for a in arrays], axis))


def _float_function(function, x):
    t = asarray(x)._tensor
    return _wrapped(function(t.to(_float_of(t.dtype))))


def sqrt(x):
    return _float_function(torch.sqrt, x)


def exp(x):
    return _float_function(torch.exp, x)


def log(x):
    return _float_function(torch.log, x)


def ceil(x):
    return _float_function(torch.ceil, x)


def floor(x):
    return _float_function(torch.floor, x)


def isnan(x):
    return _float_function(torch.isnan, x)


def abs(x):
    return _wrapped(asarray(x)._tensor.abs())


def sum(a, axis=None):
    return asarray(a).sum(axis)


def prod(a, axis=None):
    return asarray(a).prod(axis)


def mean(a, axis=None):
    return asarray(a).mean(axis)


def max(a, axis=None):
    return asarray(a).max(axis)


def min(a, axis=None):
    return asarray(a).min(axis)


def cumsum(a, axis=None):
    return asarray(a).cumsum(axis)


# Of an even count the mean of the two in the middle.
def median(a):
    t = asarray(a)._tensor.flatten().double().sort()[0]
    n = len(t)
    return ((t[(n - 1) // 2] + t[n // 2]) / 2).item()


def where(condition, a, b):
    x, y = _pair(asarray(a), asarray(b))
    return _wrapped(torch.where(condition._tensor, x, y))


def argmax(a):
    return asarray(a).argmax()


def array_equal(a, b):
    a, b = asarray(a), asarray(b)
    return a.shape == b.shape and (a == b).all()


def allclose(a, b, rtol=1e-5, atol=1e-8):
    return torch.allclose(asarray(a)._tensor.double(),
                          asarray(b)._tensor.double(), rtol=rtol, atol=atol)


def unravel_index(index, shape):
    places = []
    for size in reversed(shape):
        places.append(index % size)
        index = index // size
    return tuple(reversed(places))
