# paths_script.py - pathlib: runs unchanged under Python and under tilesim, and
# prints the same (tests/numpy.test).
import os
import sys
from pathlib import Path, PurePath

NAMES = ["", ".", "/", "a", "a/b/c.tar.gz", "/a/b", "a//b/./c", "../a", ".x",
         "a.", "a.b/c", "/x/y.py", "..", "a/..", "b.tar."]


def names():
    for name in NAMES:
        p = Path(name)
        print(p, repr(p), p.name, p.stem, p.suffix, p.suffixes, p.parts,
              p.parent, [str(q) for q in p.parents], p.is_absolute(),
              p.anchor, p.as_posix())
        for other in NAMES:
            print(p / other, other / p, p.joinpath(other, "z"),
                  p == Path(other), p < Path(other),
                  p.is_relative_to(other))


def changes():
    for name in NAMES:
        for change in (lambda p: p.with_suffix(".md"),
                       lambda p: p.with_suffix(""),
                       lambda p: p.with_suffix("md"),
                       lambda p: p.with_name("other.c"),
                       lambda p: p.with_stem("other"),
                       lambda p: p.relative_to("a"),
                       lambda p: p.relative_to("/")):
            try:
                print(change(Path(name)))
            except ValueError:
                print("ValueError")


def files():
    here = Path(__file__).resolve()
    print(here.name, here.parent.name, here.parents[1].name, here.is_file(),
          here.parent.is_dir(), here.parent.exists(), (here / "x").exists())
    print(sorted(p.name for p in here.parent.iterdir()
                 if p.suffix == ".py" and p.name.startswith("paths")))
    print(Path("/usr/../usr/./no-such/x").resolve(), Path.cwd() == Path().absolute())
    sys.path.insert(0, str(here.parents[1] / "lang" / "py"))
    import helper_mod
    print(Path(helper_mod.__file__).name)


names()
changes()
files()
print({Path("a"): 1}[Path("a")], f"{Path('q') / 'r'}", Path("a") == "a",
      isinstance(Path("a"), PurePath), os.path.join(Path("a"), "b"))
try:
    Path("/no-such").resolve(strict=True)
except FileNotFoundError:
    print("FileNotFoundError")
