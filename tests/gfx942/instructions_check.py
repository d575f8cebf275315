"""instructions_check.py - runs the rows of instructions.py and compares.

Usage: instructions_check.py PROBE TOP WORK; prints TAP, a line a group of
instructions. It needs clang-19 and llvm-mc-19.
"""
import os
import re
import subprocess
import sys

import numpy as np

import instructions as table
import listing
from instructions import F16, F32, F64, LANES, U32, lanes_of, word64

probe, top, work = sys.argv[1:4]
os.chdir(work)
np.seterr(all="ignore")

OUT_ROWS = 16                       # registers that a kernel stores
READS = [                           # vector to scalar
    ("v_readfirstlane_b32 s24, v2", lambda x: x.u32.a[
        np.argmax(x.exec) if x.exec.any() else 0]),
    ("v_readlane_b32 s24, v2, 17", lambda x: x.u32.a[17]),
    ("v_readlane_b32 s24, v2, s20", lambda x: x.u32.a[int(x.s[0]) & 63]),
]

HEAD = """\
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
"""
KERNEL = """\
.globl k{n}
.p2align 8
.type k{n},@function
k{n}:
 s_load_dwordx4 s[8:11], s[0:1], 0x0
 s_load_dwordx2 s[12:13], s[0:1], 0x10
 v_lshlrev_b32 v1, 2, v0
 s_lshl_b32 s3, s2, 6
 s_lshl_b32 s4, s2, 11
 s_lshl_b32 s5, s2, 12
 s_waitcnt lgkmcnt(0)
 s_add_u32 s10, s10, s3
 s_addc_u32 s11, s11, 0
 s_add_u32 s8, s8, s4
 s_addc_u32 s9, s9, 0
 s_add_u32 s12, s12, s5
 s_addc_u32 s13, s13, 0
 s_load_dwordx8 s[20:27], s[10:11], 0x0
 s_load_dwordx4 s[28:31], s[10:11], 0x20
{loads}
 s_waitcnt vmcnt(0) lgkmcnt(0)
 s_mov_b64 vcc, s[28:29]
 s_cmp_lg_u32 s30, 0
 s_mov_b64 exec, s[26:27]
 {text}
 s_waitcnt vmcnt(0) lgkmcnt(0)
 s_mov_b64 s[34:35], exec
 s_mov_b64 exec, -1
 s_cselect_b32 s36, 1, 0
 v_mov_b32 v10, s24
 v_mov_b32 v11, s25
 v_mov_b32 v12, vcc_lo
 v_mov_b32 v13, vcc_hi
 v_mov_b32 v14, s36
 v_mov_b32 v15, s34
 v_mov_b32 v16, s35
{stores}
 s_endpgm
.size k{n}, .-k{n}
.rodata
.p2align 6
.amdhsa_kernel k{n}
 .amdhsa_user_sgpr_kernarg_segment_ptr 1
 .amdhsa_system_sgpr_workgroup_id_x 1
 .amdhsa_next_free_vgpr 40
 .amdhsa_next_free_sgpr 64
 .amdhsa_group_segment_fixed_size 4096
 .amdhsa_private_segment_fixed_size 64
 .amdhsa_accum_offset 32
 .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.text
"""
NOTE = """\
  - .name: k{n}
    .symbol: k{n}.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 40
    .vgpr_count: 40
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer}}
      - {{.size: 8, .offset: 16, .value_kind: global_buffer}}
"""
LOADS = "\n".join(f" global_load_dword v{2 + r}, v1, s[8:9] offset:{256 * r}"
                  for r in range(8))
STORES = "\n".join(f" global_store_dword v1, v{8 + r}, s[12:13] "
                   f"offset:{256 * r}" for r in range(9))


def write_source(path, lines):
    with open(path, "w") as f:
        f.write(HEAD)
        for n, text in enumerate(lines):
            f.write(KERNEL.format(n=n, text=text.replace("{n}", str(n)),
                                  loads=LOADS, stores=STORES))
        f.write(".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
                "amdhsa.kernels:\n")
        for n in range(len(lines)):
            f.write(NOTE.format(n=n))
        f.write("...\n.end_amdgpu_metadata\n")


# ---- what must come out -------------------------------------------------------

KINDS = {"f32": F32, "f64": F64, "f16": F16}


def registers(row, x, value):
    """The value as the words of v8 and v9, before EXEC."""
    kind, v8, v9 = row.kind, x.v[6].copy(), x.v[7].copy()
    value = np.asarray(value)
    if kind in ("u64", "i64", "f64"):
        value = value.astype({"u64": np.uint64, "i64": np.int64,
                              "f64": F64}[kind]).view(np.uint64)
        return (value & np.uint64(0xffffffff)).astype(U32), (
            value >> np.uint64(32)).astype(U32)
    if kind == "pair":
        value = value.astype(F32).view(U32)
        return value[0], value[1]
    if kind == "halves":
        if value.dtype.itemsize != 2:
            value = value.astype(F16)
        value = np.ascontiguousarray(value).view(np.uint16).astype(U32)
        return value[0] | value[1] << U32(16), v9
    if kind in ("u16", "i16", "f16"):
        if kind == "f16":
            value = value.astype(F16)
        low = np.ascontiguousarray(value).view(np.uint16).astype(U32)
        high = v8 & U32(0xffff0000) if row.high == "keep" else U32(0)
        return low | high, v9
    if kind == "f32":
        return value.astype(F32).view(U32), v9
    return value.astype(np.int64).astype(U32), v9


def float_views(row, words8, words9):
    if row.kind == "f32":
        return [words8.view(F32)]
    if row.kind == "pair":
        return [words8.view(F32), words9.view(F32)]
    if row.kind == "f64":
        return [(words8.astype(np.uint64)
                 | words9.astype(np.uint64) << np.uint64(32)).view(F64)]
    if row.kind in ("f16", "halves"):
        return [(words8 & U32(0xffff)).astype(np.uint16).view(F16),
                (words8 >> U32(16)).astype(np.uint16).view(F16)]
    return []


def close(row, got, want):
    """Equal, both NaN, or as many units apart as the row allows."""
    whole = {2: np.int16, 4: np.int32, 8: np.int64}[got.dtype.itemsize]
    g, w = got.view(whole).astype(object), want.view(whole).astype(object)
    apart = np.array([abs(a - b) for a, b in zip(g, w)])
    return (g == w) | (np.isnan(got) & np.isnan(want)) | (apart <= row.near)


def check_vector(row, x, out):
    want8, want9 = registers(row, x, row.value(x))
    on = np.ones(LANES, bool) if row.kind == "all" else x.exec
    if row.name.startswith(("v_accvgpr", "ds_")):
        on = x.exec
    want8 = np.where(on, want8, x.v[6])
    want9 = np.where(on, want9, x.v[7])
    views = list(zip(float_views(row, out[0], out[1]),
                     float_views(row, want8, want9)))
    if views:
        ok = np.all([close(row, g, w) for g, w in views], 0)
    else:
        ok = (out[0] == want8) & (out[1] == want9)
    if not ok.all():
        i = int(np.argmin(ok))
        return (f"lane {i}: a {x.v[0, i]:08x} {x.v[1, i]:08x} b "
                f"{x.v[2, i]:08x} {x.v[3, i]:08x} c {x.v[4, i]:08x} old "
                f"{x.v[6, i]:08x}: got {out[0, i]:08x} {out[1, i]:08x}, want "
                f"{want8[i]:08x} {want9[i]:08x}")
    if row.carry is not None:
        return check_mask("vcc", out[4:6], row.carry(x) & x.exec)
    return ""


def check_mask(name, words, want):
    got = lanes_of(int(words[0, 0]) | int(words[1, 0]) << 32)
    return "" if (got == want).all() else f"{name} {got ^ want}"


def check_compare(row, x, out):
    text, truth = row
    want = np.asarray(truth(x)) & x.exec
    return check_mask("vcc", out[4:6], want) or check_mask(
        "exec", out[7:9], want if text.startswith("v_cmpx") else x.exec)


def check_scalar(row, x, out):
    a, b, old = word64(x.s, 0), word64(x.s, 2), word64(x.s, 4)
    want, scc = row[1](a, b, int(x.s[10]), old)
    want = old if want is None else want & table.M64
    got = int(out[2, 0]) | int(out[3, 0]) << 32
    # The rows of calls leave scc as they like.
    if "getpc" in row[0]:
        return "" if got == want else f"got {got:x}, want {want:x}"
    if (got, int(out[6, 0])) != (want, scc):
        return (f"a {a:x} b {b:x} scc {x.s[10]} old {old:x}: got {got:x} "
                f"{out[6, 0]}, want {want:x} {scc}")
    return ""


def check_read(row, x, out):
    want = int(row[1](x))
    return "" if int(out[2, 0]) == want else f"{out[2, 0]:x}, want {want:x}"


def check_save(row, x, out):
    a, e = word64(x.s, 0), word64(x.s, 6)
    made = row[1](a, e) & table.M64
    saved = made if "wrexec" in row[0] else e
    got = int(out[2, 0]) | int(out[3, 0]) << 32
    return (f"got {got:x}, want {saved:x}" if got != saved else
            "scc" if int(out[6, 0]) != int(made != 0) else
            check_mask("exec", out[7:9], lanes_of(made)))


def check_memory(row, x, out):
    for r, want in enumerate(row[1](x)):
        if want is not None and (out[r] != want).any():
            i = int(np.argmax(out[r] != want))
            return (f"lane {i} v{8 + r}: got {out[r, i]:08x}, "
                    f"want {want[i]:08x}")
    return ""


SAVES = [(f"s_{name}_saveexec_b64 s[24:25], s[20:21]", f)
         for name, f in table.SAVES.items()]
SAVES += [(f"s_{name}_wrexec_b64 s[24:25], s[20:21]", table.SAVES[name])
          for name in ("andn1", "andn2")]
ROWS = ([(r.text, r, check_vector) for r in table.ROWS]
        + [(r[0], r, check_compare) for r in table.COMPARES]
        + [(r[0], r, check_scalar) for r in table.SCALARS]
        + [(r[0], r, check_read) for r in READS]
        + [(r[0], r, check_save) for r in SAVES]
        + [(r[0], r, check_memory) for r in table.MEMORY])

tests = 0


def report(name, ok, why=""):
    global tests
    tests += 1
    for text in [] if ok else why.splitlines()[:60]:
        print("#", text)
    print(f"{'ok' if ok else 'not ok'} {tests} - {name}", flush=True)


def run_rows():
    v, s = table.make_inputs()
    v.tofile("vector.bin")
    s.tofile("scalar.bin")
    write_source("instructions.s", [text for text, _, _ in ROWS])
    done = subprocess.run(["sh", f"{top}/tests/gfx942/build.sh",
                           "instructions.s", "instructions.hsaco"],
                          capture_output=True, text=True)
    report("the rows assemble", done.returncode == 0, done.stderr)
    done = subprocess.run([probe, "instructions", "instructions.hsaco",
                           "vector.bin", "scalar.bin", "out.bin"],
                          capture_output=True, text=True)
    report("the rows run", done.returncode == 0, done.stdout + done.stderr)
    count, bad = listing.differences(probe, "instructions.hsaco")
    report(f"{count} instructions print as llvm-objdump does", not bad,
           "\n".join(bad))
    out = np.fromfile("out.bin", U32).reshape(
        len(ROWS), table.GROUPS, OUT_ROWS, LANES)
    inputs = [table.Inputs(v[g], s[g]) for g in range(table.GROUPS)]
    bad = {}
    for n, (text, row, check) in enumerate(ROWS):
        for g, x in enumerate(inputs):
            if check is check_memory and g not in row[2]:
                continue
            why = check(row, x, out[n, g])
            if why:
                bad.setdefault(check.__name__, []).append(
                    f"{text}: workgroup {g}: {why}")
                break
    for check in (check_vector, check_compare, check_scalar, check_read,
                  check_save, check_memory):
        count = sum(c is check for _, _, c in ROWS)
        report(f"{count} rows of {check.__name__[6:]} instructions",
               check.__name__ not in bad,
               "\n".join(bad.get(check.__name__, [])))


# What has no result, and a clock.
SILENT = set("""
s_nop s_sleep s_setprio s_wakeup s_icache_inv s_incperflevel s_decperflevel
s_ttracedata s_dcache_inv s_dcache_inv_vol s_dcache_wb s_dcache_wb_vol s_memtime
s_memrealtime v_nop ds_nop buffer_wbl2 buffer_inv buffer_wbinvl1
buffer_wbinvl1_vol""".split())
# Of kernels.cpp, which divides, and waits at barriers.
IN_KERNELS = {"s_waitcnt", "s_barrier", "s_endpgm"} | {
    f"v_div_{part}_{kind}" for part in ("scale", "fmas", "fixup")
    for kind in ("f32", "f64")}


def without_form(name):
    return re.sub(r"_(e32|e64|dpp|sdwa)$", "", name)


def in_kernels():
    """What kernels.cpp becomes, of IN_KERNELS."""
    subprocess.run(["sh", f"{top}/tests/gfx942/build.sh",
                    f"{top}/tests/gfx942/kernels.cpp", "kernels.hsaco"],
                   check=True)
    text = subprocess.run(["llvm-objdump-19", "-d", "kernels.hsaco"],
                          capture_output=True, text=True, check=True).stdout
    return IN_KERNELS & {without_form(line.split()[0])
                         for line in text.splitlines() if line.strip()}


def check_coverage():
    done = subprocess.run([probe, "covered"], capture_output=True, text=True)
    have = SILENT | set(MATRIX) | in_kernels()
    for text, _, _ in ROWS:
        have |= {without_form(part.split()[0]) for part in text.splitlines()
                 if part.strip()}
    covered = done.stdout.split()
    missing = [name for name in covered if name not in have]
    report(f"each of {len(covered)} instructions that are executed has a test",
           not missing, "\n".join(missing))


# ---- v_mfma -------------------------------------------------------------------
# Small whole numbers, so that any order of the sums gives the same. The layout
# is AMD's matrix instruction calculator's, as one formula.

MATRIX = [f"v_mfma_f32_{s}" for s in (
    "16x16x16_f16", "32x32x8_f16", "16x16x4_4b_f16", "32x32x4_2b_f16",
    "4x4x4_16b_f16", "16x16x16_bf16", "32x32x8_bf16", "16x16x4_4b_bf16",
    "32x32x4_2b_bf16", "4x4x4_16b_bf16", "16x16x8_xf32", "32x32x4_xf32",
    "16x16x4_f32", "32x32x2_f32", "16x16x1_4b_f32", "32x32x1_2b_f32",
    "4x4x1_16b_f32")]
MATRIX += [f"v_mfma_f32_{s}_{a}_{b}" for s in ("16x16x32", "32x32x16")
           for a in ("fp8", "bf8") for b in ("fp8", "bf8")]
MATRIX += [f"v_mfma_i32_{s}_i8" for s in (
    "16x16x32", "32x32x16", "16x16x4_4b", "32x32x4_2b", "4x4x4_16b")]
MATRIX += ["v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64"]


def matrix_types():
    import ml_dtypes
    return {"f16": F16, "bf16": ml_dtypes.bfloat16, "xf32": F32, "f32": F32,
            "f64": F64, "i8": np.int8, "fp8": ml_dtypes.float8_e4m3fnuz,
            "bf8": ml_dtypes.float8_e5m2fnuz}


def parse(name):
    m = re.match(r"v_mfma_(\w+?)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_(.+)", name)
    a, *b = m[6].split("_")
    return m[1], *map(int, m.group(2, 3, 4)), int(m[5] or 1), a, (b or [a])[0]


def result_cell(acc, m, blocks, lane, r):
    """row, column and block of a lane's element r of D"""
    if acc == "f64":
        return ((lane // 16, lane % 4, lane // 4 % 4) if m == 4
                else (4 * r + lane // 16, lane % 16, 0))
    if m == 4:
        return r, lane % 4, lane // 4
    if m == 16:
        return 4 * (lane // 16) + r % 4, lane % 16, r // 4
    return 8 * (r // 4 % 4) + 4 * (lane // 32) + r % 4, lane % 32, r // 16


def operand_values(words, kind, m, k, blocks):
    """[block][row][k] of two registers a lane"""
    per = m * k * blocks // 64
    e = np.ascontiguousarray(words.T).view(np.uint8).view(kind)[:, :per]
    out = np.zeros((blocks, m, k))
    for lane in range(LANES):
        for i in range(per):
            out[lane // m % blocks, lane % m,
                per * (lane // (m * blocks)) + i] = e[lane, i]
    return out


def matrix_text(name):
    acc, m, n, k, blocks, a, b = parse(name)
    wide = acc == "f64"
    count = m * n * blocks // 64
    regs = count * (2 if wide else 1)
    size = max(1, m * k * blocks // 64 * {"f16": 16, "bf16": 16, "f64": 64,
               "f32": 32, "xf32": 32}.get(a, 8) // 32)
    span = lambda r, s: f"v[{r}:{r + s - 1}]" if s > 1 else f"v{r}"
    lines = [" s_mov_b64 exec, -1"]
    for r in range(count):
        lines.append(
            f" v_cvt_f64_u32 v[40:41], {r}\n v_add_f64 "
            f"{span(100 + 2 * r, 2)}, v[40:41], v[6:7]" if wide else
            f" v_add_u32 v{100 + r}, {r}, v6" if acc == "i32" else
            f" v_cvt_f32_u32 v40, {r}\n v_add_f32 v{100 + r}, v40, v6")
    lines += [" s_nop 15", f" {name} {span(100, regs)}, {span(2, size)}, "
              f"{span(4, size)}, {span(100, regs)}", " s_nop 15\n s_nop 15"]
    return "\n".join(lines), regs


def matrix_inputs():
    rng = np.random.default_rng(7)
    v = np.zeros((table.GROUPS, 8, LANES), U32)
    for g, kind in enumerate(matrix_types().values()):
        for r in 0, 2:
            small = rng.integers(-4, 5, (LANES, 16)).astype(kind)
            raw = small.view(np.uint8)[:, :8].copy().view(U32)
            v[g, r], v[g, r + 1] = raw[:, 0], raw[:, 1]
        c = rng.integers(-50, 50, LANES)
        name = list(matrix_types())[g]
        if name == "f64":
            pairs = c.astype(F64).view(np.uint64)
            v[g, 4] = pairs & np.uint64(0xffffffff)
            v[g, 5] = pairs >> np.uint64(32)
        else:
            v[g, 4] = (c.astype(np.int32) if name == "i8"
                       else c.astype(F32)).view(U32)
    return v


def run_matrix():
    v = matrix_inputs()
    v.tofile("matrix.bin")
    texts = [matrix_text(name) for name in MATRIX]
    stores = "\n".join(f" global_store_dword v1, v{100 + r}, s[12:13]\n"
                       " s_add_u32 s12, s12, 256\n s_addc_u32 s13, s13, 0"
                       for r in range(32))
    with open("matrix.s", "w") as f:
        f.write(HEAD)
        for n, (text, _) in enumerate(texts):
            kernel = KERNEL.format(n=n, text=text, loads=LOADS, stores=stores)
            f.write(kernel.replace("s_lshl_b32 s5, s2, 12",
                                   "s_lshl_b32 s5, s2, 13").replace(
                "next_free_vgpr 40", "next_free_vgpr 256").replace(
                "accum_offset 32", "accum_offset 256"))
        f.write(".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
                "amdhsa.kernels:\n")
        for n in range(len(texts)):
            f.write(NOTE.format(n=n))
        f.write("...\n.end_amdgpu_metadata\n")
    done = subprocess.run(["sh", f"{top}/tests/gfx942/build.sh", "matrix.s",
                           "matrix.hsaco"], capture_output=True, text=True)
    report("the matrix rows assemble", done.returncode == 0, done.stderr)
    done = subprocess.run([probe, "instructions", "matrix.hsaco", "matrix.bin",
                           "scalar.bin", "matrix.out", "8192"],
                          capture_output=True, text=True)
    report("the matrix rows run", done.returncode == 0, done.stdout)
    out = np.fromfile("matrix.out", U32).reshape(
        len(MATRIX), table.GROUPS, 32, LANES)
    types = list(matrix_types())
    for n, name in enumerate(MATRIX):
        check_matrix(name, out[n], v, types)


def check_matrix(name, out, v, types):
    acc, m, n, k, blocks, a, b = parse(name)
    g, h = types.index(a), types.index(b)
    kinds = matrix_types()
    # With two types the kernel reads A and B of the first type's workgroup as
    # bytes; so does this.
    left = operand_values(v[g, 0:2], kinds[a], m, k, blocks)
    right = operand_values(v[g, 2:4], kinds[b], n, k, blocks)
    product = left @ right.transpose(0, 2, 1)
    bad = ""
    for lane in range(LANES):
        for r in range(m * n * blocks // 64):
            i, j, block = result_cell(acc, m, blocks, lane, r)
            if acc == "f64":
                c = float((v[g, 4:6, lane].copy()).view(F64)[0])
                got = out[g, 2 * r:2 * r + 2, lane].copy().view(F64)[0]
            else:
                kind = np.int32 if acc == "i32" else F32
                c = v[g, 4, lane].view(kind)
                got = out[g, r, lane].view(kind)
            want = product[block, i, j] + float(c) + r
            if got != want and not bad:
                bad = f"lane {lane}, element {r}: got {got}, want {want}"
    report(name, not bad, bad)


run_rows()
check_coverage()
run_matrix()
print(f"1..{tests}")
