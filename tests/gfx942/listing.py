"""listing.py - a code object's instructions, ours against llvm-objdump-19's."""
import re
import subprocess


def differences(probe, code):
    """How many there are, and a line for each that prints otherwise."""
    ours = subprocess.run([probe, "disassemble", code], text=True,
                          capture_output=True, check=True).stdout
    theirs = subprocess.run(["llvm-objdump-19", "-d", code], text=True,
                            capture_output=True, check=True).stdout
    want = {m[2]: m[1].strip() for m in re.finditer(
        r"^\s+(\S.*?)\s*// ([0-9A-F]{12}):.*$", theirs, re.M)}
    lines = [line.split("\t") for line in ours.splitlines()]
    return len(lines), [f"{at} {text} | {want.get(at)}" for at, text in lines
                        if want.get(at) != text]
