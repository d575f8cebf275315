#!/usr/bin/env python3
# ir_check.py - dump -> read -> dump, for the programs and for every keyword.
#
#   ir_check.py TILESIM TOP
#
# KEYWORDS are the keyword arguments that upstream's examples use, by
# primitive. Each stands in a statement; its trace in the IR must survive.
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

# primitive, keyword, statement, what the dump shows
KEYWORDS = [
    ("Kernel", "prelude", "", r'prelude="#define X 1"'),
    ("Kernel", "threads", "", r"threads=\[96, 1, 1\]"),
    ("Tensor", "dtype", "", r"A: float16\[64, 64\] global"),
    ("alloc_shared", "dtype", "", r"As: float16\[64, 64\] shared"),
    ("alloc_shared", "scope", 'x = T.alloc_shared((4,), "float32", '
     'scope="shared")\nT.clear(x)', r"x: float32\[4\] shared\n"),
    ("alloc_fragment", "dtype", "", r"acc: float32\[64, 64\] local.fragment"),
    ("alloc_fragment", "scope", 'x = T.alloc_fragment((4,), "float32", '
     'scope="local.fragment")\nT.clear(x)', r"x: float32\[4\] local.fragment"),
    ("alloc_local", "dtype", "", r"loc: int32\[4\] local"),
    ("alloc_var", "dtype", "n = T.alloc_var(dtype=\"int64\")\nn = 1",
     r"n: int64\[1\] local.var"),
    ("alloc_var", "init", "n = T.alloc_var(\"int32\", init=7)\nloc[0] = n",
     r"n\[0\] = 7"),
    ("copy", "annotations", 'T.copy(A, As, annotations={"note": 1})',
     r'annotations=\{"note": 1\}'),
    ("copy", "disable_tma", "T.copy(A, As, disable_tma=True)",
     r"disable_tma=True"),
    ("copy", "coalesced_width", "T.copy(A, As, coalesced_width=8)",
     r"coalesced_width=8"),
    ("copy", "dst", "T.copy(A, dst=As)", r"T.copy\(A -> As\)"),
    ("Pipelined", "num_stages", "for k in T.Pipelined(2, num_stages=3):\n"
     "    T.clear(v)", r"T.Pipelined\(2, num_stages=3\)"),
    ("Pipelined", "annotations", "for k in T.Pipelined(2, "
     'annotations={"b": 2}):\n    T.clear(v)', r'annotations=\{"b": 2\}'),
    ("Pipelined", "start", "for k in T.Pipelined(start=1, stop=5):\n"
     "    T.clear(v)", r"T.Pipelined\(1:\+4\)"),
    ("Pipelined", "stop", "for k in T.Pipelined(start=0, stop=5):\n"
     "    T.clear(v)", r"T.Pipelined\(5\)"),
    ("Parallel", "annotations", "for i in T.Parallel(64, "
     'annotations={"e": 5}):\n    v[i] = 0', r'annotations=\{"e": 5\}'),
    ("Parallel", "prefer_async", "for i in T.Parallel(64, "
     "prefer_async=True):\n    v[i] = 0", r"prefer_async=True"),
    ("gemm", "policy", "T.gemm(As, Bs, acc, "
     "policy=T.GemmWarpPolicy.FullCol)", r'policy="FullCol"'),
    ("gemm", "transpose_A", "T.gemm(As, Bs, acc, transpose_A=True)",
     r"transpose_A=True"),
    ("gemm", "transpose_B", "T.gemm(As, Bs, acc, transpose_B=True)",
     r"transpose_B=True"),
    ("gemm", "clear_accum", "T.gemm(As, Bs, acc, clear_accum=True)",
     r"clear_accum=True"),
    ("gemm", "k_pack", "T.gemm(As, Bs, acc, k_pack=2)", r"k_pack=2"),
    ("gemm", "annotations", 'T.gemm(As, Bs, acc, annotations={"c": 3})',
     r'annotations=\{"c": 3\}'),
    ("gemm", "B", "T.gemm(As, B=Bs, C=acc)", r"T.gemm\(As, Bs -> acc"),
    ("gemm", "C", "T.gemm(As, Bs, C=acc)", r"T.gemm\(As, Bs -> acc"),
    ("reduce_sum", "dim", "T.reduce_sum(acc, v, dim=0)", r"dim=0"),
    ("reduce_sum", "clear", "T.reduce_sum(acc, v, dim=1, clear=False)",
     r"clear=False"),
    ("reduce_sum", "annotations", "T.reduce_sum(acc, v, dim=1, "
     'annotations={"d": 4})', r'annotations=\{"d": 4\}'),
    ("reduce_max", "dim", "T.reduce_max(acc, v, dim=-1)", r"dim=-1"),
    ("reduce_max", "clear", "T.reduce_max(acc, v, dim=1, clear=True)",
     r"clear=True"),
    ("reduce_max", "annotations", "T.reduce_max(acc, v, dim=1, "
     'annotations={"d": 5})', r'annotations=\{"d": 5\}'),
    ("reduce_absmax", "dim", "T.reduce_absmax(acc, v, dim=0)", r"dim=0"),
    ("reduce_absmax", "clear", "T.reduce_absmax(acc, v, dim=1, clear=False)",
     r"clear=False"),
    ("fill", "annotations", 'T.fill(acc, 0, annotations={"a": 1})',
     r'annotations=\{"a": 1\}'),
    ("use_swizzle", "panel_size", "T.use_swizzle(panel_size=7)",
     r"panel_size=7"),
    ("use_swizzle", "enable", "T.use_swizzle(10, enable=False)",
     r"enable=False"),
    ("atomic_add", "memory_order", "for i in T.Parallel(64):\n"
     '    T.atomic_add(P[i], v[i], memory_order="release")',
     r'memory_order="release"'),
    ("atomic_add", "use_tma", "T.atomic_add(P, v, use_tma=True)",
     r"use_tma=True"),
    ("atomic_add", "return_prev", "old = T.atomic_add(P[0], v[0], "
     "return_prev=True)\nv[0] = old", r"return_prev=True|T.atomic_add\(P\[0\]"),
    ("unroll", "annotations", 'for i in T.unroll(4, annotations={"f": 6}):\n'
     "    loc[i] = 0", r'annotations=\{"f": 6\}'),
    ("thread_binding", "thread", 'for i in T.thread_binding(96, '
     'thread="threadIdx.x"):\n    loc[0] = i', r"get_thread_binding\(0\)"),
    ("call_extern", "dtype", 'v[0] = T.call_extern("f", v[0], '
     'dtype="float32")', r"call_extern"),
    ("reinterpret", "dtype", 'loc[0] = T.reinterpret(v[0], dtype="int32")',
     r"T.reinterpret\(|as int32|int32"),
    ("alloc_barrier", "arrive_count", "b = T.alloc_barrier(arrive_count=128)",
     r"arrivals=\[128\]"),
    ("tma_copy", "barrier", "b = T.alloc_barrier(1)\n"
     "T.tma_copy(A, As, barrier=b)", r"T.tma_copy\(A -> As, b\[0\]"),
    ("mbarrier_wait_parity", "mbarrier", "b = T.alloc_barrier(1)\n"
     "T.mbarrier_wait_parity(mbarrier=b, parity=0)", r"parity\(b\[0\], 0\)"),
    ("mbarrier_wait_parity", "parity", "b = T.alloc_barrier([1, 2])\n"
     "T.mbarrier_wait_parity(b[1], parity=1)", r"parity\(b\[1\], 1\)"),
    ("mbarrier_arrive", "mbarrier", "b = T.alloc_barrier(1)\n"
     "T.mbarrier_arrive(mbarrier=b)", r"arrive\(b\[0\]\)"),
    ("wgmma_gemm", "transpose_B", "T.wgmma_gemm(As, Bs, acc, "
     "transpose_B=True)", r"transpose_B=True"),
    ("wgmma_gemm", "clear_accum", "T.wgmma_gemm(As, Bs, acc, "
     "clear_accum=True)", r"clear_accum=True"),
    ("PersistentTileScheduler", "name", "s = T.PersistentTileScheduler(4, 2, "
     'num_workers=2, name="s")\ns.init(1)\nloc[0] = s.m_idx', r"loc\[0\] = "),
    ("tvm_thread_allreduce", "dtype",
     'T.tvm_thread_allreduce(T.uint32(1), v[0], True, loc[0], '
     'T.get_thread_binding(0), dtype="handle")', r"allreduce\(.*axes=1"),
]
# Keywords of primitives that only other hardware has, or that stand outside a
# kernel's body: tcgen05_gemm, tcgen05_mma_arrive, tcgen05_cp_warpx4,
# tcgen05_gemm_blockscaled, ClusterKernel, SharedBuffer, WSPipeline, WSRole,
# WSSchedule. They are refused by name.
ELSEWHERE = {
    "tcgen05_gemm": "T.tcgen05_gemm(As, Bs, acc, mbar=0)",
    "tcgen05_mma_arrive": "T.tcgen05_mma_arrive(0, arrive_2cta=True)",
    "tcgen05_cp_warpx4": "T.tcgen05_cp_warpx4(As, acc, use_2cta=True)",
    "tcgen05_gemm_blockscaled": "T.tcgen05_gemm_blockscaled(As, Bs, acc)",
    "WSPipeline": "p = T.WSPipeline(depth=2)",
    "WSRole": "r = T.WSRole(warps_lo=0, warps_hi=1)",
    "WSSchedule": "s = T.WSSchedule(num_warps=4)",
}

KERNEL = '''import tilelang.language as T


@T.prim_func
def main(
        A: T.Tensor((64, 64), dtype="float16"),
        C: T.Tensor((64, 64), "float32"),
        P: T.Tensor((64,), "float32"),
):
    with T.Kernel(1, threads=96, prelude="#define X 1") as bx:
        As = T.alloc_shared((64, 64), dtype="float16")
        Bs = T.alloc_shared((64, 64), "float16")
        acc = T.alloc_fragment((64, 64), dtype="float32")
        v = T.alloc_fragment((64,), "float32")
        loc = T.alloc_local((4,), dtype="int32")
%s
        T.copy(acc, C)
'''


class Checker:
    def __init__(self, tilesim, top, work):
        self.tilesim, self.top, self.work = tilesim, top, work
        self.unbuilt = []

    def call(self, *args):
        return subprocess.run([self.tilesim, *args], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def identical(self, name, *args):
        """(path of the dump, why not); the path is None where there is none."""
        first = self.call("dump", *args)
        path = os.path.join(self.work, re.sub(r"\W+", "_", name) + ".ir")
        if first.returncode:
            return None, f"exit {first.returncode}\n{first.stderr}"
        with open(path, "w") as file:
            file.write(first.stdout)
        again = self.call("dump", path)
        if again.returncode or again.stdout != first.stdout:
            return None, f"read back: exit {again.returncode}\n{again.stderr}"
        return path, ""

    def launch(self, program, line):
        defines = [d for item in line.split() for d in ("-D", item)]
        return [os.path.join(self.top, "programs", program["file"]),
                "--kernel", program["kernel"], *defines]

    def dump_of(self, name, program, line):
        return f"{name} {line}", self.identical(
            f"{name} {line}", *self.launch(program, line))[1]

    def run_of(self, name, program, n, line):
        """The dump, run on the same inputs, leaves the program's own bytes."""
        args = self.launch(program, line)
        path, why = self.identical(f"run {name} {line}", *args)
        inputs = os.path.join(self.top, "tests", "data", "programs",
                              f"{name}-{n}.safetensors")
        seen = []
        for n, what in enumerate((args, [path])):
            file = f"{path}.{n}.safetensors"
            done = self.call("run", "-q", "--no-ref", *what, "--in", inputs,
                             "--out", file)
            if why or done.returncode:
                return f"run {name} {line}", why or done.stderr
            with open(file, "rb") as data:
                seen.append(data.read())
        return f"run {name} {line}", "" if seen[0] == seen[1] else "they differ"

    def statement(self, name, text):
        path = os.path.join(self.work, name + ".tile")
        with open(path, "w") as file:
            file.write(KERNEL % "\n".join(" " * 8 + line
                                          for line in text.split("\n")))
        return path

    def keyword(self, primitive, keyword, text, shows):
        name = f"T.{primitive}({keyword}=)"
        path = self.statement(f"{primitive}_{keyword}", text)
        dump, why = self.identical(f"{primitive}_{keyword}", path)
        if dump is None and "is not supported" in why and "exit 4" in why:
            self.unbuilt.append(primitive)
            return name + " # SKIP not built yet", ""
        if dump:
            with open(dump) as file:
                text = file.read().split("\nsource ")[0]
            if not re.search(shows, text):
                why = f"the dump does not show {shows}\n{text}"
        return name, why

    def elsewhere(self, primitive, text):
        done = self.call("dump", self.statement(primitive, text))
        good = done.returncode == 4 and f"T.{primitive}" in done.stderr
        return f"T.{primitive} is refused by name", \
            "" if good else f"exit {done.returncode}\n{done.stderr}"


def jobs(c):
    with open(os.path.join(c.top, "programs", "configs.json")) as file:
        programs = json.load(file)["programs"]
    for name, program in programs.items():
        lines = [line for size in program["sizes"].values() for line in size]
        for target in ["", *program["targets"].values()]:
            for line in dict.fromkeys(lines):
                given = {item.split("=")[0] for item in line.split()}
                rest = [item for item in target.split()
                        if item.split("=")[0] not in given]
                yield c.dump_of, name, program, " ".join([line, *rest])
        for n, line in enumerate(program["sizes"]["small"]):
            yield c.run_of, name, program, n, line
    for row in KEYWORDS:
        yield c.keyword, *row
    for row in ELSEWHERE.items():
        yield c.elsewhere, *row


def main(tilesim, top):
    bad = n = 0
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(tilesim, top, work)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = [pool.submit(*job) for job in jobs(checker)]
            for n, future in enumerate(done, 1):
                name, why = future.result()
                bad += bool(why)
                for line in why.splitlines()[:12]:
                    print("#", line)
                print("not ok" if why else "ok", n, "-", name, flush=True)
    print(f"1..{n}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
