# pathlib: names of files, and what is there. Nothing is made or removed.
import os


def tidy(path):
    root = "/" if path.startswith("/") else ""
    parts = [p for p in path.split("/") if p and p != "."]
    return root + "/".join(parts) or "."


class PurePath:
    def __init__(self, *parts):
        self._text = tidy(os.path.join(*parts)) if parts else "."

    def __fspath__(self):
        return self._text

    def __str__(self):
        return self._text

    def __repr__(self):
        return "%s(%r)" % (self._class_name, self._text)

    def __eq__(self, other):
        return isinstance(other, PurePath) and self._text == other._text

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return self.parts < other.parts

    def __hash__(self):
        return hash(self._text)

    def __truediv__(self, other):
        return type(self)(self._text, other)

    def __rtruediv__(self, other):
        return type(self)(other, self._text)

    def joinpath(self, *others):
        return type(self)(self._text, *others)

    @property
    def parts(self):
        names = [p for p in self._text.split("/") if p]
        if self._text.startswith("/"):
            return ("/",) + tuple(names)
        return () if self._text == "." else tuple(names)

    @property
    def name(self):
        parts = self.parts
        return parts[-1] if parts and parts[-1] != "/" else ""

    @property
    def suffix(self):
        if self.name.endswith("."):
            return ""
        return os.path.splitext(self.name)[1]

    @property
    def suffixes(self):
        if self.name.endswith("."):
            return []
        return ["." + s for s in self.name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        return self.name[:len(self.name) - len(self.suffix)]

    @property
    def root(self):
        return "/" if self.is_absolute() else ""

    anchor = root

    @property
    def parent(self):
        parts = self.parts
        if not parts or parts == ("/",):
            return self
        return type(self)(*parts[:-1])

    @property
    def parents(self):
        found = []
        at = self
        while at.parent != at:
            at = at.parent
            found.append(at)
        return found

    def is_absolute(self):
        return self._text.startswith("/")

    def as_posix(self):
        return self._text

    def with_name(self, name):
        if not self.name:
            raise ValueError("%r has an empty name" % self)
        return self.parent / name

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix):
        if suffix and (not suffix.startswith(".") or suffix == "."):
            raise ValueError("Invalid suffix %r" % suffix)
        return self.with_name(self.stem + suffix)

    def is_relative_to(self, other):
        base = type(self)(other)
        return (self.is_absolute() == base.is_absolute()
                and self.parts[:len(base.parts)] == base.parts)

    def relative_to(self, other):
        if not self.is_relative_to(other):
            raise ValueError("%r is not in the subpath of %r"
                             % (self._text, str(other)))
        return type(self)(*self.parts[len(type(self)(other).parts):])

    _class_name = "PurePath"


class PurePosixPath(PurePath):
    _class_name = "PurePosixPath"


class Path(PurePath):
    _class_name = "PosixPath"

    @classmethod
    def cwd(cls):
        return cls(os.getcwd())

    def absolute(self):
        if self.is_absolute():
            return self
        return type(self)(os.getcwd(), self._text)

    def resolve(self, strict=False):
        if strict and not self.exists():
            raise FileNotFoundError("No such file or directory: %r"
                                    % self._text)
        return type(self)(os.path.realpath(self._text))

    def expanduser(self):
        return self

    def exists(self):
        return os.path.exists(self._text)

    def is_file(self):
        return os.path.isfile(self._text)

    def is_dir(self):
        return os.path.isdir(self._text)

    def iterdir(self):
        for name in os.listdir(self._text):
            yield self / name


PosixPath = Path
