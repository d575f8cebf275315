# os.path: names by POSIX's rules, and what is there.
import os

NAMES = ["", "/", "//", "///", "a", "a/", "a//b", "/a", "/a/", "/a/b.c",
         "a.b.c", ".a", "a/.b", "a/..", "a/../b", "../a", "a/../../b", "/..",
         "/../a", "//a/..", "./a/./b", "a/b/../../..", "...", "a./b"]

for name in NAMES:
    print(repr(name), repr(os.path.normpath(name)), os.path.split(name),
          os.path.splitext(name), os.path.isabs(name),
          repr(os.path.basename(name)), repr(os.path.dirname(name)))
for a in NAMES:
    print([os.path.join(a, b) for b in ["", "x", "/x", "x/y"]])
here = os.path.abspath(".")
print(os.getcwd() == here, os.path.abspath("a/../b") == os.path.join(here, "b"))
print(os.path.realpath("/usr/../usr/./no-such/x"))
print(os.path.isdir("/usr"), os.path.isfile("/usr"), os.path.exists("/usr"),
      os.path.isfile("/etc/passwd"), os.path.isdir("/no-such"))
print("passwd" in os.listdir("/etc"))


class Named:
    def __fspath__(self):
        return "some/where.py"


print(os.fspath(Named()), os.path.join("x", Named()),
      os.path.basename(Named()))
for call in (lambda: os.fspath(3), lambda: os.path.join(None, "a"),
             lambda: os.path.basename(object())):
    try:
        call()
    except TypeError:
        print("TypeError")
try:
    os.listdir("/no-such-folder")
except FileNotFoundError:
    print("FileNotFoundError")
