#!/usr/bin/env python3
# interleave.py - every order in which the warps of a small program can run.
#
#   interleave.py TILESIM FILE.tile [NAME=VALUE...]
#
# Knows per-thread code whose control depends on thread numbers and loops alone:
# stores, lets, if, T.serial, T.sync_threads and memory barriers; anything else
# is refused. A warp's lanes move together; between any two steps another warp
# may come, and so it may between what a statement reads and what it stores. No
# barrier is put in by a compiler: kernels that share memory say so in their
# pass_configs. For the program, and less each barrier, arrival and wait, the
# states that it can end in are counted:
#
#   NUMBER<tab>one | several | stuck
#
# "one": no order of the warps can be told from another. A step that touches
# nothing that another warp touches, and an arrival, is not delayed: no order is
# lost by that.
import re
import subprocess
import sys

import numpy as np

WARP = 32
sys.setrecursionlimit(100000)


def fail(why):
    sys.exit(f"interleave.py: {why}")


class Memory:
    """A buffer under a warp's lanes, for the expressions of the IR."""
    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        index = np.clip(np.asarray(index), 0, len(self.array) - 1)
        return self.array[index.astype(int)]


class Noting(Memory):
    """Notes what is read."""
    def __init__(self, array, name, mask, touched):
        super().__init__(array)
        self.name, self.mask, self.touched = name, mask, touched

    def __getitem__(self, index):
        index = np.broadcast_to(np.clip(np.asarray(index), 0,
                                        len(self.array) - 1), self.mask.shape)
        self.touched |= {(self.name, int(i)) for i in index[self.mask]}
        return self.array[index.astype(int)]


class Tile:
    """What expressions call T."""
    def __init__(self, lanes):
        self.lanes = lanes

    def get_thread_binding(self, _):
        return self.lanes


# ---- reading the IR --------------------------------------------------------

def lines_of(text, head):
    body = text[text.index(f"\n{head} {{") + 1:].split("\n")[1:]
    end = next(i for i, line in enumerate(body) if line == "}"
               or line.startswith("       }"))
    return body[:end]


class Kernel:
    def __init__(self, text):
        self.buffers, self.arrivals = {}, {}
        for line in lines_of(text, "buffers"):
            m = re.match(r"\s*\d+ (\w+): (\w+)\[(\d+)\] (\S+)", line)
            if not m:
                fail(f"buffer {line.strip()}")
            self.buffers[m[1]] = (m[2], int(m[3]), m[4])
        body = text[text.index("\nbody {"):]
        body = body[:body.index("\nsource ")].split("\n")[2:]
        rows = [re.sub(r"^\s*\d+:", "", line).strip() for line in body]
        rows = [re.sub(r"\s*#\d+$", "", row) for row in rows if row]
        rows = [re.sub(r"\b([A-Za-z_]\w*)\.(\d+)\b", r"\1_\2", row)
                for row in rows]
        m = re.match(r"with T.Kernel\(.* < 1, threads=\[(\d+), 1, 1\]\) {",
                     rows[0])
        if not m:
            fail(rows[0])
        self.threads = int(m[1])
        self.at = 1
        self.rows = rows
        self.waits = 0
        self.tree = self.block()

    def block(self):
        out = []
        while self.at < len(self.rows):
            row = self.rows[self.at]
            self.at += 1
            if row == "}":
                return out
            if row.startswith("} else {"):
                self.at -= 1
                return out
            out.append(self.statement(row))
        return out

    def statement(self, row):
        m = re.match(r"alloc (\w+)(?: @\(arrivals=\[(.*)\]\))?$", row)
        if m:
            if m[2]:
                self.arrivals[m[1]] = [int(n) for n in m[2].split(",")]
            return ("none",)
        m = re.match(r"if (.*) {$", row)
        if m:
            then, other = self.block(), []
            if self.rows[self.at].startswith("} else {"):
                self.at += 1
                other = self.block()
            return ("if", m[1], then, other)
        m = re.match(r"for (\w+) in T.serial\((\d+)\) {$", row)
        if m:
            return ("for", m[1], int(m[2]), self.block())
        if row == "T.sync_threads()":
            self.waits += 1
            return ("sync", self.waits - 1)
        m = re.match(r"T.barrier_(arrive|wait)\((\w+)\[(.*?)\](?:, (.*))?\)$",
                     row)
        if m:
            self.waits += 1
            return (m[1], self.waits - 1, m[2], m[3], m[4])
        m = re.match(r"let (\w+) = (.*)$", row)
        if m:
            return ("let", m[1], m[2])
        m = re.match(r"(\w+)\[(.*?)\] = (.*)$", row)
        if m and m[1] in self.buffers:
            return ("store", m[1], m[2], m[3])
        return fail(f"not known: {row}")


# ---- a warp's steps ----------------------------------------------------------

def steps_of(kernel, warp, dropped):
    """Its statements, loops unrolled: (statement, active lanes, variables)."""
    lanes = np.arange(warp * WARP, min(kernel.threads, (warp + 1) * WARP))
    out = []

    def walk(block, mask, names):
        for s in block:
            if s[0] == "if":
                test = eval(s[1], {"T": Tile(lanes), **names})
                test = np.broadcast_to(test, mask.shape)
                walk(s[2], mask & test, names)
                walk(s[3], mask & ~test, names)
            elif s[0] == "for":
                for i in range(s[2]):
                    walk(s[3], mask, {**names, s[1]: i})
            elif s[0] == "let":
                names = {**names,
                         s[1]: eval(s[2], {"T": Tile(lanes), **names})}
            elif s[0] == "store" or s[0] in ("sync", "arrive", "wait"):
                if mask.any() and not (s[0] != "store" and s[1] == dropped):
                    out.append((s, mask, names))

    walk(kernel.tree, np.ones(len(lanes), bool), {})
    return lanes, out


class Search:
    def __init__(self, kernel, dropped):
        self.kernel = kernel
        warps = (kernel.threads + WARP - 1) // WARP
        made = [steps_of(kernel, w, dropped) for w in range(warps)]
        self.lanes = [m[0] for m in made]
        self.steps = [m[1] for m in made]
        self.ends, self.seen, self.stuck = set(), set(), False
        self.memory = self.fresh()
        self.touched = [[self.touches(w, s) for s in steps]
                        for w, steps in enumerate(self.steps)]
        self.alone = [[self.is_alone(w, i) for i in range(len(steps))]
                      for w, steps in enumerate(self.steps)]

    def fresh(self):
        random = np.random.default_rng(0)
        return {b: random.integers(1, 1 << 20, n).astype(np.float64)
                for b, (_, n, scope) in self.kernel.buffers.items()
                if scope != "shared.barrier"}

    def touches(self, w, step):
        """What it reads, what it writes; indices that are read from memory
        are not known."""
        s, mask, names = step
        reads = set()
        if s[0] != "store":
            return reads, set()
        if any(b + "[" in re.sub(r"^\w+\[", "", part)
               for b in self.memory for part in re.findall(r"\w+\[.*?\]",
                                                           s[2] + s[3])):
            return None
        space = {b: Noting(a, b, mask, reads) for b, a in self.memory.items()}
        tile = {"T": Tile(self.lanes[w]), **space, **names}
        eval(s[3], tile)
        index = np.broadcast_to(eval(s[2], tile), mask.shape)[mask]
        return reads, {(s[1], int(i)) for i in index}

    def is_alone(self, w, i):
        mine = self.touched[w][i]
        if self.steps[w][i][0][0] == "arrive":
            return True
        if self.steps[w][i][0][0] != "store" or mine is None:
            return False
        for v, steps in enumerate(self.touched):
            for theirs in steps if v != w else ():
                if theirs is None or mine[1] & (theirs[0] | theirs[1]) \
                        or mine[0] & theirs[1]:
                    return False
        return True

    def value(self, w, text, names, memory):
        space = {b: Memory(a) for b, a in memory.items()}
        return eval(text, {"T": Tile(self.lanes[w]), **space, **names})

    def can_go(self, w, state):
        at, _, _, bars, memory = state
        if at[w] == len(self.steps[w]):
            return False
        s, _, names = self.steps[w][at[w]]
        if s[0] == "sync":
            return all(at[v] < len(self.steps[v])
                       and self.steps[v][at[v]][0][0] == "sync"
                       for v in range(len(at)))
        if s[0] == "wait":
            i = int(np.max(self.value(w, s[3], names, memory)))
            return bars[s[2], i][0] % 2 != int(
                np.max(self.value(w, s[4], names, memory)))
        return True

    def go(self, w, state):
        at, half, held, bars, memory = state
        s, mask, names = self.steps[w][at[w]]
        at, half, held = list(at), list(half), list(held)
        if s[0] == "sync":                  # all of them at once
            return [n + 1 for n in at], half, held, bars, memory
        if s[0] == "store" and not half[w]:
            shape = mask.shape
            held[w] = (np.broadcast_to(self.value(w, s[2], names, memory),
                                       shape)[mask],
                       np.broadcast_to(self.value(w, s[3], names, memory),
                                       shape)[mask])
            half[w] = True
            return at, half, held, bars, memory
        if s[0] == "store":
            memory = {**memory, s[1]: memory[s[1]].copy()}
            memory[s[1]][held[w][0].astype(int)] = held[w][1]
            half[w], held[w] = False, None
        if s[0] == "arrive":
            i = int(np.max(self.value(w, s[3], names, memory)))
            phase, come = bars[s[2], i]
            come += int(mask.sum())
            full = come >= self.kernel.arrivals[s[2]][i]
            bars = {**bars, (s[2], i): (phase + full, 0 if full else come)}
        at[w] += 1
        return at, half, held, bars, memory

    def key(self, state):
        at, half, held, bars, memory = state
        return (tuple(at), tuple(half), tuple(bars.values()),
                b"".join(a.tobytes() for a in memory.values()),
                b"".join(h[1].tobytes() for h in held if h is not None))

    def run(self, state):
        todo = [state]
        while todo and len(self.ends) < 2:
            state = todo.pop()
            key = self.key(state)
            if key in self.seen:
                continue
            self.seen.add(key)
            going = [w for w in range(len(self.steps))
                     if self.can_go(w, state)]
            quiet = [w for w in going if self.alone[w][state[0][w]]]
            todo += [self.go(w, state) for w in quiet[:1] or going]
            if not going:
                self.stuck |= any(n < len(s) for n, s in zip(state[0],
                                                             self.steps))
                self.ends.add(b"".join(a.tobytes()
                                       for a in state[4].values()))

    def verdict(self):
        bars = {(b, i): (0, 0) for b, n in self.kernel.arrivals.items()
                for i in range(len(n))}
        n = len(self.steps)
        self.run(([0] * n, [False] * n, [None] * n, bars, self.memory))
        return ("stuck" if self.stuck
                else "one" if len(self.ends) == 1 else "several")


def main(tilesim, path, *defines):
    done = subprocess.run([tilesim, "dump", "--stage=ir", path,
                           *[w for d in defines for w in ("-D", d)]],
                          text=True, capture_output=True, check=False)
    if done.returncode:
        fail(done.stderr)
    kernel = Kernel(done.stdout)
    print(f"as written\t{Search(kernel, -1).verdict()}")
    for i in range(kernel.waits):
        print(f"{i}\t{Search(kernel, i).verdict()}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
