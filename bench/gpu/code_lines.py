"""Machine code of generated kernels, each instruction with the line of the
program that it came from.

nvdisasm tells the line of the generated source, through functions that were
inlined; the comments in that source ("// fa.tile:31") tell the program's.
"""

import re
import subprocess

WHERE = re.compile(r'//## File "[^"]*", line (\d+)( inlined at "[^"]*", '
                   r'line (\d+))?')
CODE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
SECTION = re.compile(r"\.section\s+\.text\.([A-Za-z0-9_]+)")
COMMENT = re.compile(r"^ +// (\S+):(\d+)$")
KERNEL = re.compile(r"^// (\S+):(\d+)$")


def program_lines(source):
    """By line of the generated source (from 1): the program's, or 0."""
    out, now = [0], 0
    for text in source.splitlines():
        match = COMMENT.match(text) or KERNEL.match(text)
        if match:
            now = int(match.group(2))
        elif text == "}":
            now = 0
        out.append(now)
    return out


def disassemble(cubin, nvdisasm="nvdisasm"):
    """{kernel: [(offset, instruction, line of the generated source)]}"""
    text = subprocess.run([nvdisasm, "-gi", "-c", cubin], check=True,
                          capture_output=True, text=True).stdout
    out, rows, at, inside = {}, None, 0, False
    for line in text.splitlines():
        section = SECTION.search(line)
        if section:
            rows = out.setdefault(section.group(1), [])
            at = 0
            continue
        where = WHERE.search(line)
        if where:
            # A run of such lines goes from the inside out.
            at = int(where.group(3) or where.group(1))
            continue
        code = CODE.search(line)
        if code and rows is not None:
            rows.append((int(code.group(1), 16), code.group(2), at))
    return out


def operation(instruction):
    """"LDS.64", "STS.U16"...: of what touches shared memory, or None."""
    words = re.sub(r"^@!?U?P\w+\s+", "", instruction).split()
    op = words[0] if words else ""
    return op if re.match(r"(LDS|STS|LDSM|STSM|LDGSTS|ATOMS|RED\.S)(\.|$)",
                          op) else None
