"""instructions.py - what single instructions of gfx942 mean, in NumPy.

A row is an instruction and a function of its inputs. Each becomes a kernel of
one assembler file (write_source), which runs for 16 workgroups of one wave:

    v[2:3] a, v[4:5] b, v[6:7] c, v[8:9] what the destination held
    s[20:21] a, s[22:23] b, s[24:25] what the destination held
    vcc, scc and EXEC as they come with the workgroup

and leaves v[8:9], s[24:25], vcc, scc and EXEC. The meanings are AMD's
"CDNA3 Instruction Set Architecture" read by hand.
"""
import numpy as np

GROUPS, LANES = 16, 64
U32, I32, U64, I64 = np.uint32, np.int32, np.uint64, np.int64
F16, F32, F64 = np.float16, np.float32, np.float64

# ---- inputs ------------------------------------------------------------------


def make_inputs():
    """vector[group][register 2..9][lane], scalar[group][word]"""
    rng = np.random.default_rng(942)
    v = rng.integers(0, 2**32, (GROUPS, 8, LANES), dtype=U64).astype(U32)
    for g in 4, 5, 6, 7:                            # ordinary f32
        v[g] = rng.standard_normal((8, LANES)).astype(F32).view(U32)
    for g in 8, 9:                                  # ordinary f64
        pairs = rng.standard_normal((4, LANES)).view(U64)
        v[g, 0::2], v[g, 1::2] = pairs & 0xffffffff, pairs >> np.uint64(32)
    for g in 10, 11:                                # ordinary f16, twice
        v[g] = rng.standard_normal((8, LANES, 2)).astype(F16).view(U32)[..., 0]
    v[12] = rng.integers(0, 40, (8, LANES))
    v[13] = rng.integers(-40, 40, (8, LANES)).astype(I32).view(U32)
    special = np.array([0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                        1, 0x80000001, 0x3f800000, 0xbf800000, 0x7f7fffff,
                        0x00800000, 0x3f000000, 0x4f000000, 0xffffffff,
                        0x7c003c00, 0x8000fc00], U32)
    v[14] = special[rng.integers(0, len(special), (8, LANES))]
    v[15] = special[rng.integers(0, len(special), (8, LANES))]
    s = rng.integers(0, 2**32, (GROUPS, 16), dtype=U64).astype(U32)
    s[4:8] &= 0xff
    s[8, :4] = s[9, :4] = 0
    s[10, :2] = s[10, 2:4]
    s[11, :4] = 0xffffffff
    s[12, :4] = 0x80000000, 0x7fffffff, 1, 0xffffffff
    s[:, 10] &= 1                                   # scc
    s[4:10, 6:8] = 0xffffffff                       # EXEC
    return v, s


class Inputs:
    """One workgroup's registers; a, b, c, old by type: x.f32.a, x.u64.b."""

    def __init__(self, v, s):
        self.v, self.s = v, s
        for name, kind in (("u32", U32), ("i32", I32), ("f32", F32)):
            self.make(name, lambda r, k=kind: v[r].view(k).copy())
        for name, kind in (("u64", U64), ("i64", I64), ("f64", F64)):
            self.make(name, lambda r, k=kind: (
                v[r].astype(U64) | v[r + 1].astype(U64) << np.uint64(32)
            ).view(k))
        for name, kind in (("u16", np.uint16), ("i16", np.int16), ("f16", F16)):
            self.make(name, lambda r, k=kind: (
                v[r] & 0xffff).astype(np.uint16).view(k))
        self.vcc = lanes_of(word64(s, 8))
        self.exec = lanes_of(word64(s, 6))
        self.lane = np.arange(LANES)

    def make(self, name, get):
        part = type("Part", (), {})()
        part.a, part.b, part.c, part.old = map(get, (0, 2, 4, 6))
        setattr(self, name, part)


def word64(s, at):
    return int(s[at]) | int(s[at + 1]) << 32


def lanes_of(mask):
    return np.array([mask >> i & 1 for i in range(LANES)], bool)


# ---- vector rows -------------------------------------------------------------

SIZE = {"u64": 2, "i64": 2, "f64": 2, "pair": 2}
ROWS = []


def operand(letter, first, kind):
    n = SIZE.get(kind, 1)
    return f"{letter}[{first}:{first + n - 1}]" if n > 1 else f"{letter}{first}"


class Row:
    def __init__(self, text, kind, value, near=0, carry=None, high="zero"):
        self.text, self.kind, self.value = text, kind, value
        self.near, self.carry, self.high = near, carry, high
        self.name = text.split()[0]


def vector(name, types, value, **more):
    """types: of the destination and the sources"""
    kinds = types.split()
    sources = [operand("v", 2 + 2 * i, k) for i, k in enumerate(kinds[1:])]
    getters = list(zip(kinds[1:], "abc"))

    def compute(x):
        return value(*[getattr(getattr(x, k), n) for k, n in getters])
    text = f"{name} {operand('v', 8, kinds[0])}, {', '.join(sources)}"
    ROWS.append(Row(text, kinds[0], compute, **more))


def line(text, kind, value, **more):
    """A whole line; the function gets all the inputs."""
    ROWS.append(Row(text, kind, value, **more))


def wide(x):
    return x.astype(F64)


def fma(a, b, c):
    """Rounded once: exact in Python's integers."""
    from fractions import Fraction
    out = np.empty(a.shape, F64)
    for i in range(a.size):
        p, q, r = float(a[i]), float(b[i]), float(c[i])
        plain = F64(p) * F64(q) + F64(r)
        if not np.isfinite([p, q, r]).all():
            out[i] = plain
            continue
        exact = Fraction(p) * Fraction(q) + Fraction(r)
        out[i] = nearest(exact, a.dtype) if exact else plain
    return out.astype(a.dtype)


def nearest(exact, kind):
    from fractions import Fraction
    bits, least = {F16: (11, -24), F32: (24, -149), F64: (53, -1074)}[kind.type]
    top = {F16: 16, F32: 128, F64: 1024}[kind.type]
    sign, exact = (-1 if exact < 0 else 1), abs(exact)
    e = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact < Fraction(2)**e:
        e -= 1
    unit = Fraction(2)**max(e - bits + 1, least)
    n = round(exact / unit)                         # ties to even
    value = n * unit
    if value >= Fraction(2)**top:
        return sign * np.inf
    return sign * float(value)


def minimum(a, b):
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where(
        (a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.minimum(a, b))))


def maximum(a, b):
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where(
        (a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.maximum(a, b))))


def median(a, b, c):
    any_nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    return np.where(any_nan, minimum(minimum(a, b), c),
                    maximum(minimum(a, b), minimum(maximum(a, b), c)))


def flushed(x):
    return np.where(np.abs(x) < F32(2)**-126, np.copysign(F32(0), x), x)


def clipped(x, low, high):
    x = np.where(np.isnan(x), 0, wide(x))
    return np.trunc(np.clip(x, low, high))


for t in "f32", "f64", "f16":
    two, three = f"{t} {t} {t}", f"{t} {t} {t} {t}"
    e32 = "" if t == "f64" else "_e32"
    vector(f"v_add_{t}{e32}", two, lambda a, b: a + b)
    vector(f"v_mul_{t}{e32}", two, lambda a, b: a * b)
    vector(f"v_min_{t}{e32}", two, minimum)
    vector(f"v_max_{t}{e32}", two, maximum)
    vector(f"v_fma_{t}", three, fma, high="keep")
    for name, f in (("trunc", np.trunc), ("ceil", np.ceil),
                    ("floor", np.floor), ("rndne", np.rint)):
        vector(f"v_{name}_{t}_e32", f"{t} {t}", f)
for t in "f32", "f16":
    vector(f"v_sub_{t}_e32", f"{t} {t} {t}", lambda a, b: a - b)
    vector(f"v_subrev_{t}_e32", f"{t} {t} {t}", lambda a, b: b - a)
    vector(f"v_min3_{t}", f"{t} {t} {t} {t}",
           lambda a, b, c: minimum(minimum(a, b), c), high="keep")
    vector(f"v_max3_{t}", f"{t} {t} {t} {t}",
           lambda a, b, c: maximum(maximum(a, b), c), high="keep")
    vector(f"v_med3_{t}", f"{t} {t} {t} {t}", median, high="keep")
vector("v_mul_legacy_f32", "f32 f32 f32",
       lambda a, b: np.where((a == 0) | (b == 0), F32(0), a * b))
line("v_fmac_f32_e32 v8, v2, v4", "f32",
     lambda x: fma(x.f32.a, x.f32.b, x.f32.old))
line("v_fmac_f64_e32 v[8:9], v[2:3], v[4:5]", "f64",
     lambda x: fma(x.f64.a, x.f64.b, x.f64.old))
line("v_fmamk_f32 v8, v2, 0x40490fdb, v4", "f32", lambda x: fma(
    x.f32.a, np.full(LANES, np.pi, F32), x.f32.b))
line("v_fmaak_f32 v8, v2, v4, 0x40490fdb", "f32", lambda x: fma(
    x.f32.a, x.f32.b, np.full(LANES, np.pi, F32)))
for t in "f32", "f64":
    top = np.nextafter(getattr(np, "float" + t[1:])(1), 0)
    vector(f"v_fract_{t}_e32", f"{t} {t}",
           lambda a, top=top: np.minimum(a - np.floor(a), top))
    vector(f"v_frexp_mant_{t}_e32", f"{t} {t}",
           lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
    vector(f"v_frexp_exp_i32_{t}_e32", f"i32 {t}",
           lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I32))
    vector(f"v_ldexp_{t}", f"{t} {t} i32", lambda a, b: np.ldexp(
        a, np.clip(b, -4000, 4000)))
vector("v_ldexp_f16_e32", "f16 f16 i16", lambda a, b: np.ldexp(
    wide(a), np.clip(b, -400, 400).astype(I32)).astype(F16))

# Correctly rounded here; the hardware may be off by a unit in the last place.
for name, f in (("exp", np.exp2), ("log", np.log2), ("rcp", lambda a: 1 / a),
                ("rsq", lambda a: 1 / np.sqrt(a)), ("sqrt", np.sqrt)):
    vector(f"v_{name}_f32_e32", "f32 f32",
           lambda a, f=f: flushed(f(wide(flushed(a))).astype(F32)), near=1)
    vector(f"v_{name}_f16_e32", "f16 f16",
           lambda a, f=f: f(wide(a)).astype(F16), near=1)
    if name in ("rcp", "rsq", "sqrt"):
        vector(f"v_{name}_f64_e32", "f64 f64", f)
vector("v_rcp_iflag_f32_e32", "f32 f32", lambda a: flushed(1 / flushed(a)))
vector("v_exp_legacy_f32_e32", "f32 f32",
       lambda a: flushed(np.exp2(wide(flushed(a))).astype(F32)), near=1)
vector("v_log_legacy_f32_e32", "f32 f32",
       lambda a: np.log2(wide(flushed(a))).astype(F32), near=1)


def turn(f, quarter):
    def compute(a):
        part = wide(flushed(a)) - np.rint(wide(flushed(a)))
        out = f(part * 2 * np.pi)
        return np.where(np.abs(part) == quarter, 0, out).astype(F32)
    return compute


vector("v_sin_f32_e32", "f32 f32", turn(np.sin, 0.5), near=2)
vector("v_cos_f32_e32", "f32 f32", turn(np.cos, 0.25), near=2)

# Conversions.
vector("v_cvt_f32_i32_e32", "f32 i32", lambda a: a.astype(F32))
vector("v_cvt_f32_u32_e32", "f32 u32", lambda a: a.astype(F32))
vector("v_cvt_f64_i32_e32", "f64 i32", lambda a: a.astype(F64))
vector("v_cvt_f64_u32_e32", "f64 u32", lambda a: a.astype(F64))
vector("v_cvt_f64_f32_e32", "f64 f32", lambda a: a.astype(F64))
vector("v_cvt_f32_f64_e32", "f32 f64", lambda a: a.astype(F32))
vector("v_cvt_f16_f32_e32", "f16 f32", lambda a: a.astype(F16))
vector("v_cvt_f32_f16_e32", "f32 f16", lambda a: a.astype(F32))
vector("v_cvt_f16_u16_e32", "f16 u16", lambda a: a.astype(F16))
vector("v_cvt_f16_i16_e32", "f16 i16", lambda a: a.astype(F16))
for t in "f32", "f64":
    vector(f"v_cvt_i32_{t}_e32", f"i32 {t}",
           lambda a: clipped(a, -2.0**31, 2.0**31 - 1).astype(I64).astype(I32))
    vector(f"v_cvt_u32_{t}_e32", f"u32 {t}",
           lambda a: clipped(a, 0, 2.0**32 - 1).astype(U64).astype(U32))
vector("v_cvt_flr_i32_f32_e32", "i32 f32", lambda a: clipped(
    np.floor(wide(a)), -2.0**31, 2.0**31 - 1).astype(I64).astype(I32))
vector("v_cvt_rpi_i32_f32_e32", "i32 f32", lambda a: clipped(
    np.floor(wide(a) + 0.5), -2.0**31, 2.0**31 - 1).astype(I64).astype(I32))
vector("v_cvt_u16_f16_e32", "u16 f16",
       lambda a: clipped(a, 0, 65535).astype(np.uint16))
vector("v_cvt_i16_f16_e32", "i16 f16",
       lambda a: clipped(a, -32768, 32767).astype(np.int16))
for n in range(4):
    vector(f"v_cvt_f32_ubyte{n}_e32", "f32 u32",
           lambda a, n=n: (a >> U32(8 * n) & U32(255)).astype(F32))


def half_bits(x):
    return x.astype(F16).view(np.uint16).astype(U32)


def toward_zero(x):
    """The f16 that is not larger in magnitude."""
    h = x.astype(F16)
    far = np.abs(wide(h)) > np.abs(wide(x))
    return np.where(far, np.nextafter(h, F16(0)), h).astype(F16)


vector("v_cvt_pkrtz_f16_f32", "halves f32 f32",
       lambda a, b: np.stack([toward_zero(a), toward_zero(b)]))
vector("v_cvt_pk_u16_u32", "u32 u32 u32", lambda a, b:
       np.minimum(a, 65535) | np.minimum(b, 65535) << U32(16))
vector("v_cvt_pk_i16_i32", "u32 i32 i32", lambda a, b:
       (np.clip(a, -32768, 32767).view(U32) & U32(0xffff))
       | np.clip(b, -32768, 32767).view(U32) << U32(16))


def fp8(codes, kind):
    import ml_dtypes
    return (codes & 255).astype(np.uint8).view(getattr(ml_dtypes, kind))


def to_fp8(x, kind):
    """Beyond the largest: NaN, 0x80."""
    import ml_dtypes
    t = getattr(ml_dtypes, kind)
    return x.astype(t).view(np.uint8).astype(U32)


for name, kind in ("fp8", "float8_e4m3fnuz"), ("bf8", "float8_e5m2fnuz"):
    vector(f"v_cvt_f32_{name}_e32", "f32 u32",
           lambda a, k=kind: fp8(a, k).astype(F32))
    vector(f"v_cvt_pk_f32_{name}_e32", "pair u32", lambda a, k=kind: np.stack(
        [fp8(a, k).astype(F32), fp8(a >> U32(8), k).astype(F32)]))
    vector(f"v_cvt_pk_{name}_f32", "u16 f32 f32", lambda a, b, k=kind: (
        to_fp8(a, k) | to_fp8(b, k) << U32(8)).astype(np.uint16), high="keep")
    line(f"v_cvt_pk_{name}_f32 v8, v2, v4 op_sel:[0,0,1]", "u32",
         lambda x, k=kind: (x.u32.old & U32(0xffff)) | (to_fp8(x.f32.a, k)
         | to_fp8(x.f32.b, k) << U32(8)) << U32(16))

# Integers.
vector("v_mov_b32_e32", "u32 u32", lambda a: a)
vector("v_mov_b64_e32", "u64 u64", lambda a: a)
vector("v_not_b32_e32", "u32 u32", lambda a: ~a)
for name, f in (("add_u32", lambda a, b: a + b), ("sub_u32", lambda a, b: a - b),
                ("subrev_u32", lambda a, b: b - a), ("and_b32", np.bitwise_and),
                ("or_b32", np.bitwise_or), ("xor_b32", np.bitwise_xor),
                ("xnor_b32", lambda a, b: ~(a ^ b)), ("min_u32", np.minimum),
                ("max_u32", np.maximum),
                ("lshlrev_b32", lambda a, b: b << (a & U32(31))),
                ("lshrrev_b32", lambda a, b: b >> (a & U32(31)))):
    vector(f"v_{name}_e32", "u32 u32 u32", f)
vector("v_add_i32", "u32 u32 u32", lambda a, b: a + b)
vector("v_sub_i32", "u32 u32 u32", lambda a, b: a - b)
vector("v_min_i32_e32", "i32 i32 i32", np.minimum)
vector("v_max_i32_e32", "i32 i32 i32", np.maximum)
vector("v_ashrrev_i32_e32", "i32 u32 i32",
       lambda a, b: b >> (a & U32(31)).astype(I32))


def low24(x):
    return (x.astype(I64) << 40) >> 40


for name, f in (
        ("mul_lo_u32", lambda a, b: a * b),
        ("mul_hi_u32", lambda a, b: (a.astype(U64) * b >> np.uint64(32))
         .astype(U32)),
        ("mul_u32_u24_e32", lambda a, b: (a & U32(0xffffff))
         * (b & U32(0xffffff))),
        ("mul_hi_u32_u24_e32", lambda a, b: (
            (a & U32(0xffffff)).astype(U64) * (b & U32(0xffffff))
            >> np.uint64(32)).astype(U32)),
        ("mul_i32_i24_e32", lambda a, b: (low24(a) * low24(b)).astype(U32)),
        ("mul_hi_i32_i24_e32", lambda a, b: (low24(a) * low24(b) >> 32)
         .astype(U32)),
        ("bfm_b32", lambda a, b: ((U32(1) << (a & U32(31))) - U32(1))
         << (b & U32(31)))):
    vector(f"v_{name}", "u32 u32 u32", f)
vector("v_mul_hi_i32", "i32 i32 i32",
       lambda a, b: (a.astype(I64) * b >> 32).astype(I32))


def field(a, b, c):
    return a >> (b & U32(31)) & ((U32(1) << (c & U32(31))) - U32(1))


def signed_field(a, b, c):
    width = (c & U32(31)).astype(I64)
    raw = field(a, b, c).astype(I64)
    top = np.where(width > 0, 1 << np.maximum(width - 1, 0), 0)
    return ((raw ^ top) - top).astype(I32)


def byte_perm(a, b, c):
    out = np.zeros(LANES, U32)
    for i in range(LANES):
        data = list(int(b[i]).to_bytes(4, "little")
                    + int(a[i]).to_bytes(4, "little"))
        for n in range(4):
            s = int(c[i]) >> 8 * n & 255
            byte = (data[s] if s < 8 else
                    255 * (data[2 * (s - 8) + 1] >> 7) if s < 12 else
                    0 if s == 12 else 255)
            out[i] |= U32(byte << 8 * n)
    return out


def sad(a, b, c):
    return (np.abs(a.astype(I64) - b) + c).astype(U32)


shifted = lambda a, b, by: ((a.astype(U64) << np.uint64(32) | b)
                            >> by.astype(U64)).astype(U32)
for name, f in (
        ("add3_u32", lambda a, b, c: a + b + c),
        ("lshl_add_u32", lambda a, b, c: (a << (b & U32(31))) + c),
        ("add_lshl_u32", lambda a, b, c: (a + b) << (c & U32(31))),
        ("lshl_or_b32", lambda a, b, c: a << (b & U32(31)) | c),
        ("and_or_b32", lambda a, b, c: (a & b) | c),
        ("or3_b32", lambda a, b, c: a | b | c),
        ("xad_u32", lambda a, b, c: (a ^ b) + c),
        ("mad_u32_u24", lambda a, b, c: (a & U32(0xffffff))
         * (b & U32(0xffffff)) + c),
        ("mad_i32_i24", lambda a, b, c: (low24(a) * low24(b) + c).astype(U32)),
        ("bfe_u32", field), ("bfi_b32", lambda a, b, c: (a & b) | (~a & c)),
        ("alignbit_b32", lambda a, b, c: shifted(a, b, c & U32(31))),
        ("alignbyte_b32", lambda a, b, c: shifted(a, b, 8 * (c & U32(3)))),
        ("perm_b32", byte_perm), ("sad_u32", sad),
        ("min3_u32", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
        ("max3_u32", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
        ("med3_u32", lambda a, b, c: np.median(np.stack([a, b, c]), 0)
         .astype(U32))):
    vector(f"v_{name}", "u32 u32 u32 u32", f)
vector("v_bfe_i32", "i32 u32 u32 u32", signed_field)
vector("v_min3_i32", "i32 i32 i32 i32",
       lambda a, b, c: np.minimum(np.minimum(a, b), c))
vector("v_max3_i32", "i32 i32 i32 i32",
       lambda a, b, c: np.maximum(np.maximum(a, b), c))
vector("v_med3_i32", "i32 i32 i32 i32",
       lambda a, b, c: np.median(np.stack([a, b, c]), 0).astype(I32))


def per_lane(f, kind=U32):
    return lambda a: np.array([f(int(v)) & 0xffffffff for v in a], kind)


vector("v_bfrev_b32_e32", "u32 u32",
       per_lane(lambda v: int(f"{v:032b}"[::-1], 2)))
vector("v_ffbh_u32_e32", "u32 u32",
       per_lane(lambda v: 32 - v.bit_length() if v else -1))
vector("v_ffbl_b32_e32", "u32 u32",
       per_lane(lambda v: (v & -v).bit_length() - 1 if v else -1))
vector("v_ffbh_i32_e32", "u32 i32", per_lane(
    lambda v: 32 - (v ^ v >> 31).bit_length() if v not in (0, -1) else -1))
vector("v_bcnt_u32_b32", "u32 u32 u32", lambda a, b: np.array(
    [bin(v).count("1") for v in a], U32) + b)
for part in "lo", "hi":
    line(f"v_mbcnt_{part}_u32_b32 v8, v2, v4", "u32", lambda x, p=part:
         np.array([bin((int(v) << (0 if p == "lo" else 32)) & ((1 << i) - 1)
                       & (0xffffffff << (0 if p == "lo" else 32))).count("1")
                   for i, v in enumerate(x.u32.a)], U32) + x.u32.b)
shift64 = lambda a: (a & U32(63)).astype(U64)
vector("v_lshlrev_b64", "u64 u32 u64", lambda a, b: b << shift64(a))
vector("v_lshrrev_b64", "u64 u32 u64", lambda a, b: b >> shift64(a))
vector("v_ashrrev_i64", "i64 u32 i64", lambda a, b: b >> shift64(a).view(I64))
line("v_lshl_add_u64 v[8:9], v[2:3], 3, v[6:7]", "u64",
     lambda x: (x.u64.a << np.uint64(3)) + x.u64.c)

# 16 bits. Instructions of VOP3 alone keep the upper half.
for name, f in (("add_u16_e32", lambda a, b: a + b),
                ("sub_u16_e32", lambda a, b: a - b),
                ("subrev_u16_e32", lambda a, b: b - a),
                ("mul_lo_u16_e32", lambda a, b: a * b),
                ("min_u16_e32", np.minimum), ("max_u16_e32", np.maximum),
                ("lshlrev_b16_e32", lambda a, b: b << (a & np.uint16(15))),
                ("lshrrev_b16_e32", lambda a, b: b >> (a & np.uint16(15)))):
    vector(f"v_{name}", "u16 u16 u16", f)
for name, f in (("add_i16", lambda a, b: a + b), ("sub_i16", lambda a, b: a - b)):
    vector(f"v_{name}", "u16 u16 u16", f, high="keep")
vector("v_ashrrev_i16_e32", "i16 u16 i16",
       lambda a, b: b >> (a & np.uint16(15)).astype(np.int16))
vector("v_min_i16_e32", "i16 i16 i16", np.minimum)
vector("v_max_i16_e32", "i16 i16 i16", np.maximum)
for name in "u16", "i16", "legacy_u16", "legacy_i16":
    vector(f"v_mad_{name}", "u16 u16 u16 u16", lambda a, b, c: a * b + c,
           high="keep")
vector("v_mad_u32_u16", "u32 u16 u16 u32",
       lambda a, b, c: a.astype(U32) * b + c)
vector("v_mad_i32_i16", "u32 i16 i16 u32",
       lambda a, b, c: (a.astype(I64) * b + c).astype(U32))
vector("v_pack_b32_f16", "u32 u16 u16",
       lambda a, b: a.astype(U32) | b.astype(U32) << U32(16))

# Carries. The second destination is vcc here; inactive lanes give 0.
carry_in = lambda x: x.vcc.astype(U64)
long = lambda v: v.astype(U64)
for name, f in (
        ("v_add_co_u32_e32 v8, vcc, v2, v4",
         lambda x: long(x.u32.a) + long(x.u32.b)),
        ("v_sub_co_u32_e32 v8, vcc, v2, v4",
         lambda x: long(x.u32.a) - long(x.u32.b)),
        ("v_subrev_co_u32_e32 v8, vcc, v2, v4",
         lambda x: long(x.u32.b) - long(x.u32.a)),
        ("v_addc_co_u32_e32 v8, vcc, v2, v4, vcc",
         lambda x: long(x.u32.a) + long(x.u32.b) + carry_in(x)),
        ("v_subb_co_u32_e32 v8, vcc, v2, v4, vcc",
         lambda x: long(x.u32.a) - long(x.u32.b) - carry_in(x)),
        ("v_subbrev_co_u32_e32 v8, vcc, v2, v4, vcc",
         lambda x: long(x.u32.b) - long(x.u32.a) - carry_in(x))):
    line(name, "u32", lambda x, f=f: (f(x) & np.uint64(0xffffffff)).astype(U32),
         carry=lambda x, f=f: f(x) >> np.uint64(32) != 0)
line("v_mad_u64_u32 v[8:9], vcc, v2, v4, v[6:7]", "u64",
     lambda x: long(x.u32.a) * long(x.u32.b) + x.u64.c,
     carry=lambda x: long(x.u32.a) * long(x.u32.b) + x.u64.c < x.u64.c)
line("v_mad_i64_i32 v[8:9], vcc, v2, v4, v[6:7]", "u64", lambda x: (
    x.i32.a.astype(I64) * x.i32.b).view(U64) + x.u64.c)
line("v_cndmask_b32_e32 v8, v2, v4, vcc", "u32",
     lambda x: np.where(x.vcc, x.u32.b, x.u32.a))
line("v_cndmask_b32_e64 v8, -v2, |v4|, vcc", "u32", lambda x: np.where(
    x.vcc, x.u32.b & U32(0x7fffffff), x.u32.a ^ U32(0x80000000)))

# Two halves, two floats.
half = lambda v, n: (v >> U32(16 * n) & U32(0xffff)).astype(np.uint16)


def packed(name, kind, f, sources=2):
    def compute(x):
        parts = [f(*[half(getattr(x.u32, n), h).view(kind)
                     for n in "abc"[:sources]]) for h in (0, 1)]
        return np.stack([p.astype(kind) for p in parts])
    regs = ", ".join(f"v{2 + 2 * i}" for i in range(sources))
    line(f"{name} v8, {regs}", "halves", compute)


packed("v_pk_add_f16", F16, lambda a, b: a + b)
packed("v_pk_mul_f16", F16, lambda a, b: a * b)
packed("v_pk_min_f16", F16, minimum)
packed("v_pk_max_f16", F16, maximum)
packed("v_pk_fma_f16", F16, fma, 3)
for name, f in (("add_u16", lambda a, b: a + b), ("sub_u16", lambda a, b: a - b),
                ("add_i16", lambda a, b: a + b), ("sub_i16", lambda a, b: a - b),
                ("mul_lo_u16", lambda a, b: a * b), ("min_u16", np.minimum),
                ("max_u16", np.maximum),
                ("lshlrev_b16", lambda a, b: b << (a & np.uint16(15))),
                ("lshrrev_b16", lambda a, b: b >> (a & np.uint16(15)))):
    packed(f"v_pk_{name}", np.uint16, f)
packed("v_pk_ashrrev_i16", np.int16, lambda a, b: b >> (a & np.int16(15)))
packed("v_pk_min_i16", np.int16, np.minimum)
packed("v_pk_max_i16", np.int16, np.maximum)
packed("v_pk_mad_u16", np.uint16, lambda a, b, c: a * b + c, 3)
packed("v_pk_mad_i16", np.uint16, lambda a, b, c: a * b + c, 3)
pair = lambda x, r: np.stack([x.v[r].view(F32), x.v[r + 1].view(F32)])
line("v_pk_add_f32 v[8:9], v[2:3], v[4:5]", "pair",
     lambda x: pair(x, 0) + pair(x, 2))
line("v_pk_mul_f32 v[8:9], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1]", "pair",
     lambda x: pair(x, 0)[::-1] * pair(x, 2))
line("v_pk_mul_f32 v[8:9], v[2:3], v[4:5] neg_lo:[1,0] neg_hi:[0,1]", "pair",
     lambda x: -(pair(x, 0) * pair(x, 2)))
line("v_pk_fma_f32 v[8:9], v[2:3], v[4:5], v[6:7]", "pair", lambda x: np.stack(
    [fma(*[pair(x, r)[h] for r in (0, 2, 4)]) for h in (0, 1)]))
line("v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]", "pair",
     lambda x: np.stack([x.v[1], x.v[2]]).view(F32))
line("v_pk_add_f16 v8, v2, v4 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]",
     "halves", lambda x: np.stack([
         half(x.u32.a, 1).view(F16) - half(x.u32.b, 0).view(F16),
         half(x.u32.a, 0).view(F16) + half(x.u32.b, 1).view(F16)]))
mixed = lambda x, n, h: half(getattr(x.u32, n), h).view(F16).astype(F32)
line("v_fma_mix_f32 v8, v2, -v4, |v6| op_sel:[1,0,0] op_sel_hi:[1,1,0]", "f32",
     lambda x: fma(mixed(x, "a", 1), -mixed(x, "b", 0), np.abs(x.f32.c)))
for part, h in ("lo", 0), ("hi", 1):
    line(f"v_fma_mix{part}_f16 v8, v2, v4, v6 op_sel_hi:[1,0,1]", "halves",
         lambda x, h=h: np.stack([
             (half(x.u32.old, n).view(F16) if n != h else
              fma(mixed(x, "a", 0), x.f32.b, mixed(x, "c", 0)).astype(F16))
             for n in (0, 1)]))
for name, kind in ("i32_i8", np.int8), ("u32_u8", np.uint8):
    line(f"v_dot4_{name} v8, v2, v4, v6", "u32", lambda x, k=kind: (
        (x.u32.a.view(k).astype(I64) * x.u32.b.view(k)).reshape(-1, 4).sum(1)
        + x.u32.c).astype(U32))

# Modifiers.
line("v_add_f32_e64 v8, -v2, |v4|", "f32",
     lambda x: -x.f32.a + np.abs(x.f32.b))
line("v_mul_f32_e64 v8, v2, v4 clamp", "f32", lambda x: np.where(
    x.f32.a * x.f32.b > 0, np.minimum(x.f32.a * x.f32.b, 1), 0).astype(F32))
line("v_add_f32_e64 v8, v2, v4 mul:2", "f32",
     lambda x: (x.f32.a + x.f32.b) * F32(2))
line("v_add_f32_e64 v8, v2, v4 div:2", "f32",
     lambda x: (x.f32.a + x.f32.b) * F32(0.5))
line("v_add_f64 v[8:9], -v[2:3], |v[4:5]|", "f64",
     lambda x: -x.f64.a + np.abs(x.f64.b))
line("v_fma_f16 v8, v2, v4, v6 op_sel:[1,0,1,1]", "halves", lambda x: np.stack(
    [half(x.u32.old, 0).view(F16), fma(
        half(x.u32.a, 1).view(F16), half(x.u32.b, 0).view(F16),
        half(x.u32.c, 1).view(F16))]))
line("v_add_u32_sdwa v8, v2, sext(v4) dst_sel:DWORD dst_unused:UNUSED_PAD "
     "src0_sel:BYTE_1 src1_sel:WORD_1", "u32", lambda x: (
         (x.u32.a >> U32(8) & U32(255))
         + (x.u32.b.view(I32) >> I32(16)).view(U32)))
line("v_add_u32_sdwa v8, v2, v4 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE "
     "src0_sel:WORD_0 src1_sel:DWORD", "u32", lambda x: (
         (x.u32.old & U32(0xff00ffff))
         | ((x.u32.a & U32(0xffff)) + x.u32.b & U32(255)) << U32(16)))
line("v_mul_lo_u16_sdwa v8, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
     "src0_sel:BYTE_3 src1_sel:BYTE_0", "u32", lambda x: (
         (x.u32.a >> U32(24)) * (x.u32.b & U32(255)) & U32(0xffff)) << U32(16))
line("v_cvt_f32_fp8_sdwa v8, v2 src0_sel:BYTE_2", "f32", lambda x: fp8(
    x.u32.a >> U32(16), "float8_e4m3fnuz").astype(F32))
line("v_add_f32_e32 v8, 0.5, v4", "f32", lambda x: F32(0.5) + x.f32.b)
line("v_add_f64 v[8:9], v[2:3], 0.5", "f64", lambda x: x.f64.a + 0.5)
line("v_add_f16_e32 v8, 0.5, v4", "f16", lambda x: F16(0.5) + x.f16.b)
line("v_add_u32_e32 v8, 0x12345, v4", "u32", lambda x: U32(0x12345) + x.u32.b)
line("v_add_u32_e32 v8, s20, v4", "u32", lambda x: x.s[0] + x.u32.b)


# Across lanes: DPP. A lane without a source is not written, or reads 0.
def dpp(control, source):
    for bound in "", " bound_ctrl:1":
        def compute(x, bound=bound):
            out = x.u32.old.copy()
            for i in range(LANES):
                s = source(i)
                valid = s is not None and x.exec[s]
                if valid or bound:
                    out[i] = (x.u32.a[s] if valid else 0) + x.u32.b[i]
            return out
        line(f"v_add_u32_dpp v8, v2, v4 {control} row_mask:0xf bank_mask:0xf"
             f"{bound}", "u32", compute)


row = lambda i: i & ~15
dpp("quad_perm:[3,0,2,1]", lambda i: (i & ~3) | (3, 0, 2, 1)[i & 3])
dpp("row_shl:3", lambda i: i + 3 if i % 16 + 3 < 16 else None)
dpp("row_shr:5", lambda i: i - 5 if i % 16 >= 5 else None)
dpp("row_ror:7", lambda i: row(i) | (i - 7) % 16)
dpp("row_mirror", lambda i: row(i) | 15 - i % 16)
dpp("row_half_mirror", lambda i: (i & ~7) | 7 - i % 8)
dpp("row_bcast:15", lambda i: row(i) - 1 if row(i) else None)
dpp("row_bcast:31", lambda i: 31 if i >= 32 else None)
dpp("row_newbcast:9", lambda i: row(i) | 9)
dpp("wave_shl:1", lambda i: i + 1 if i < 63 else None)
dpp("wave_shr:1", lambda i: i - 1 if i else None)
dpp("wave_rol:1", lambda i: (i + 1) % 64)
dpp("wave_ror:1", lambda i: (i - 1) % 64)
line("v_mov_b32_dpp v8, v2 row_ror:1 row_mask:0x5 bank_mask:0x3", "u32",
     lambda x: np.array([
         x.u32.a[row(i) | (i - 1) % 16]
         if 5 >> (i // 16) & 1 and 3 >> (i // 4 % 4) & 1
         and x.exec[row(i) | (i - 1) % 16] else x.u32.old[i]
         for i in range(LANES)], U32))

# The crossbar of shared memory.
line("ds_bpermute_b32 v8, v2, v4", "u32", lambda x: np.array(
    [x.u32.b[s] if x.exec[s] else 0 for s in x.u32.a >> U32(2) & U32(63)], U32))


def permute(x):
    out = np.zeros(LANES, U32)
    for i in range(LANES):
        if x.exec[i]:
            out[int(x.u32.a[i]) >> 2 & 63] = x.u32.b[i]
    return out


line("ds_permute_b32 v8, v2, v4", "u32", permute)
line('ds_swizzle_b32 v8, v2 offset:swizzle(BITMASK_PERM,"10p1i")', "u32",
     lambda x: np.array([x.u32.a[s] if x.exec[s] else 0 for s in (
         (i & 32) | 16 | (i & 4) | 2 | (~i & 1) for i in range(LANES))], U32))
line("ds_swizzle_b32 v8, v2 offset:swizzle(QUAD_PERM,2,2,0,1)", "u32",
     lambda x: np.array([x.u32.a[s] if x.exec[s] else 0 for s in (
         (i & ~3) | (2, 2, 0, 1)[i & 3] for i in range(LANES))], U32))
line("v_writelane_b32 v8, s20, 5", "all", lambda x: np.where(
    x.lane == 5, x.s[0], x.u32.old))
line("v_swap_b32 v8, v2", "u32", lambda x: x.u32.a)

# Accumulators.
line("v_accvgpr_write_b32 a3, v2\n v_accvgpr_mov_b32 a4, a3\n"
     " v_accvgpr_read_b32 v8, a4", "u32", lambda x: np.where(
         x.exec, x.u32.a, x.u32.old))

# ---- comparisons -----------------------------------------------------------------

COMPARES = []
FLOAT_TESTS = "f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru".split()
INT_TESTS = "f lt eq le gt ne ge t".split()


def truth(name, a, b):
    unordered = (a != a) | (b != b)
    plain = {"f": False & (a == a), "lt": a < b, "eq": a == b, "le": a <= b,
             "gt": a > b, "lg": (a < b) | (a > b), "ne": a != b, "ge": a >= b,
             "o": ~unordered, "u": unordered, "tru": (a == a) | True,
             "t": (a == a) | True}
    if name in plain:
        return plain[name]
    return ~plain[name[1:]] if name != "neq" else ~plain["eq"]


for t in "f32", "f64", "f16", "i32", "u32", "i64", "u64", "i16", "u16":
    for name in FLOAT_TESTS if t[0] == "f" else INT_TESTS:
        regs = f"{operand('v', 2, t)}, {operand('v', 4, t)}"
        for x in "", "x":
            COMPARES.append((f"v_cmp{x}_{name}_{t}_e32 vcc, {regs}",
                             lambda i, t=t, name=name: truth(
                                 name, getattr(i, t).a, getattr(i, t).b)))


def classes(kind, bits, mantissa):
    def compute(i):
        u = getattr(i, "u" + kind[1:]).a.astype(U64)
        f = getattr(i, kind).a
        size = np.abs(f)
        least = 2.0 ** (1 - 2 ** (bits - mantissa - 2) + 1)
        quiet = (u >> np.uint64(mantissa - 1) & np.uint64(1)).astype(bool)
        minus = np.signbit(f)
        nan, inf, zero = np.isnan(f), np.isinf(f), f == 0
        tiny = ~zero & (wide(size) < least) if bits < 64 else (
            ~zero & (size < 2.0**-1022))
        normal = ~(nan | inf | zero | tiny)
        tests = [nan & ~quiet, nan & quiet, inf & minus, normal & minus,
                 tiny & minus, zero & minus, zero & ~minus, tiny & ~minus,
                 normal & ~minus, inf & ~minus]
        return np.any([t & (i.u32.b >> U32(n) & U32(1) == 1)
                       for n, t in enumerate(tests)], 0)
    return compute


for t, bits, mantissa in ("f32", 32, 23), ("f64", 64, 52), ("f16", 16, 10):
    for x in "", "x":
        COMPARES.append((f"v_cmp{x}_class_{t}_e32 vcc, {operand('v', 2, t)}, "
                         "v4", classes(t, bits, mantissa)))

# ---- scalar rows -------------------------------------------------------------------

SCALARS = []
M32, M64 = 0xffffffff, 0xffffffffffffffff


def signed(v, bits=32):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


def scalar(text, f):
    """f(a, b, scc, old): 64 bits in, (value or None, scc) out."""
    SCALARS.append((text, f))


def scalar32(name, value, bit):
    scalar(f"{name} s24, s20, s22", lambda a, b, scc, old: (
        lambda d: ((old & ~M32) | d, int(bool(bit(a & M32, b & M32, d, scc)))))(
            value(a & M32, b & M32, scc) & M32))


def scalar64(name, value, second="s[22:23]"):
    scalar(f"{name} s[24:25], s[20:21], {second}", lambda a, b, scc, old: (
        lambda d: (d, int(d != 0)))(value(a, b) & M64))


nonzero = lambda a, b, d, scc: d != 0
same_scc = lambda a, b, d, scc: scc
overflow = lambda s: not -2**31 <= s < 2**31
scalar32("s_add_u32", lambda a, b, c: a + b, lambda a, b, d, c: a + b > M32)
scalar32("s_sub_u32", lambda a, b, c: a - b, lambda a, b, d, c: b > a)
scalar32("s_addc_u32", lambda a, b, c: a + b + c,
         lambda a, b, d, c: a + b + c > M32)
scalar32("s_subb_u32", lambda a, b, c: a - b - c,
         lambda a, b, d, c: b + c > a)
scalar32("s_add_i32", lambda a, b, c: a + b,
         lambda a, b, d, c: overflow(signed(a) + signed(b)))
scalar32("s_sub_i32", lambda a, b, c: a - b,
         lambda a, b, d, c: overflow(signed(a) - signed(b)))
scalar32("s_min_i32", lambda a, b, c: min(signed(a), signed(b)),
         lambda a, b, d, c: signed(a) < signed(b))
scalar32("s_max_i32", lambda a, b, c: max(signed(a), signed(b)),
         lambda a, b, d, c: signed(a) > signed(b))
scalar32("s_min_u32", lambda a, b, c: min(a, b), lambda a, b, d, c: a < b)
scalar32("s_max_u32", lambda a, b, c: max(a, b), lambda a, b, d, c: a > b)
scalar32("s_cselect_b32", lambda a, b, c: a if c else b, same_scc)
scalar("s_cselect_b64 s[24:25], s[20:21], s[22:23]",
       lambda a, b, scc, old: (a if scc else b, scc))
for name, f in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b),
                ("xor", lambda a, b: a ^ b), ("andn2", lambda a, b: a & ~b),
                ("orn2", lambda a, b: a | ~b), ("nand", lambda a, b: ~(a & b)),
                ("nor", lambda a, b: ~(a | b)),
                ("xnor", lambda a, b: ~(a ^ b))):
    scalar32(f"s_{name}_b32", lambda a, b, c, f=f: f(a, b), nonzero)
    scalar64(f"s_{name}_b64", f)
scalar32("s_lshl_b32", lambda a, b, c: a << (b & 31), nonzero)
scalar32("s_lshr_b32", lambda a, b, c: a >> (b & 31), nonzero)
scalar32("s_ashr_i32", lambda a, b, c: signed(a) >> (b & 31), nonzero)
scalar64("s_lshl_b64", lambda a, b: a << (b & 63), "s22")
scalar64("s_lshr_b64", lambda a, b: a >> (b & 63), "s22")
scalar64("s_ashr_i64", lambda a, b: signed(a, 64) >> (b & 63), "s22")
scalar32("s_bfm_b32", lambda a, b, c: ((1 << (a & 31)) - 1) << (b & 31),
         same_scc)
scalar("s_bfm_b64 s[24:25], s20, s22", lambda a, b, scc, old: (
    (((1 << (a & 63)) - 1) << (b & 63)) & M64, scc))
scalar32("s_mul_i32", lambda a, b, c: a * b, same_scc)
scalar32("s_mul_hi_u32", lambda a, b, c: a * b >> 32, same_scc)
scalar32("s_mul_hi_i32", lambda a, b, c: signed(a) * signed(b) >> 32, same_scc)
scalar32("s_absdiff_i32", lambda a, b, c: abs(signed(a) - signed(b)), nonzero)
for n in 1, 2, 3, 4:
    scalar32(f"s_lshl{n}_add_u32", lambda a, b, c, n=n: (a << n) + b,
             lambda a, b, d, c, n=n: (a << n) + b > M32)
scalar32("s_pack_ll_b32_b16", lambda a, b, c: a & 0xffff | b << 16, same_scc)
scalar32("s_pack_lh_b32_b16", lambda a, b, c: a & 0xffff | b & 0xffff0000,
         same_scc)
scalar32("s_pack_hh_b32_b16", lambda a, b, c: a >> 16 | b & 0xffff0000,
         same_scc)


def taken(a, b, bits, sign):
    offset, width = b & (bits - 1), min(b >> 16 & 127, bits)
    v = (a >> offset) & ((1 << width) - 1)
    width = min(width, bits - offset)
    return signed(v, width) if sign and width else v


scalar32("s_bfe_u32", lambda a, b, c: taken(a, b, 32, False), nonzero)
scalar32("s_bfe_i32", lambda a, b, c: taken(a, b, 32, True), nonzero)
scalar64("s_bfe_u64", lambda a, b: taken(a, b, 64, False), "s22")
scalar64("s_bfe_i64", lambda a, b: taken(a, b, 64, True), "s22")


def one(name, bits, f, bit=None, out=32):
    """One source; scc is whether the result is not zero, or stays."""
    source = "s20" if bits == 32 else "s[20:21]"
    to = "s24" if out == 32 else "s[24:25]"
    mask = M32 if out == 32 else M64

    def compute(a, b, scc, old):
        d = f(a & ((1 << bits) - 1)) & mask
        return ((old & ~M32) | d if out == 32 else d,
                int(d != 0) if bit else scc)
    scalar(f"{name} {to}, {source}", compute)


reverse = lambda v, n: int(f"{v:0{n}b}"[::-1], 2)
lowest = lambda v: (v & -v).bit_length() - 1 if v else -1
one("s_mov_b32", 32, lambda a: a)
one("s_mov_b64", 64, lambda a: a, out=64)
one("s_not_b32", 32, lambda a: ~a, True)
one("s_not_b64", 64, lambda a: ~a, True, 64)
one("s_brev_b32", 32, lambda a: reverse(a, 32))
one("s_brev_b64", 64, lambda a: reverse(a, 64), out=64)
for n in 32, 64:
    one(f"s_bcnt0_i32_b{n}", n, lambda a, n=n: n - bin(a).count("1"), True)
    one(f"s_bcnt1_i32_b{n}", n, lambda a: bin(a).count("1"), True)
    one(f"s_ff0_i32_b{n}", n, lambda a, n=n: lowest(~a & ((1 << n) - 1)))
    one(f"s_ff1_i32_b{n}", n, lowest)
    one(f"s_flbit_i32_b{n}", n, lambda a, n=n: n - a.bit_length() if a else -1)
    one("s_flbit_i32" + ("" if n == 32 else "_i64"), n, lambda a, n=n: (
        lambda u: n - u.bit_length() if u else -1)(
            a ^ ((1 << n) - 1 if a >> (n - 1) else 0)))
    one(f"s_quadmask_b{n}", n, lambda a, n=n: sum(
        1 << i for i in range(n // 4) if a >> 4 * i & 15), True, n)
one("s_sext_i32_i8", 32, lambda a: signed(a, 8))
one("s_sext_i32_i16", 32, lambda a: signed(a, 16))
one("s_abs_i32", 32, lambda a: abs(signed(a)), True)
one("s_bitreplicate_b64_b32", 32, lambda a: sum(
    3 << 2 * i for i in range(32) if a >> i & 1), out=64)
scalar("s_cmov_b32 s24, s20", lambda a, b, scc, old: (
    (old & ~M32) | (a if scc else old) & M32, scc))
scalar("s_cmov_b64 s[24:25], s[20:21]",
       lambda a, b, scc, old: (a if scc else old, scc))
for n in 32, 64:
    to = "s24" if n == 32 else "s[24:25]"
    scalar(f"s_bitset0_b{n} {to}, s20", lambda a, b, scc, old, n=n: (
        old & ~(1 << (a & (n - 1))), scc))
    scalar(f"s_bitset1_b{n} {to}, s20", lambda a, b, scc, old, n=n: (
        old | 1 << (a & (n - 1)), scc))
    source = "s20" if n == 32 else "s[20:21]"
    scalar(f"s_bitcmp0_b{n} {source}, s22", lambda a, b, scc, old, n=n: (
        None, int(not a >> (b & (n - 1)) & 1)))
    scalar(f"s_bitcmp1_b{n} {source}, s22", lambda a, b, scc, old, n=n: (
        None, a >> (b & (n - 1)) & 1))
ORDER = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b,
         "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
         "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}
for name, f in ORDER.items():
    scalar(f"s_cmp_{name}_i32 s20, s22", lambda a, b, scc, old, f=f: (
        None, int(f(signed(a), signed(b)))))
    scalar(f"s_cmp_{name}_u32 s20, s22", lambda a, b, scc, old, f=f: (
        None, int(f(a & M32, b & M32))))
    scalar(f"s_cmpk_{name}_i32 s20, -5", lambda a, b, scc, old, f=f: (
        None, int(f(signed(a), -5))))
    scalar(f"s_cmpk_{name}_u32 s20, 0x8007", lambda a, b, scc, old, f=f: (
        None, int(f(a & M32, 0x8007))))
for name in "eq", "lg":
    scalar(f"s_cmp_{name}_u64 s[20:21], s[22:23]",
           lambda a, b, scc, old, f=ORDER[name]: (None, int(f(a, b))))
low = lambda old, v: (old & ~M32) | v & M32
scalar("s_movk_i32 s24, -7", lambda a, b, scc, old: (low(old, -7), scc))
scalar("s_cmovk_i32 s24, -7",
       lambda a, b, scc, old: (low(old, -7) if scc else old, scc))
scalar("s_addk_i32 s24, 0x7ff0", lambda a, b, scc, old: (
    low(old, old + 0x7ff0), int(overflow(signed(old) + 0x7ff0))))
scalar("s_mulk_i32 s24, -3",
       lambda a, b, scc, old: (low(old, signed(old) * -3), scc))
scalar("s_add_u32 s24, s20, 0x89abcdef", lambda a, b, scc, old: (
    low(old, a + 0x89abcdef), int((a & M32) + 0x89abcdef > M32)))
scalar("s_mov_b64 s[24:25], -3", lambda a, b, scc, old: (-3 & M64, scc))
scalar("s_mov_b64 s[24:25], 1.0",
       lambda a, b, scc, old: (0x3ff0000000000000, scc))
scalar("s_mov_b32 m0, 2\n s_movrels_b32 s24, s20",
       lambda a, b, scc, old: (low(old, b), scc))
scalar("s_mov_b32 m0, 4\n s_movreld_b32 s20, s22",
       lambda a, b, scc, old: (low(old, b), scc))
scalar("s_mov_b32 m0, 2\n s_movrels_b64 s[24:25], s[20:21]",
       lambda a, b, scc, old: (b, scc))
scalar("s_mov_b32 m0, 4\n s_movreld_b64 s[20:21], s[22:23]",
       lambda a, b, scc, old: (b, scc))
scalar("s_getreg_b32 s24, hwreg(HW_REG_MODE, 4, 4)",
       lambda a, b, scc, old: (low(old, 15), scc))
scalar("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
       " s_getreg_b32 s24, hwreg(HW_REG_MODE, 4, 4)",
       lambda a, b, scc, old: (low(old, 12), scc))
scalar("s_mov_b32 s24, 1\n s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s24\n"
       " s_getreg_b32 s24, hwreg(HW_REG_MODE, 4, 4)",
       lambda a, b, scc, old: (low(old, 13), scc))
scalar("s_call_b64 s[26:27], .Lskip{n}\n s_nop 0\n.Lskip{n}:\n"
       " s_getpc_b64 s[24:25]\n s_sub_u32 s24, s24, s26\n s_mov_b32 s25, 0",
       lambda a, b, scc, old: (8, 0))
scalar("s_getpc_b64 s[26:27]\n s_add_u32 s26, s26, 16\n"
       " s_addc_u32 s27, s27, 0\n s_swappc_b64 s[28:29], s[26:27]\n"
       " s_mov_b32 s28, 1\n s_sub_u32 s24, s26, s28\n s_mov_b32 s25, 0",
       lambda a, b, scc, old: (4, 0))
scalar(" s_getpc_b64 s[26:27]\n s_add_u32 s26, s26, 20\n"
       " s_addc_u32 s27, s27, 0\n s_mov_b64 s[24:25], 5\n"
       " s_setpc_b64 s[26:27]\n s_mov_b32 s24, 1\n s_cmp_lg_u32 s30, 0",
       lambda a, b, scc, old: (5, scc))
# A bit of s24 for each branch that is not taken: all of the first six are.
scalar(" s_mov_b64 s[26:27], vcc\n s_mov_b64 s[28:29], exec\n"
       " s_mov_b64 s[24:25], 0\n" + "".join(
           f" {before}\n s_cbranch_{kind} 1\n s_bitset1_b32 s24, {i}\n"
           for i, (before, kind) in enumerate([
               ("s_mov_b64 vcc, 0", "vccz"), ("s_mov_b64 vcc, 4", "vccnz"),
               ("s_mov_b64 exec, 0", "execz"), ("s_mov_b64 exec, 4", "execnz"),
               ("s_cmp_eq_u32 s24, -1", "scc0"), ("s_cmp_lg_u32 s24, -1", "scc1"),
               ("s_mov_b64 vcc, 8", "vccz"), ("s_mov_b64 vcc, 0", "vccnz"),
               ("s_mov_b64 exec, 8", "execz"), ("s_mov_b64 exec, 0", "execnz"),
               ("s_cmp_lg_u32 s24, -1", "scc0"), ("s_cmp_eq_u32 s24, -1", "scc1"),
           ])) + " s_branch 1\n s_bitset1_b32 s24, 12\n"
       " s_mov_b64 vcc, s[26:27]\n s_mov_b64 exec, s[28:29]\n"
       " s_cmp_lg_u32 s30, 0", lambda a, b, scc, old: (0xfc0, scc))

# EXEC afterwards, and what was saved.
SAVES = {"and": lambda a, e: a & e, "or": lambda a, e: a | e,
         "xor": lambda a, e: a ^ e, "andn2": lambda a, e: a & ~e,
         "orn2": lambda a, e: a | ~e, "nand": lambda a, e: ~(a & e),
         "nor": lambda a, e: ~(a | e), "xnor": lambda a, e: ~(a ^ e),
         "andn1": lambda a, e: ~a & e, "orn1": lambda a, e: ~a | e}

# ---- memory rows -------------------------------------------------------------------
# Each lane has 16 bytes, which hold v[2:5] first. v20 is where they are, v21
# where those of lane ^ 7 are; every lane is active, v8 and v9 are the result.
MEMORY = []
START = " s_mov_b64 exec, -1\n v_lshlrev_b32 v20, 4, v0\n"
OTHER = " v_xor_b32 v21, 0x70, v20\n"
LDS = START + " ds_write_b128 v20, v[2:5]\n s_waitcnt lgkmcnt(0)\n" + OTHER
GLOBAL = (START + " global_store_dwordx4 v20, v[2:5], s[12:13] offset:3072\n"
          " s_waitcnt vmcnt(0)\n" + OTHER)
FLAT = (" s_add_u32 s40, s12, 3072\n s_addc_u32 s41, s13, 0\n" + START + OTHER
        + " v_mov_b32 v23, s41\n v_add_co_u32 v22, vcc, s40, v20\n"
        " v_addc_co_u32 v23, vcc, 0, v23, vcc\n"
        " flat_store_dwordx4 v[22:23], v[2:5]\n v_mov_b32 v25, s41\n"
        " v_add_co_u32 v24, vcc, s40, v21\n"
        " v_addc_co_u32 v25, vcc, 0, v25, vcc\n"
        " s_waitcnt vmcnt(0) lgkmcnt(0)\n")
BUFFER = (" s_add_u32 s40, s12, 3072\n s_addc_u32 s41, s13, 0\n"
          " s_movk_i32 s42, 0x400\n s_mov_b32 s43, 0x20000\n" + START + OTHER
          + " buffer_store_dwordx4 v[2:5], v20, s[40:43], 0 offen\n"
          " s_waitcnt vmcnt(0)\n")
SCRATCH = START + (" scratch_store_dwordx4 off, v[2:5], off offset:16\n"
                   " s_waitcnt vmcnt(0)\n")
WAIT = "\n s_waitcnt vmcnt(0) lgkmcnt(0)\n"


def data(x, swap):
    """bytes[lane][16] of v[2:5]; with swap those of lane ^ 7"""
    d = np.ascontiguousarray(np.stack(list(x.v[:4]), 1)).view(np.uint8)
    return d[np.arange(LANES) ^ 7] if swap else d


def words_of(part, kind):
    return np.ascontiguousarray(part).view(kind)[:, 0]


def memory(text, value, groups=range(GROUPS)):
    """value(x): v8 and v9, None for any; of these workgroups"""
    MEMORY.append((text, value, groups))


def load_value(size, sign, half, at, swap=True):
    def value(x):
        d, old = data(x, swap), x.v[6]
        if size > 2:
            w = [words_of(d[:, at + i:at + i + 4], U32)
                 for i in range(0, size, 4)]
            w += [np.zeros(LANES, U32)] * (4 - len(w))
            return (w[0] + w[2], w[1] + w[3]) if size > 4 else (w[0], None)
        kinds = {1: (np.uint8, np.int8), 2: (np.uint16, np.int16)}[size]
        v = words_of(d[:, at:at + size], kinds[sign]).astype(I64).astype(U32)
        if half == "lo":
            v = (old & U32(0xffff0000)) | (v & U32(0xffff))
        elif half == "hi":
            v = (old & U32(0xffff)) | v << U32(16)
        return v, None
    return value


def put_load(prefix, line_of, name, size, sign=0, half="", at=0, swap=True):
    if size <= 4:
        text = prefix + line_of(name, "v8") + WAIT
    else:
        n = size // 4
        text = (prefix + line_of(name, f"v[28:{27 + n}]") + WAIT
                + {2: " v_mov_b64 v[8:9], v[28:29]",
                   3: " v_add_u32 v8, v28, v30\n v_mov_b32 v9, v29",
                   4: " v_add_u32 v8, v28, v30\n v_add_u32 v9, v29, v31"}[n])
    memory(text, load_value(size, sign, half, at, swap))


VMEM_LOADS = [("ubyte", 1, 0, ""), ("sbyte", 1, 1, ""), ("ushort", 2, 0, ""),
              ("sshort", 2, 1, ""), ("ubyte_d16", 1, 0, "lo"),
              ("ubyte_d16_hi", 1, 0, "hi"), ("sbyte_d16", 1, 1, "lo"),
              ("sbyte_d16_hi", 1, 1, "hi"), ("short_d16", 2, 0, "lo"),
              ("short_d16_hi", 2, 0, "hi"), ("dword", 4, 0, ""),
              ("dwordx2", 8, 0, ""), ("dwordx3", 12, 0, ""),
              ("dwordx4", 16, 0, "")]
DS_LOADS = [("u8", 1, 0, ""), ("i8", 1, 1, ""), ("u16", 2, 0, ""),
            ("i16", 2, 1, ""), ("u8_d16", 1, 0, "lo"),
            ("u8_d16_hi", 1, 0, "hi"), ("i8_d16", 1, 1, "lo"),
            ("i8_d16_hi", 1, 1, "hi"), ("u16_d16", 2, 0, "lo"),
            ("u16_d16_hi", 2, 0, "hi"), ("b32", 4, 0, ""), ("b64", 8, 0, ""),
            ("b96", 12, 0, ""), ("b128", 16, 0, "")]
SPACES = [
    ("global", GLOBAL, lambda n, d, at:
     f" global_{n} {d}, v21, s[12:13] offset:{3072 + at}", True),
    ("flat", FLAT, lambda n, d, at: f" flat_{n} {d}, v[24:25] offset:{at}",
     True),
    ("buffer", BUFFER, lambda n, d, at:
     f" buffer_{n} {d}, v21, s[40:43], 0 offen offset:{at}", True),
    ("scratch", SCRATCH, lambda n, d, at:
     f" scratch_{n} {d}, off, off offset:{16 + at}", False),
]
for name, size, sign, part in DS_LOADS:
    at = 4 if size == 4 else 2 if size == 2 else 3 if size == 1 else 0
    put_load(LDS, lambda n, d, at=at: f" ds_{n} {d}, v21 offset:{at}",
             f"read_{name}", size, sign, part, at)
for _, prefix, line_of, swap in SPACES:
    for name, size, sign, part in VMEM_LOADS:
        at = 8 if size == 4 else 6 if size == 2 else 5 if size == 1 else 0
        put_load(prefix, lambda n, d, at=at, f=line_of: f(n, d, at),
                 f"load_{name}", size, sign, part, at, swap)
both = lambda a, b: (lambda x: (words_of(data(x, True)[:, a:a + 4], U32),
                                words_of(data(x, True)[:, b:b + 4], U32)))
memory(LDS + " ds_read2_b32 v[8:9], v21 offset0:1 offset1:3" + WAIT,
       both(4, 12))
memory(LDS + " ds_read2_b64 v[28:31], v21 offset0:1 offset1:0" + WAIT
       + " v_sub_u32 v8, v28, v30\n v_sub_u32 v9, v29, v31",
       lambda x: tuple(words_of(data(x, True)[:, 8 + i:12 + i], U32)
                       - words_of(data(x, True)[:, i:4 + i], U32)
                       for i in (0, 4)))
# st64: units of 64 elements. Lanes 16 and more find those 16 and 32 before.
memory(LDS + " v_and_b32 v21, 0x70, v20\n"
       " ds_read2st64_b32 v[8:9], v21 offset0:1 offset1:2" + WAIT,
       lambda x: (data(x, False)[:, :4].copy().view(U32)[
           (np.arange(LANES) & 7) + 16, 0], data(x, False)[:, :4].copy()
           .view(U32)[(np.arange(LANES) & 7) + 32, 0]))
memory(LDS + " v_and_b32 v21, 0x70, v20\n"
       " ds_read2st64_b64 v[28:31], v21 offset0:1 offset1:0" + WAIT
       + " v_mov_b32 v8, v28\n v_mov_b32 v9, v31",
       lambda x: (data(x, False)[:, :4].copy().view(U32)[
           (np.arange(LANES) & 7) + 32, 0], data(x, False)[:, 4:8].copy()
           .view(U32)[np.arange(LANES) & 7, 0]))


def stored(at, source, swap=True, shift=0, size=None):
    """The 16 bytes after `size` bytes of a register went to `at`; folded."""
    def value(x):
        d = data(x, False).copy()
        for i, r in enumerate(source):
            n = size or 4
            v = (x.v[r] >> U32(shift)).copy().view(np.uint8).reshape(-1, 4)
            d[:, at + 4 * i:at + 4 * i + n] = v[:, :n]
        w = np.ascontiguousarray(d).view(U32)
        return w[:, 0] + w[:, 2], w[:, 1] + w[:, 3]
    return value


FOLD = " v_add_u32 v8, v28, v30\n v_add_u32 v9, v29, v31"
STORES_ = [("byte", 1, 0, 1), ("byte_d16_hi", 1, 16, 1), ("short", 2, 0, 1),
           ("short_d16_hi", 2, 16, 1), ("dword", 4, 0, 1),
           ("dwordx2", 4, 0, 2), ("dwordx3", 4, 0, 3), ("dwordx4", 4, 0, 4)]
DS_STORES = [("b8", 1, 0, 1), ("b8_d16_hi", 1, 16, 1), ("b16", 2, 0, 1),
             ("b16_d16_hi", 2, 16, 1), ("b32", 4, 0, 1), ("b64", 4, 0, 2),
             ("b96", 4, 0, 3), ("b128", 4, 0, 4)]


def put_store(prefix, store, load, name, size, shift, count, at):
    regs = "v6" if count == 1 else f"v[6:{5 + count}]"
    memory(prefix + store(name, regs, at) + WAIT + load + WAIT + FOLD,
           stored(at, range(4, 4 + count), shift=shift, size=size))


for name, size, shift, count in DS_STORES:
    put_store(LDS, lambda n, r, at: f" ds_write_{n} v20, {r} offset:{at}",
              " ds_read_b128 v[28:31], v20", name, size, shift, count,
              0 if count > 1 else 4 + size % 4)
for prefix, store, load in (
        (GLOBAL, lambda n, r, at: f" global_store_{n} v20, {r}, s[12:13] "
         f"offset:{3072 + at}",
         " global_load_dwordx4 v[28:31], v20, s[12:13] offset:3072"),
        (FLAT, lambda n, r, at: f" flat_store_{n} v[22:23], {r} offset:{at}",
         " flat_load_dwordx4 v[28:31], v[22:23]"),
        (BUFFER, lambda n, r, at: f" buffer_store_{n} {r}, v20, s[40:43], 0 "
         f"offen offset:{at}",
         " buffer_load_dwordx4 v[28:31], v20, s[40:43], 0 offen"),
        (SCRATCH, lambda n, r, at: f" scratch_store_{n} off, {r}, off "
         f"offset:{16 + at}",
         " scratch_load_dwordx4 v[28:31], off, off offset:16")):
    for name, size, shift, count in STORES_:
        put_store(prefix, store, load, name, size, shift, count,
                  0 if count > 1 else 4 + size % 4)
memory(LDS + " ds_write2_b32 v20, v6, v7 offset0:3 offset1:1" + WAIT
       + " ds_read_b128 v[28:31], v20" + WAIT
       + " v_mov_b32 v8, v31\n v_mov_b32 v9, v29",
       lambda x: (x.v[4], x.v[5]))
memory(LDS + " ds_write2_b64 v20, v[6:7], v[8:9] offset0:1 offset1:0" + WAIT
       + " ds_read_b128 v[28:31], v20" + WAIT + FOLD,
       lambda x: (x.v[4] + x.v[6], x.v[5] + x.v[7]))
memory(LDS + " v_lshlrev_b32 v20, 2, v0\n"
       " ds_write2st64_b32 v20, v6, v7 offset0:0 offset1:1" + WAIT
       + " ds_read_b32 v8, v20 offset:256\n ds_read_b32 v9, v20" + WAIT,
       lambda x: (x.v[5], x.v[4]))
memory(LDS + " v_lshlrev_b32 v20, 3, v0\n"
       " ds_write2st64_b64 v20, v[6:7], v[8:9] offset0:0 offset1:1" + WAIT
       + " ds_read_b32 v8, v20 offset:512\n ds_read_b32 v9, v20 offset:4"
       + WAIT, lambda x: (x.v[6], x.v[5]))
# Out of a buffer: loads give 0, stores do nothing.
memory(BUFFER + " buffer_load_dwordx2 v[8:9], v20, s[40:43], 0 offen "
       "offset:12" + WAIT, lambda x: (
           words_of(data(x, False)[:, 12:16], U32),
           np.append(words_of(data(x, False)[:, :4], U32)[1:], U32(0))))
memory(BUFFER + " v_mov_b32 v8, 5\n"
       " buffer_load_dword v8, v20, s[40:43], 0 offen offset:1024" + WAIT,
       lambda x: (np.zeros(LANES, U32), None))
memory(BUFFER + " s_mov_b32 s44, 32\n"
       " buffer_load_dword v8, off, s[40:43], s44 offset:4" + WAIT,
       lambda x: (np.full(LANES, data(x, False)[2].view(U32)[1]), None))
memory(BUFFER + " s_or_b32 s41, s41, 0x100000\n s_mov_b32 s42, 64\n"
       " v_xor_b32 v22, 7, v0\n"
       " buffer_load_dword v8, v22, s[40:43], 0 idxen offset:8" + WAIT,
       lambda x: (words_of(data(x, True)[:, 8:12], U32), None))
# Loads write in order: one may follow another to its register.
memory(GLOBAL + " global_load_dword v8, v21, s[12:13] offset:3072\n"
       " global_load_dword v8, v20, s[12:13] offset:3072" + WAIT,
       lambda x: (words_of(data(x, False)[:, :4], U32), None))
# Straight to shared memory: M0 and four bytes a lane.
memory(GLOBAL + " s_mov_b32 m0, 64\n global_load_lds_dword v21, s[12:13] "
       "offset:3072\n s_nop 0" + WAIT + " v_lshlrev_b32 v22, 2, v0\n"
       " v_add_u32 v22, 0xc40, v22\n ds_read_b32 v8, v22" + WAIT,
       lambda x: (words_of(data(x, True)[:, :4], U32), None))
memory(BUFFER + " s_mov_b32 m0, 64\n"
       " buffer_load_dword v21, s[40:43], 0 offen offset:4 lds" + WAIT
       + " v_lshlrev_b32 v22, 2, v0\n ds_read_b32 v8, v22 offset:68" + WAIT,
       lambda x: (words_of(data(x, True)[:, 4:8], U32), None))
for name, size, sign in ("ubyte", 1, 0), ("sbyte", 1, 1), ("ushort", 2, 0), (
        "sshort", 2, 1):
    memory(GLOBAL + f" s_mov_b32 m0, 0\n global_load_lds_{name} v21, "
           "s[12:13] offset:3072" + WAIT + " v_lshlrev_b32 v22, 2, v0\n"
           " v_add_u32 v22, 0xc00, v22\n ds_read_b32 v8, v22" + WAIT,
           load_value(size, sign, "", 0))
    memory(SCRATCH + f" s_mov_b32 m0, 64\n scratch_load_lds_{name} off, off "
           "offset:16" + WAIT + " v_lshlrev_b32 v22, 2, v0\n"
           " ds_read_b32 v8, v22 offset:80" + WAIT,
           load_value(size, sign, "", 0, False))
memory(SCRATCH + " s_mov_b32 m0, 64\n scratch_load_lds_dword off, off offset:20"
       + WAIT + " v_lshlrev_b32 v22, 2, v0\n ds_read_b32 v8, v22 offset:84"
       + WAIT, lambda x: (words_of(data(x, False)[:, 4:8], U32), None))

# Atomics: v[6:7] goes to the lane's own bytes; v8 or v[8:9] is what was there,
# then the new value is read back and added.
INT_ATOMICS = {
    "add": lambda m, v: m + v, "sub": lambda m, v: m - v,
    "and": lambda m, v: m & v, "or": lambda m, v: m | v,
    "xor": lambda m, v: m ^ v, "inc": lambda m, v: np.where(m >= v, 0, m + 1),
    "dec": lambda m, v: np.where((m == 0) | (m > v), v, m - 1),
    "swap": lambda m, v: v, "rsub": lambda m, v: v - m,
    "umin": np.minimum, "umax": np.maximum,
    "smin": lambda m, v: np.where(
        m.view("i" + str(m.itemsize)) < v.view("i" + str(v.itemsize)), m, v),
    "smax": lambda m, v: np.where(
        m.view("i" + str(m.itemsize)) > v.view("i" + str(v.itemsize)), m, v),
}


def half_sums(m, v, kind):
    a = np.ascontiguousarray(m).view(np.uint16)
    b = np.ascontiguousarray(v).view(np.uint16)
    if kind == "f16":
        s = (a.view(F16) + b.view(F16)).view(np.uint16)
    else:
        import ml_dtypes
        t = ml_dtypes.bfloat16
        s = (a.view(t).astype(F32) + b.view(t).astype(F32)).astype(t).view(
            np.uint16)
    return s.view(U32)


def atomic_value(f, size, returns):
    def value(x):
        kind = U32 if size == 4 else np.uint64
        d = data(x, False)
        m = words_of(d[:, :size], kind)
        v = words_of(np.ascontiguousarray(np.stack([x.v[4], x.v[5]], 1)).view(
            np.uint8)[:, :size], kind)
        new = np.asarray(f(m, v)).astype(kind)
        out = new + m if returns else new
        if size == 4:
            return out, None
        return (out & np.uint64(M32)).astype(U32), (
            out >> np.uint64(32)).astype(U32)
    return value


def put_atomic(prefix, plain, returning, load, f, size):
    """plain, returning: the two instructions; load: back to v[30:31]"""
    # What is left of a NaN is not said: halves that are ordinary numbers.
    groups = range(10, 13) if "_pk_" in plain else range(GROUPS)
    first, last = ("v30", "v31") if size == 8 else ("v30", "v30")
    memory(prefix + plain + WAIT + load + WAIT
           + (" v_mov_b64 v[8:9], v[30:31]" if size == 8
              else " v_mov_b32 v8, v30"), atomic_value(f, size, False), groups)
    if returning:
        memory(prefix + returning + WAIT + load + WAIT
               + (" v_lshl_add_u64 v[8:9], v[28:29], 0, v[30:31]" if size == 8
                  else " v_add_u32 v8, v28, v30"),
               atomic_value(f, size, True), groups)


def float_atomic(kind, f):
    return lambda m, v: np.asarray(f(m.view(kind), v.view(kind))).astype(
        kind).view(m.dtype)


def put_ds(name, f, size, suffix):
    r = "v[6:7]" if size == 8 else "v6"
    d = "v[28:29]" if size == 8 else "v28"
    l = f" ds_read_b{8 * size} {'v[30:31]' if size == 8 else 'v30'}, v20"
    plain = f" ds_{name}_{suffix} v20, {r}"
    rtn = f" ds_{name}_rtn_{suffix} {d}, v20, {r}"
    if name == "wrxchg":
        plain = rtn
    put_atomic(LDS, plain, rtn, l, f, size)


for size in 4, 8:
    n = 8 * size
    for name, key in (("add", "add"), ("sub", "sub"), ("rsub", "rsub"),
                      ("inc", "inc"), ("dec", "dec")):
        put_ds(name, INT_ATOMICS[key], size, f"u{n}")
    for name in "min", "max":
        put_ds(name, INT_ATOMICS["u" + name], size, f"u{n}")
        put_ds(name, INT_ATOMICS["s" + name], size, f"i{n}")
    for name in "and", "or", "xor":
        put_ds(name, INT_ATOMICS[name], size, f"b{n}")
    put_ds("wrxchg", INT_ATOMICS["swap"], size, f"b{n}")
put_ds("add", float_atomic(F32, lambda a, b: a + b), 4, "f32")
put_ds("min", float_atomic(F32, minimum), 4, "f32")
put_ds("max", float_atomic(F32, maximum), 4, "f32")
put_ds("add", float_atomic(F64, lambda a, b: a + b), 8, "f64")
put_ds("min", float_atomic(F64, minimum), 8, "f64")
put_ds("max", float_atomic(F64, maximum), 8, "f64")
put_ds("pk_add", lambda m, v: half_sums(m, v, "f16"), 4, "f16")
put_ds("pk_add", lambda m, v: half_sums(m, v, "bf16"), 4, "bf16")
# Compare and swap: equal in even lanes.
EVEN = (" v_and_b32 v22, 1, v0\n v_cmp_eq_u32 vcc, 0, v22\n"
        " v_cndmask_b32 v6, v6, v2, vcc\n v_cndmask_b32 v7, v7, v3, vcc\n")


def compared(size):
    def value(x):
        even = np.arange(LANES) % 2 == 0
        low = np.where(even | (x.v[4] == x.v[0]), x.v[6], x.v[0])
        if size == 4:
            return low, None
        same = even | ((x.v[4] == x.v[0]) & (x.v[5] == x.v[1]))
        return np.where(same, x.v[6], x.v[0]), np.where(same, x.v[7], x.v[1])
    return value


for rtn in "", "_rtn":
    memory(LDS + EVEN + f" ds_cmpst{rtn}_b32 {'v28, ' if rtn else ''}v20, v6, "
           "v8" + WAIT + " ds_read_b32 v8, v20" + WAIT, compared(4))
    memory(LDS + EVEN + f" ds_cmpst{rtn}_b64 {'v[28:29], ' if rtn else ''}v20,"
           " v[6:7], v[8:9]" + WAIT + " ds_read_b64 v[8:9], v20" + WAIT,
           compared(8))
for space, prefix, line_of, load in (
        ("global", GLOBAL, lambda n, d, r, x: f" global_{n} {d}v20, {r}, "
         f"s[12:13] offset:3072{x}", lambda n, d: f" global_load_{n} {d}, v20,"
         " s[12:13] offset:3072"),
        ("flat", FLAT, lambda n, d, r, x: f" flat_{n} {d}v[22:23], {r}{x}",
         lambda n, d: f" flat_load_{n} {d}, v[22:23]"),
        ("buffer", BUFFER, lambda n, d, r, x: (
            f" v_mov_b64 v[28:29], v[6:7]\n v_mov_b64 v[30:31], v[8:9]\n"
            f" buffer_{n} {r.replace('6:7', '28:29').replace('6:9', '28:31').replace('v6', 'v28')}"
            f", v20, s[40:43], 0 offen{x}"),
         lambda n, d: f" buffer_load_{n} {d}, v20, s[40:43], 0 offen")):
    def put(name, f, size):
        r = "v[6:7]" if size == 8 else "v6"
        d = "v[28:29], " if size == 8 else "v28, "
        put_atomic(prefix, line_of(name, "", r, ""),
                   line_of(name, d, r, " sc0"),
                   load("dwordx2", "v[30:31]") if size == 8
                   else load("dword", "v30"), f, size)
    for name in ("swap", "add", "sub", "smin", "umin", "smax", "umax", "and",
                 "or", "xor", "inc", "dec"):
        put(f"atomic_{name}", INT_ATOMICS[name], 4)
        put(f"atomic_{name}_x2", INT_ATOMICS[name], 8)
    put("atomic_add_f32", float_atomic(F32, lambda a, b: a + b), 4)
    put("atomic_pk_add_f16", lambda m, v: half_sums(m, v, "f16"), 4)
    if space != "buffer":
        put("atomic_pk_add_bf16", lambda m, v: half_sums(m, v, "bf16"), 4)
    put("atomic_add_f64", float_atomic(F64, lambda a, b: a + b), 8)
    put("atomic_min_f64", float_atomic(F64, minimum), 8)
    put("atomic_max_f64", float_atomic(F64, maximum), 8)
    swap = " v_mov_b32 v22, v6\n v_mov_b32 v6, v8\n v_mov_b32 v7, v22\n"
    if space == "flat":
        swap = swap.replace("v22", "v26")
    even = EVEN.replace("v22", "v26")
    memory(prefix + even + swap + line_of("atomic_cmpswap", "", "v[6:7]", "")
           + WAIT + load("dword", "v8") + WAIT, compared(4))
    swap = (" v_mov_b64 v[26:27], v[6:7]\n v_mov_b64 v[6:7], v[8:9]\n"
            " v_mov_b64 v[8:9], v[26:27]\n")
    memory(prefix + even + swap
           + line_of("atomic_cmpswap_x2", "", "v[6:9]", "") + WAIT
           + load("dwordx2", "v[8:9]") + WAIT, compared(8))
# All lanes at one word.
memory(LDS + " v_mov_b32 v20, 0\n ds_write_b32 v20, v20\n s_nop 0" + WAIT
       + " ds_add_u32 v20, v6" + WAIT + " ds_read_b32 v8, v20" + WAIT,
       lambda x: (np.full(LANES, x.v[4].astype(np.uint64).sum()
                          & np.uint64(M32)).astype(U32), None))

# Scalar memory: the group's own inputs lie at s[10:11].
for n in 1, 2, 4, 8:
    name = "s_load_dword" + (f"x{n}" if n > 1 else "")
    regs = f"s[40:{39 + n}]" if n > 1 else "s40"
    memory(f" s_mov_b64 exec, -1\n {name} {regs}, s[10:11], 0x4" + WAIT
           + f" v_mov_b32 v8, s40\n v_mov_b32 v9, s{39 + n}",
           lambda x, n=n: (np.full(LANES, x.s[1]), np.full(LANES, x.s[n])))
    memory(f" s_mov_b64 exec, -1\n s_mov_b32 s44, s10\n s_mov_b32 s45, s11\n"
           " s_mov_b32 s46, 64\n s_mov_b32 s47, 0x20000\n"
           f" s_buffer_{name[2:]} {regs.replace('40', '48').replace(str(39 + n), str(47 + n)) if n > 1 else 's48'}, s[44:47], 0x8"
           + WAIT + f" v_mov_b32 v8, s48\n v_mov_b32 v9, s{47 + n}",
           lambda x, n=n: (np.full(LANES, x.s[2]), np.full(LANES, x.s[1 + n])))
for name in "s_load_dwordx16 s[40:55], s[10:11], 0x0", (
        "s_buffer_load_dwordx16 s[40:55], s[56:59], 0x0"):
    memory(" s_mov_b64 exec, -1\n s_mov_b64 s[56:57], s[10:11]\n"
           f" s_mov_b32 s58, 64\n s_mov_b32 s59, 0x20000\n {name}" + WAIT
           + " v_mov_b32 v8, s43\n v_mov_b32 v9, s55",
           lambda x: (np.full(LANES, x.s[3]), np.full(LANES, x.s[15])))
memory(" s_mov_b64 exec, -1\n s_mov_b32 s40, 12\n"
       " s_load_dword s41, s[10:11], s40 offset:0x4" + WAIT
       + " v_mov_b32 v8, s41", lambda x: (np.full(LANES, x.s[4]), None))
# A register that M0 moves.
memory(" s_mov_b64 exec, -1\n s_mov_b32 s40, 3\n"
       " s_set_gpr_idx_on s40, gpr_idx(SRC0)\n v_mov_b32 v8, v2\n"
       " s_set_gpr_idx_mode gpr_idx(DST)\n s_set_gpr_idx_idx s30\n"
       " s_set_gpr_idx_off\n v_mov_b32 v9, v2",
       lambda x: (x.v[3], x.v[0]))
