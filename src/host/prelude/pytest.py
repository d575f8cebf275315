# pytest as test files use it: marks, parameters, raises, approx.
from _pytest import find_module, is_function, is_test, main, param_names, raises


class Skipped(Exception):
    pass


class XFailed(Exception):
    pass


def skip(reason="", allow_module_level=False):
    raise Skipped(reason)


def xfail(reason=""):
    raise XFailed(reason)


def fail(reason="", pytrace=True):
    raise AssertionError(reason)


def importorskip(name, minversion=None, reason=None):
    module = find_module(name)
    if module is None:
        raise Skipped("could not import " + repr(name))
    return module


class ParameterSet:
    def __init__(self, values, marks, id):
        self.values = values
        self.marks = marks
        self.id = id


def param(*values, marks=(), id=None):
    return ParameterSet(values, marks, id)


class Mark:
    def __init__(self, name, args, kwargs):
        self.name = name
        self.args = args
        self.kwargs = kwargs

    def __call__(self, *args, **kwargs):
        bare = not self.args and not self.kwargs and not kwargs
        if bare and len(args) == 1 and is_test(args[0]):
            return marked(args[0], self)
        if self.args or self.kwargs:
            return marked(args[0], self)
        return Mark(self.name, args, kwargs)


def marked(test, mark):
    test.pytestmark = [mark] + list(getattr(test, "pytestmark", []))
    return test


class Marks:
    def __getattr__(self, name):
        return Mark(name, (), {})


mark = Marks()
fixtures = {}


def fixture(function=None, scope="function", params=None, autouse=False,
            name=None):
    def register(f):
        fixtures[name or f.__name__] = f
        return f

    return register if function is None else register(function)


class approx:
    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected = expected
        self.rel = 1e-6 if rel is None and abs is None else rel or 0.0
        self.abs = 1e-12 if abs is None else abs
        self.nan_ok = nan_ok

    def near(self, a, b):
        if a != a or b != b:
            return self.nan_ok and a != a and b != b
        return a == b or abs(a - b) <= max(self.rel * abs(b), self.abs)

    def __eq__(self, other):
        if isinstance(self.expected, (list, tuple)):
            return len(other) == len(self.expected) and all(
                self.near(a, b) for a, b in zip(other, self.expected))
        return self.near(other, self.expected)

    def __ne__(self, other):
        return not self == other


class MonkeyPatch:
    def __init__(self):
        self.undone = []

    @classmethod
    def context(cls):
        return cls()

    def __enter__(self):
        return self

    def __exit__(self, type, value, trace):
        self.undo()
        return False

    def setattr(self, target, name, value, raising=True):
        self.undone.append((setattr, target, name, getattr(target, name)))
        setattr(target, name, value)

    def setitem(self, target, key, value):
        self.undone.append((restore_item, target, key, target.get(key)))
        target[key] = value

    def setenv(self, name, value, prepend=None):
        import os
        self.setitem(os.environ, name, str(value))

    def delenv(self, name, raising=True):
        import os
        if name in os.environ:
            old = os.environ.pop(name)
            self.undone.append((restore_item, os.environ, name, old))

    def undo(self):
        while self.undone:
            put, target, name, value = self.undone.pop()
            put(target, name, value)


def restore_item(target, key, value):
    if value is None:
        target.pop(key, None)
    else:
        target[key] = value


# ---- from test functions to cases -------------------------------------------


def label(name, index, value):
    if value is None or isinstance(value, (int, float, str)):
        return str(value)
    text = getattr(value, "__name__", None)
    return text if isinstance(text, str) else name + str(index)


def one_set(names, index, given, ids):
    marks = []
    wanted = None
    values = given
    if isinstance(given, ParameterSet):
        marks = given.marks
        marks = list(marks) if isinstance(marks, (list, tuple)) else [marks]
        values, wanted = given.values, given.id
    elif len(names) == 1:
        values = (given,)
    values = list(values)
    if len(values) != len(names):
        raise ValueError("parametrize: %d names, %d values"
                         % (len(names), len(values)))
    if wanted is None and ids is not None:
        if isinstance(ids, (list, tuple)):
            wanted = ids[index]
        elif len(values) == 1:
            wanted = ids(values[0])
    if wanted is None:
        wanted = "-".join(label(n, index, v) for n, v in zip(names, values))
    return dict(zip(names, values)), str(wanted), marks


def sets_of(mark):
    names = mark.args[0] if mark.args else mark.kwargs["argnames"]
    values = mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]
    if isinstance(names, str):
        names = [n.strip() for n in names.split(",") if n.strip()]
    ids = mark.kwargs.get("ids")
    return [one_set(names, i, v, ids) for i, v in enumerate(list(values))]


def why_skipped(marks):
    for m in marks:
        if m.name == "perf":
            return "perf: for pytest --run-perf"
        if m.name == "skip":
            return m.kwargs.get("reason", m.args[0] if m.args else "skip")
        if m.name == "skipif" and (not m.args or m.args[0]):
            return m.kwargs.get("reason", "skipif")
    return None


def may_fail(marks):
    for m in marks:
        if m.name == "xfail" and (not m.args or m.args[0]):
            return True
    return False


# Every case as (id, function of no arguments, reason to skip or None, whether
# it may fail). The function returns None, or why it was skipped.
def cases_of(test, name, marks):
    combos = [({}, "", [])]
    for m in reversed(marks):
        if m.name == "parametrize":
            combos = [({**a, **b}, x + "-" + y if x else y, p + q)
                      for a, x, p in combos for b, y, q in sets_of(m)]
    for given, words, more in combos:
        id = name + "[" + words + "]" if words else name
        every = marks + more
        yield id, bound(test, given), why_skipped(every), may_fail(every)


def bound(test, given):
    def run():
        values = dict(given)
        patch = MonkeyPatch()
        for name in param_names(test):
            if name == "monkeypatch":
                values[name] = patch
            elif name in fixtures and name not in values:
                values[name] = fixtures[name]()
        try:
            with patch:
                test(**values)
        except (Skipped, XFailed) as e:
            return str(e)

    return run


def marks_of(thing):
    own = getattr(thing, "pytestmark", [])
    return list(own) if isinstance(own, (list, tuple)) else [own]


def collect(members, prefix):
    every = []
    for name, value in members:
        if name == "pytestmark":
            every = list(value) if isinstance(value, (list, tuple)) else [value]
    for name, value in members:
        if name.startswith(prefix) and is_function(value):
            yield from cases_of(value, name, every + marks_of(value))
        elif name.startswith("Test") and isinstance(value, type):
            for part, method in vars(value).items():
                if part.startswith(prefix) and is_function(method):
                    own = every + marks_of(value) + marks_of(method)
                    yield from cases_of(getattr(value(), part),
                                        name + "::" + part, own)
