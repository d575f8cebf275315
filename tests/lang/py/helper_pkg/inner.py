from . import other
from .other import NAME


def deep():
    return f"deep in {NAME}", other.NAME is NAME
