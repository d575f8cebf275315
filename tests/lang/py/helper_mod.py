# A module that sibling_imports.py imports.
value = 7
counter = 0
_private = "not exported"
main_guard = __name__ == "__main__"


def double(x):
    return x * 2


def exported(s):
    return s + _private[:3]


def bump():
    global counter
    counter += 1
    return counter


class Klass:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v + value


if __name__ == "__main__":
    print("run as a program")
