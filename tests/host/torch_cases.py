# torch_cases.py - what is compared with torch: expressions, inputs, tolerances.
#
# case("a + b", "a:f16=3,4/n@t", "b=4") gives one case: the inputs are a
# float16 tensor of shape [3, 4] with random values of domain n, transposed,
# and b of the case's dtype. The body is an expression or statements that end
# in `return`. `tol` is in units in the last place of the result; 0 is
# equality of the bits. Where tolerances come from:
#   0   moved or rounded once: both must give the same. Sums and products are
#       taken of quarters, which every order of summation gives exactly.
#   1   computed in float32 or better and rounded once, on both sides, to a
#       16-bit type: the two roundings can fall on different sides.
#   4   a transcendental function: torch's vector functions promise 1 ulp,
#       libm's float ones up to 2, ours 2.
#   (k, scale)  results of several steps, which torch rounds one by one and we
#       once: k ulp, of a number as large as `scale` at least, which is what the
#       steps are about where they cancel. Of softmax and its relatives, of
#       gelu (1 + erf), of attention's weighted sums. k is about the number of
#       rounded steps.
#   EQUAL   equal, but for the sign of zero, which depends on the first term.
import re

from tensors import FLOATS, FP8, INTS

ALL = ["bool"] + INTS + FLOATS
NUMBERS = INTS + FLOATS
SIGNED = ["i8", "i16", "i32", "i64"] + FLOATS
SHAPES = ["7", "", "0", "2,3", "3,4@t", "2,1,3@e", "4,5@s", "2,0,3", "5,1,2@t"]

EQUAL = (0, 1)
CASES = []
_turn = [0]


def next_shape():
    _turn[0] += 1
    return SHAPES[_turn[0] % len(SHAPES)]


def parse_input(text, dtype):
    m = re.fullmatch(r"(\w+)(?::(\w+))?=([\d,]*)(?:/([^@]+))?(?:@(\w+))?", text)
    if not m:
        raise SystemExit(f"bad input '{text}'")
    name, own, shape, domain, layout = m.groups()
    return (name, own or dtype, [int(x) for x in shape.split(",") if x],
            domain or "n", layout or "")


def case(body, *inputs, dtype="f32", tol=0):
    CASES.append({"id": f"{len(CASES)}", "body": body, "tol": tol,
                  "dtype": dtype,
                  "inputs": [parse_input(i, dtype) for i in inputs]})


def each(dtypes, body, *inputs, tol=0):
    """One case per dtype; tol may be a function of the dtype."""
    for t in dtypes:
        case(body, *inputs, dtype=t, tol=tol(t) if callable(tol) else tol)


def sized(spec):
    """'a/n' with the next shape."""
    name, _, domain = spec.partition("/")
    shape, _, layout = next_shape().partition("@")
    return f"{name}={shape}/{domain or 'n'}" + (f"@{layout}" if layout else "")


def unary(dtypes, body, domain="n", tol=0, times=2):
    for t in dtypes:
        for _ in range(times):
            case(body, sized(f"a/{domain}"), dtype=t,
                 tol=tol(t) if callable(tol) else tol)


def transcendental(t):
    return 1 if t in ("f16", "bf16") else 4


def composed(t):
    return (2 if t in ("f16", "bf16") else 8, 1)


def attention(t):
    return (4 if t in ("f16", "bf16") else 16, 2)


# ---- elementwise, one operand ----------------------------------------------------

for f, domain in [("exp", "n"), ("exp2", "n"), ("expm1", "n"), ("log", "pos"),
                  ("log2", "pos"), ("log10", "pos"), ("log1p", "pos"),
                  ("sqrt", "pos"), ("rsqrt", "pos"), ("sin", "far"),
                  ("cos", "far"), ("tan", "n"), ("asin", "unit"),
                  ("acos", "unit"), ("atan", "n"), ("sinh", "n"),
                  ("cosh", "n"), ("tanh", "n"), ("sigmoid", "n"),
                  ("erf", "n")]:
    unary(ALL, f"torch.{f}(a)", domain, transcendental, times=1)
    unary(FLOATS, f"a.{f}()", "special" if f not in ("sin", "cos", "tan",
                                                     "acos")
          else domain, transcendental, times=1)

for f in ["abs", "sign", "neg"]:
    unary(NUMBERS, f"a.{f}()")
    unary(FLOATS, f"torch.{f}(a)", "special", times=1)
for f in ["floor", "ceil", "trunc", "round"]:
    unary(NUMBERS, f"torch.{f}(a)", times=1)
    unary(FLOATS, f"a.{f}()", "special", times=1)
case("torch.round(a)", "a=8/q")
for f in ["isnan", "isinf", "isfinite"]:
    unary(ALL, f"torch.{f}(a)", "special", times=1)
unary(FLOATS, "torch.nan_to_num(a)", "special", times=1)
unary(FLOATS, "torch.nan_to_num(a, nan=1.5, posinf=2.0, neginf=-2.0)",
      "special", times=1)
unary(NUMBERS, "-a", times=1)
unary(["bool"] + INTS, "~a", times=1)
unary(["bool"] + INTS, "a.bitwise_not()", times=1)
unary(ALL, "torch.logical_not(a)", "bits", times=1)
unary(FLOATS + ["i32"], "torch.reciprocal(a)", "nz", times=1)
unary(NUMBERS, "torch.square(a)", "i", times=1)
unary(["bool"], "-a", times=1)
unary(FLOATS, "~a", times=1)
unary(["bool"], "abs(a)", times=1)
unary(["i32", "f16"], "abs(a)", times=1)

# ---- two operands --------------------------------------------------------------------

PAIRS = [("3,4", "3,4"), ("3,4@t", "4"), ("2,1,3", "4,1"), ("", "3"),
         ("3", ""), ("", ""), ("2,0", "1,1"), ("2,3@e", "2,3@s"), ("5", "1")]


def binary(dtypes, body, domain="n", other=None, tol=0, times=2):
    for t in dtypes:
        for _ in range(times):
            _turn[0] += 1
            x, y = PAIRS[_turn[0] % len(PAIRS)]
            spec = []
            for name, shape, d in (("a", x, domain), ("b", y, other or domain)):
                shape, _, layout = shape.partition("@")
                spec.append(f"{name}={shape}/{d}"
                            + (f"@{layout}" if layout else ""))
            case(body, *spec, dtype=t, tol=tol(t) if callable(tol) else tol)


for op in ["+", "*"]:
    binary(ALL, f"a {op} b")
binary(NUMBERS, "a - b")
binary(["bool"], "a - b", times=1)
binary(ALL, "a / b", "n", "nz")
binary(NUMBERS, "a // b", "n", "nz")
binary(FLOATS, "a // b", "special", "nz", times=1)
binary(NUMBERS, "a % b", "n", "nz")
binary(FLOATS, "a % b", "special", "nz", times=1)
binary(FLOATS, "a // b", "q", "i", times=2)
binary(FLOATS, "a % b", "q", "i", times=2)
binary(INTS, "torch.floor_divide(a, b)", "i", "nz", times=1)
binary(INTS, "torch.remainder(a, b)", "i", "nz", times=1)
binary(NUMBERS, "torch.fmod(a, b)", "n", "nz", times=1)
binary(NUMBERS, "torch.div(a, b, rounding_mode='floor')", "n", "nz", times=1)
binary(NUMBERS, "torch.div(a, b, rounding_mode='trunc')", "n", "nz", times=1)
binary(FLOATS, "a ** b", "pos", "n", tol=transcendental, times=1)
binary(["i32", "i64", "u8"], "a ** abs(b)", "i", times=1)
for op in ["==", "!=", "<", "<=", ">", ">="]:
    binary(ALL, f"a {op} b", "i", times=1)
    binary(FLOATS, f"a {op} b", "special", times=1)
for op in ["&", "|", "^"]:
    binary(["bool"] + INTS, f"a {op} b", times=1)
binary(["f32"], "a & b", times=1)
for op in ["<<", ">>"]:
    binary(["i32", "i64", "u8"], f"a {op} b", "n", "<4", times=1)
for f in ["maximum", "minimum", "fmax", "fmin"]:
    binary(ALL, f"torch.{f}(a, b)", times=1)
    binary(FLOATS, f"torch.{f}(a, b)", "special", "n", times=1)
for f in ["logical_and", "logical_or", "logical_xor"]:
    binary(ALL, f"torch.{f}(a, b)", "bits", times=1)
binary(FLOATS, "torch.atan2(a, b)", tol=transcendental, times=1)
binary(FLOATS, "torch.logaddexp(a, b)", tol=composed, times=1)
binary(NUMBERS, "torch.add(a, b, alpha=3)", "i", times=1)
binary(FLOATS, "torch.sub(a, b, alpha=0.5)", "q", times=1)
binary(FLOATS, "torch.lerp(a, b, 0.25)", "q", times=1)
binary(FLOATS, "torch.isclose(a, b)", "i", times=1)
binary(FLOATS, "torch.mul(a, b)", "special", "n", times=1)

# Dtypes of results: every pair, with dimensions and without.
TYPES = ["bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]
for x in TYPES:
    for y in TYPES:
        case("return a + b, a * c, c + a, c * d, torch.where(a > 0, a, b)",
             f"a:{x}=2/bits", f"b:{y}=2/bits", f"c:{y}=/bits",
             f"d:{x}=/bits")
    case("return a + 1, a + 1.5, a * True, 2 - (a + 0), 1 / (a + 1), a ** 2",
         f"a:{x}=3/bits")
    case("return a == 1, a < 0.5, a >= True, torch.maximum(a, a), a // 2, a % 2",
         f"a:{x}=3/bits")
    case("return c + 1, c + 1.5, c / 2, c * True, c ** 2", f"c:{x}=/bits")
    case("return a.sum(), a.cumsum(0), a.prod(), a.max(), a.any(), a.all()",
         f"a:{x}=3/bits")
for x in FLOATS:
    case("return a * 0.1, a + 0.1, a - 0.3, a / 3.0, 0.1 * a, 1.0 / a",
         f"a:{x}=6/nz")
    case("return a == 0.1, a > 0.1, a <= 0.1, a != 0.1",
         f"a:{x}=6/unit")
    case("return (a * 0 + 0.1) == 0.1, (a * 0 + 0.3) >= 0.3", f"a:{x}=2/i")
    case("return a ** 0.5, a ** 3, a ** -1, a ** -0.5, a ** 2.0, 2 ** a",
         f"a:{x}=6/pos", tol=transcendental(x))
    case("return torch.maximum(a, b), torch.clamp(a, 0.1, 0.7), a.clamp(min=0),"
         " a.clamp(max=b)", f"a:{x}=6/unit", f"b:{x}=6/unit")
for x in INTS:
    case("return a.clamp(-2, 2), a.clamp(min=0), torch.clamp(a, max=1.5),"
         " a.clip(-1, 1)", f"a:{x}=6/i")
case("return a // 0", "a:i32=3/i")
case("return a % b", "a:i32=3/i", "b:i32=3/<1")
case("return a ** -1", "a:i32=3/i")
case("return a / 2, a / b, 7 / a, 7 // a, 7 % a", "a:i32=4/nz", "b:i32=4/nz")
case("return a + b, a * b", "a:f16=3", "b:bf16=3")
case("a + b", "a=2,3", "b=4")
case("a + b", "a=2,3", "b=2,4")
case("a + 'x'", "a=2")
case("a + None", "a=2")

# ---- in place -----------------------------------------------------------------------

each(NUMBERS, "a += b; return a", "a=3,4/i", "b=4/i")
each(NUMBERS, "c = a; c *= 2; return a", "a=3,4/i@t")
each(FLOATS, "a /= b; return a", "a=3,4/n", "b=3,4/nz")
each(["i32"], "a /= b; return a", "a=3,4/n", "b=3,4/nz")
each(["i32"], "a += 1.5; return a", "a=3/n")
each(["bool"], "a += 1; return a", "a=3")
each(FLOATS, "a -= b; return a", "a=3,4/n@s", "b=4/n")
each(ALL, "a.fill_(1); return a", "a=2,3@t")
each(ALL, "a.zero_(); return a", "a=2,3@s")
each(NUMBERS, "b = a[1]; b.add_(10); return a, b", "a=3,4/i")
each(NUMBERS, "return a.add_(b), a.mul_(2), a.sub_(1), a", "a=3/i", "b=3/i")
each(FLOATS, "a.clamp_(-1, 1); return a", "a=6/n")
each(FLOATS, "a.exp_(); return a", "a=6/n", tol=transcendental)
each(ALL, "a.copy_(b); return a", "a=3,4", "b:f32=4/i")
each(ALL, "a.copy_(b); return a", "a=3,4@t", "b:i64=3,4/i")
case("a.copy_(b)", "a=3", "b=4")
case("a.add_(b)", "a=3", "b=2,3")
case("b = a.expand(2, 3); b.add_(1); return a", "a=3")
case("b = a.expand(2, 3).clone(); b.add_(1); return a, b", "a=3")
case("b = a.repeat_interleave(2, 0); b += 1; return a, b", "a=1,3")
case("b = a.repeat_interleave(2, 0); a += 1; return a, b", "a=1,3")
case("b = a.repeat_interleave(3, 0); c = b.t(); b += 1; c[0, 0] = 9;"
     "return a, b, c", "a=1,3")
case("b = a.repeat(3, 1); c = b[1:]; a.zero_(); return a, b, c", "a=1,3")
case("b = a.expand(2, 3).contiguous(); a.zero_(); return a, b", "a=3")
case("a[0] += 5; return a", "a=2,3")
case("a[:, 1] *= 2; return a", "a:i32=2,3/i")
each(FLOATS + INTS, "a.masked_fill_(m, 7); return a", "a=3,4/i", "m:bool=3,4")
each(FLOATS, "a.masked_fill_(m, float('-inf')); return a", "a=3,4/i",
     "m:bool=4")

# ---- where, masked_fill -----------------------------------------------------------------

each(ALL, "return torch.where(m, a, b)", "m:bool=3,4", "a=3,4", "b=4")
each(ALL, "return torch.where(m, a, 0), torch.where(m, 1.5, a)", "m:bool=3,1",
     "a=3,4")
case("return torch.where(m, 1, 0), torch.where(m, 1.0, 2), torch.where(m, True,"
     " False)", "m:bool=4")
case("return torch.where(m), torch.where(a)", "m:bool=3,4", "a:i32=5/bits")
case("return torch.where(m)", "m:bool=")
case("return torch.where(m)", "m:bool=0,3")
case("return torch.where(m, a, b)", "m:f32=3", "a=3", "b=3")
case("return a.where(m, b)", "m:bool=3", "a=3", "b=3")
case("return torch.where(m, a, b)", "m:bool=3", "a:f16=3", "b:f64=")
case("return torch.where(m, a, b)", "m:bool=3", "a:i32=3", "b:f16=")
each(ALL, "return a.masked_fill(m, 1), a.masked_fill(m == False, 0)", "a=3,4",
     "m:bool=3,4")
each(FLOATS, "return a.masked_fill(m, float('-inf'))", "a=2,3,4@t", "m:bool=3,1")
each(FLOATS, "return a.masked_fill(m, b), a.masked_fill(m, 2)", "a=3,4",
     "m:bool=", "b:f64=")
case("a.masked_fill(m, 1)", "a=3", "m:f32=3")
case("a.masked_fill(m, b)", "a=3", "m:bool=3", "b=3")
case("a.masked_fill(m, 1)", "a=3", "m:bool=2,3")

# ---- casts ---------------------------------------------------------------------------

for x in TYPES:
    for y in TYPES:
        case(f"a.to(torch.{dict(u8='uint8', i8='int8', i16='int16', i32='int32', i64='int64', f16='float16', bf16='bfloat16', f32='float32', f64='float64', bool='bool')[y]})",
             f"a:{x}=9/q")
for x in ["f16", "bf16", "f32", "f64"]:
    for y in FP8:
        word = dict(e4m3="float8_e4m3fn", e5m2="float8_e5m2",
                    e4m3z="float8_e4m3fnuz", e5m2z="float8_e5m2fnuz")[y]
        case(f"return a.to(torch.{word}), (a * 100).to(torch.{word}),"
             f" (b * 30).to(torch.{word})", f"a:{x}=12/special", f"b:{x}=24/far")
        case("return a.float(), a.to(torch.float16), a.to(torch.bfloat16)",
             f"a:{y}=12/far")
case("return a.float(), a.double(), a.half(), a.bfloat16(), a.int(), a.long(),"
     " a.short(), a.char(), a.byte(), a.bool()", "a:i32=6/<100")
case("return a.type(torch.float16), a.type_as(b), a.to(b), a.to('cpu'),"
     " a.to(torch.float64, copy=True)", "a=3", "b:f16=2")
case("return a.to(dtype=torch.int32), a.to('cpu', torch.float16)", "a=3/q")
case("return a.item(), a.tolist()", "a=1/q")
case("return a.item(), a.tolist()", "a:i64=/big")
case("return a.tolist()", "a:bool=2,2")
case("return a.item()", "a=2")
case("return a.view(torch.int16), a.view(torch.int32)", "a:f16=2,4")
case("return a.view(torch.uint8)", "a=3,4@t")
case("return a.view(torch.float64)", "a:f32=3")
case("return a.clone(), a.detach(), a.contiguous(), a.cpu()", "a=3,4@t")
case("return bool(a), int(a), float(a)", "a:i32=/pos")
case("return bool(a)", "a=2")
case("return float(a)", "a=2")

# ---- reductions -----------------------------------------------------------------------

REDUCE_SHAPES = ["3,4", "2,3,4@t", "3,4@s", "1,5", "2,3,4@e"]
for i, (f, dtypes, domain, tol) in enumerate([
        ("sum", ALL, "q", 0), ("mean", FLOATS, "q", 1), ("prod", NUMBERS, "i", 0),
        ("amax", ALL, "n", 0), ("amin", ALL, "n", 0), ("any", ALL, "bits", 0),
        ("all", ALL, "bits", 0)]):
    for j, t in enumerate(dtypes):
        shape, _, layout = REDUCE_SHAPES[(i + j) % 5].partition("@")
        spec = f"a={shape}/{domain}" + (f"@{layout}" if layout else "")
        case(f"return a.{f}(), torch.{f}(a, 0), a.{f}(dim=-1, keepdim=True)",
             spec, dtype=t, tol=tol)
        if f != "prod":
            case(f"return a.{f}((0, 1)), a.{f}(dim=[1], keepdim=True)", spec,
                 dtype=t, tol=tol)
    case(f"return a.{f}()", f"a=/{domain}", tol=tol)
for f in ["sum", "mean", "prod", "any", "all"]:
    case(f"return a.{f}(), a.{f}(0), a.{f}(1)", "a=2,0")
for f in ["amax", "amin", "max", "min", "argmax"]:
    case(f"return a.{f}()", "a=2,0")
    case(f"return a.{f}(dim=0)", "a=2,0")
    case(f"return a.{f}(dim=1)", "a=2,0")
each(FLOATS, "return a.sum(dtype=torch.float64), a.sum(1, dtype=torch.float32),"
     " torch.sum(a, dim=0, dtype=torch.int32)", "a=3,4/q")
each(INTS, "return a.sum(dtype=torch.int32), a.sum(0, dtype=torch.float16),"
     " a.sum(dtype=torch.float32)", "a=3,4/i")
case("return a.sum(), a.cumsum(0), a.prod(), a.max(), a.argmin(), a.sort()[0]",
     "a:i64=9/big")
case("return a.mean()", "a:i32=3")
case("return a.mean(dtype=torch.float32), a.mean(dtype=torch.float64)",
     "a:i32=3/i")
each(NUMBERS + ["bool"], "return a.max(), a.min()", "a=3,4")
each(NUMBERS, "return a.max(dim=1), a.min(0), torch.max(a, 1, keepdim=True)",
     "a=3,4")
each(NUMBERS, "m = a.max(dim=0); return m.values, m.indices, m[0]", "a=3,4@t")
each(NUMBERS, "return torch.max(a, b), torch.min(a, b)", "a=3,4", "b=4")
each(NUMBERS, "return a.argmax(), a.argmin(), a.argmax(dim=0), torch.argmin(a,"
     " dim=1, keepdim=True)", "a=3,4/i")
each(FLOATS, "return a.max(), a.max(0), a.argmax(), a.amax(1)", "a=3,8/special")
each(FLOATS, "return a.sum(), a.sum(0)", "a=2,3/special")
each(FLOATS, "return torch.var(a), a.var(dim=1), a.std(0, keepdim=True),"
     " a.var(dim=0, unbiased=False), a.std(unbiased=False)", "a=3,5/q", tol=4)
each(["f32", "f64"], "return a.norm(), a.norm(dim=1), torch.norm(a, p=1, dim=0),"
     " a.norm(p=float('inf'))", "a=3,4/q", tol=4)
each(FLOATS, "return torch.logsumexp(a, 1), a.logsumexp(dim=(0, 1)),"
     " torch.logsumexp(a, dim=0, keepdim=True)", "a=3,4/n",
     tol=lambda t: (4, 4))
case("return torch.logsumexp(a, 0)", "a=12/special")
case("return torch.logsumexp(a.masked_fill(a < 9, float('-inf')), 1)", "a=2,3")
each(ALL, "return torch.count_nonzero(a), a.count_nonzero(dim=0)", "a=3,4/bits")
case("return a.aminmax(), torch.aminmax(a, dim=0)", "a=3,4")
case("return a.sum(2)", "a=3,4")
case("return a.sum((0, 0))", "a=3,4")
case("return a.sum(-3)", "a=3,4")
case("return a.sum(dim=())", "a=3,4/q")
case("return a.sum(0), a.max(0), a.argmax(-1)", "a=/q")

# ---- rows to rows ---------------------------------------------------------------------

each(FLOATS, "return torch.softmax(a, -1), a.softmax(dim=0), F.softmax(a, dim=1)",
     "a=3,5/n", tol=composed)
each(FLOATS, "return F.log_softmax(a, dim=-1), a.log_softmax(0)", "a=3,5/n@t",
     tol=lambda t: (4, 4))
case("return torch.softmax(a, dim=-1, dtype=torch.float32)", "a:f16=3,5", tol=(4, 1))
case("return torch.softmax(a.masked_fill(a < 9, float('-inf')), 1)", "a=2,3")
case("return torch.softmax(a.masked_fill(a < 0, float('-inf')), 1)", "a=3,6",
     tol=(4, 1))
case("return torch.softmax(a, 0)", "a=", tol=1)
case("return torch.softmax(a, 1)", "a=2,0")
case("return torch.softmax(a, 0)", "a:i32=3")
case("return torch.softmax(a, 2)", "a=2,3")
case("return torch.softmax(a, 0), torch.softmax(b, 0)", "a=12/special", "b=1")
each(NUMBERS + ["bool"], "return torch.cumsum(a, 0), a.cumsum(dim=-1)", "a=3,4/q")
each(NUMBERS, "return torch.cumprod(a, 1), a.cumsum(0, dtype=torch.float64)",
     "a=3,4/i")
case("return a.cumsum(0), a.cumsum(1)", "a=2,3,4/q@t")
case("return a.cumsum(0, dtype=torch.int32)", "a=4/n")
each(NUMBERS, "return torch.cummax(a, 0), a.cummin(1)", "a=4,4/i")
each(["f32"], "return torch.cummax(a, 0), a.cummin(0)", "a=12/special")
each(NUMBERS, "return torch.sort(a, stable=True), a.sort(dim=0, descending="
     "True, stable=True)", "a=4,5/i")
each(NUMBERS, "return torch.argsort(a, dim=1, stable=True)", "a=3,5/i@t")
each(["f32"], "return a.sort(stable=True)[0], a.sort(descending=True)[0]",
     "a=9/special")
each(NUMBERS, "return torch.topk(a, 3)[0], a.topk(2, dim=0)[0], torch.topk(a, 2,"
     " largest=False)[0]", "a=4,5/n")
case("return a.topk(2)", "a=3,9/n")
case("return a.topk(7)", "a=3,5")

# ---- products -----------------------------------------------------------------------

MM = [("3,4", "4,5"), ("3,4@t", "4,5"), ("3,4", "4,5@t"), ("2,3,4", "2,4,5"),
      ("2,3,4@t", "4,5@t"), ("4", "4,3"), ("3,4", "4"), ("4", "4"),
      ("2,1,3,4", "3,4,2"), ("2,3,4@e", "2,4,5@s"), ("3,0", "0,4"),
      ("0,3", "3,4"), ("2,3,4", "4"), ("17,33", "33,18")]
for i, (x, y) in enumerate(MM):
    spec = []
    for name, shape in (("a", x), ("b", y)):
        shape, _, layout = shape.partition("@")
        spec.append(f"{name}={shape}/q" + (f"@{layout}" if layout else ""))
    for t in ["f32", FLOATS[i % 4], "i64", INTS[i % 5]]:
        case("a @ b", *spec, dtype=t)
each(FLOATS, "return torch.matmul(a, b), a.matmul(b), torch.mm(a, b), a.mm(b)",
     "a=3,4/q", "b=4,2/q")
each(FLOATS, "return torch.bmm(a, b), a.bmm(b)", "a=2,3,4/q", "b=2,4,2/q@t")
each(["f32", "i32"], "return torch.mv(a, b), torch.dot(b, b), torch.outer(b, b)",
     "a=3,4/q", "b=4/q")
each(["f32"], "return torch.addmm(c, a, b), torch.addmm(c, a, b, beta=2,"
     " alpha=0.5)", "a=3,4/q", "b=4,2/q", "c=3,2/q")
each(["f32"], "return torch.baddbmm(c, a, b)", "a=2,3,4/q", "b=2,4,2/q",
     "c=2,3,2/q")
case("a @ b", "a=3,4", "b=3,4")
case("a @ b", "a:f16=3,4", "b:f32=4,2")
case("a @ b", "a=", "b=3")
case("torch.mm(a, b)", "a=2,3,4", "b=4,2")
case("torch.bmm(a, b)", "a=2,3,4", "b=3,4,2")
case("a @ b", "a=2,3,4", "b=3,4,2")
for eq, shapes in [
        ("bqhd,bkhd->bhqk", ["2,3,2,4", "2,5,2,4"]),
        ("b q h d, b k h d -> b h q k", ["2,3,2,4", "2,5,2,4"]),
        ("bhqd,bhkd->bhqk", ["2,2,3,4", "2,2,5,4"]),
        ("bhqk,bkhd->bqhd", ["2,2,3,5", "2,5,2,4"]),
        ("bqhgd,bkhd->bhgqk", ["2,3,2,2,4", "2,5,2,4"]),
        ("bhgqk,bkhd->bqhgd", ["2,2,2,3,5", "2,5,2,4"]),
        ("bghd,bsgd->bghs", ["2,2,3,4", "2,5,2,4"]),
        ("bhd,bhsd->bhs", ["2,3,4", "2,3,5,4"]),
        ("ij,jk", ["2,3", "3,4"]), ("ba,ca", ["2,3", "4,3"]),
        ("ij", ["2,3"]), ("ji", ["2,3"]), ("ij->ji", ["2,3"]),
        ("ij->", ["2,3"]), ("ij->j", ["2,3"]), ("ii->i", ["3,3"]),
        ("ii", ["3,3"]), ("iij->j", ["2,2,3"]), ("i,j->ij", ["2", "3"]),
        ("i,i", ["4", "4"]), ("i,i->i", ["4", "4"]), ("ij,->ij", ["2,3", ""]),
        ("ij,jk,kl->il", ["2,3", "3,4", "4,2"]),
        ("bij,bjk,bk->bi", ["2,3,4", "2,4,5", "2,5"]),
        ("...ij,...jk->...ik", ["2,3,4", "2,4,2"]),
        ("...ij,jk->...ik", ["2,2,3,4", "4,2"]),
        ("b...d,b...d->b...", ["2,3,4", "2,3,4"]), ("...ij->...ji", ["2,3,4"]),
        ("ijk,ikl->il", ["2,3,4", "2,4,3"]), ("ij,kl->", ["2,2", "3,3"]),
        ("ij,jk->ik", ["0,3", "3,2"]), ("ij,jk->ik", ["2,0", "0,2"]),
        ("bhd,bshd->bsh", ["2,1,4", "2,3,5,4"])]:
    names = [f"{'abc'[i]}={s}/i" for i, s in enumerate(shapes)]
    args = ", ".join("abc"[:len(shapes)])
    summed_first = eq in ("ijk,ikl->il", "ij,kl->")     # in int64
    more = ["f16"] if summed_first else ["f16", "i32"]
    for t in ["f32", "f64"] + (more if len(shapes) == 2 else []):
        case(f"torch.einsum('{eq}', {args})", *names, dtype=t, tol=EQUAL)
case("torch.einsum('bqhd,bkhd->bhqk', [a, b])", "a=1,3,2,4/i@t", "b=1,2,2,4/i",
     tol=EQUAL)
case("torch.einsum('bhd,bhsd->bhs', a, b.repeat_interleave(3, dim=1))",
     "a=2,3,4/i", "b=2,1,5,4/i", tol=EQUAL)
case("return torch.einsum('bhd,bhsd->bhs', a, b.expand(2, 3, 5, 4)),"
     " torch.einsum('bhs,bhsd->bhd', c, b.expand(2, 3, 5, 4))",
     "a=2,3,4/i", "b=2,1,5,4/i", "c=2,3,5/i", tol=EQUAL)
case("torch.einsum('ij,jk->ik', a, b)", "a=2,3", "b=4,2")
case("torch.einsum('ij,jk->iq', a, b)", "a=2,3", "b=3,2")
case("torch.einsum('ij->i', a, a)", "a=2,3")
case("torch.einsum('ij->ii', a)", "a=2,3")
case("torch.einsum('i?->i', a)", "a=2,3")
case("torch.einsum('ijk->i', a)", "a=2,3")
case("torch.einsum('ij,jk->ik', a, b)", "a:f16=2,3", "b=3,2")

# ---- views ------------------------------------------------------------------------

S = "a=2,3,4/n"
each(["f16", "i64", "bool"], "return a.view(6, 4), a.reshape(-1), a.view(2, -1, 2),"
     " a.reshape((4, 6)), torch.reshape(a, [24])", S)
for layout in ["t", "s", "e"]:
    case("return a.reshape(-1), a.reshape(6, 4), a.reshape(2, 3, 2, 2)",
         f"a=2,3,4/n@{layout}")
case("return a.reshape(5, 5)", S)
case("return a.view(-1, -1)", S)
case("return a.view(0, -1)", "a=0,3")
case("return a.view(3, 0), a.reshape(0), a.flatten()", "a=0,3")
case("return a.view(()), a.reshape(1, 1)", "a=1/n")
case("return a.view(2, 3)", "a=3,2@t")
case("return a.transpose(0, 1), a.transpose(-1, -2), a.permute(2, 0, 1),"
     " a.permute((1, 0, 2)), a.swapaxes(0, 2), torch.permute(a, (2, 1, 0))", S)
case("return a.T, a.t(), a.mT", "a=3,4")
case("return a.mT", S)
case("return a.t()", S)
case("return a.transpose(0, 3)", S)
case("return a.permute(0, 1)", S)
case("return a.permute(0, 1, 1)", S)
case("return a.unsqueeze(0), a.unsqueeze(-1), a.unsqueeze(1).squeeze(1)", S)
case("return a.unsqueeze(4)", S)
case("return a.squeeze(), a.squeeze(0), a.squeeze(1), a.squeeze(-1),"
     " a.squeeze((0, 2))", "a=1,3,1")
case("return a.expand(2, 3), a.expand(-1, 4), a.expand(5, 1, 4)", "a=1,1")
case("return a.expand(2, -1, 4), a.expand_as(b), a.broadcast_to((2, 3, 4))",
     "a=3,1", "b=2,3,4")
case("return a.expand(3, 3)", "a=2,3")
case("return a.expand(3)", "a=2,3")
case("return a.flatten(), a.flatten(1), a.flatten(0, 1), torch.flatten(a)", S)
case("return a.flatten()", "a=")
case("return a.unflatten(2, (2, 2)), a.unflatten(0, (1, -1)), a.unflatten(-1,"
     " (-1, 2))", S)
case("return a.movedim(0, 2), torch.movedim(a, (0, 1), (2, 0))", S)
case("return a.repeat(2), a.repeat(2, 3), a.repeat((1, 2))", "a=3")
case("return a.repeat(2, 1, 1), a.repeat(1, 2, 3), a.tile(2), a.tile((2, 1))",
     "a=2,3@t")
case("return a.repeat(2)", "a=2,3")
case("return a.repeat_interleave(2), a.repeat_interleave(3, dim=0),"
     " torch.repeat_interleave(a, 2, dim=1), a.repeat_interleave(0, 0)",
     "a=2,3@t")
case("return a.repeat_interleave(b, dim=0), torch.repeat_interleave(a, b, 0)",
     "a=3,2", "b:i64=3/<4")
case("return torch.repeat_interleave(b), a.repeat_interleave(b)", "a=3",
     "b:i64=3/<4")
case("return a.repeat_interleave(2)", "a=")
case("return a.repeat_interleave(b, dim=0)", "a=3,2", "b:i64=2/<4")
case("return a.flip(0), torch.flip(a, [0, 2]), a.flip((1,)), a.flip(-1)", S)
case("return a.roll(1), a.roll(1, 0), torch.roll(a, (1, -2), (0, 1)), a.roll(7,"
     " -1)", S)
case("return a.narrow(0, 1, 1), a.narrow(2, 1, 2), a.select(1, 2), a.select(-1,"
     " -1)", S)
case("return a.narrow(0, 1, 5)", S)
case("return a.select(0, 2)", S)
case("return torch.diag(a), torch.diag(a, 1), torch.diag(a, -2)", "a=3")
case("return torch.diag(a), torch.diag(a, 1), a.diagonal(), a.diagonal(-1)",
     "a=3,4")
case("return a.diagonal(0, 1, 2), torch.diagonal(a, 1, 0, 2)", S)
each(ALL, "return a.tril(), torch.triu(a), a.tril(1), a.triu(-1), a.tril(-9),"
     " a.triu(diagonal=2)", "a=3,4")
case("return a.tril(), a.triu(1)", "a=2,3,3@t")
case("return a.tril()", "a=3")
case("return a.size(), a.size(1), a.size(-1), a.shape, a.dim(), a.ndim,"
     " a.numel(), a.nelement(), len(a), a.is_contiguous(), a.stride(),"
     " a.element_size(), a.stride(0)", S)
case("return a.stride(), a.is_contiguous(), a.transpose(0, 1).is_contiguous()",
     "a=2,3,4@t")
case("return a.size(3)", S)
case("return len(a)", "a=")
case("return [x for x in a]", "a=3,2")
case("b, c = a; return b, c", "a=2,3")

# ---- joining and cutting -----------------------------------------------------------------

each(["f16", "i32", "bool"], "return torch.cat([a, b]), torch.cat((a, b), dim=1),"
     " torch.concat([a, b, a], -1)", "a=3,4", "b=3,4@t")
case("torch.cat([a, b])", "a:f16=2", "b:f32=3")
case("torch.cat([a, b])", "a:i32=2", "b:bool=3")
case("torch.cat([a, b, a], 1)", "a=2,0", "b=2,3")
case("torch.cat([b, a], 1)", "a=2,3", "b=0")
case("torch.cat([a, b])", "a=2,3", "b=2,4")
case("torch.cat([a, b])", "a=2,3", "b=2")
case("torch.cat([])", "a=1")
case("torch.cat([a])", "a=")
case("torch.cat([a, a], 2)", "a=2,3")
case("return torch.stack([a, b]), torch.stack((a, b), dim=1), torch.stack([a,"
     " b], -1)", "a=2,3", "b=2,3@t")
case("torch.stack([a, b])", "a=", "b=")
case("torch.stack([a, b])", "a=2", "b=3")
case("return a.split(2), torch.split(a, 3, dim=1), a.split([1, 2], 0), a.split("
     "[4, 0], dim=-1)", "a=3,4")
case("a.split([1, 1])", "a=3,4")
case("return a.chunk(2), a.chunk(3, dim=1), torch.chunk(a, 5, 0)", "a=3,4")
case("return a.unbind(), torch.unbind(a, 1), a.unbind(-1)", "a=2,3")
case("return torch.meshgrid(a, b, indexing='ij')", "a=2", "b=3")
case("return torch.meshgrid([a, b], indexing='xy')", "a=2", "b=3")

# ---- indexing ---------------------------------------------------------------------------

each(["f16", "i64", "bool"], "return a[0], a[-1], a[1, 2], a[1, 2, 3], a[..., 1],"
     " a[:, 1], a[None], a[:, None, 1], a[0:1], a[:, ::2], a[1:, 1:, ::3],"
     " a[..., -2:], a[5:], a[:, 2:1], a[...]", S)
case("return a[0], a[:, 1], a[..., 1]", "a=3,4,2@t")
case("return a[2]", "a=2,3")
case("return a[0, 3]", "a=2,3")
case("return a[0, 0, 0]", "a=2,3")
case("return a[::-1]", "a=3")
case("return a[::0]", "a=3")
case("return a[0.5]", "a=3")
case("return a['x']", "a=3")
case("return a[0]", "a=")
case("return a[()], a[...]", "a=")
case("return a[i], a[:, i], a[i, :], a[..., i]", "a=3,3,3", "i:i64=2/<3")
case("return a[i], a[i, i], a[:, i, i], a[i, :, i], a[i, 1], a[0, i]",
     "a=3,3,3", "i:i64=2/~3")
case("return a[i, j], a[i[:, None], j]", "a=3,4", "i:i64=2/<3", "j:i64=2/<4")
case("return a[i, j]", "a=3,4", "i:i64=2,1/<3", "j:i32=3/<4")
case("return a[i], a[i.t()]", "a=4", "i:i64=2,3/<4")
case("return a[[0, 2]], a[:, [1, 0]], a[[[0, 1], [2, 0]]], a[[0, 1], [1, 2]]",
     "a=3,4")
case("return a[[True, False, True]], a[[]]", "a=3,4")
case("return a[i]", "a=3", "i:i64=/<3")
case("return a[i, 0], a[:, i]", "a=3,3", "i:i32=/<3")
case("return a[m], a[m == False]", "a=3,4", "m:bool=3,4")
case("return a[m], a[:, n], a[m, 1], a[m, :2]", "a=3,4", "m:bool=3", "n:bool=4")
case("return a[m], a[..., m]", "a=2,3,2", "m:bool=2")
case("return a[a > 0], a[a > 99]", "a=3,4")
case("return a[m]", "a=3,4", "m:bool=4")
case("return a[i]", "a=3", "i:f32=2/bits")
case("return a[i]", "a=3", "i:i64=2/~9")
case("return a[i]", "a=3", "i:u8=4/<3")
each(["f16", "i32", "bool"], "a[0] = 1; a[1, ::2] = 0; a[2:, 1] = b; return a",
     "a=3,4", "b=1")
case("a[:] = b; return a", "a=3,4", "b=4")
case("a[..., 0] = b; return a", "a=3,4", "b:i32=3")
case("a[0] = b; return a", "a=3,4", "b=3")
case("a[0] = b; return a", "a=3,4", "b=2,4")
case("a[0] = b; return a", "a=3,4", "b=1,4")
case("a[m] = 0; return a", "a=3,4", "m:bool=3,4")
case("a[m] = 7; return a", "a=3,4", "m:bool=3")
case("a[:, m] = 7; return a", "a=3,4", "m:bool=4")
case("a[m] = b; return a", "a=3,4", "m:bool=3,4", "b=")
case("a[m] = a[m] * 2; return a", "a=3,4", "m:bool=3,4")
case("a[m] = b; return a", "a=3,4", "m:bool=3", "b=4")
case("a[m] = b; return a", "a=3,4", "m:bool=3,4/ones", "b=5")
case("a[i] = b; return a", "a=3,4", "i:i64=2/<3", "b=4")
case("a[i] = 5; a[:, i] = 6; return a", "a=3,4", "i:i64=2/<3")
case("a[i, j] = b; return a", "a=3,4", "i:i64=2/<3", "j:i64=2/<4", "b=2")
case("a[[0, 2]] = 1; a[:, [1, 3]] = 2; return a", "a=3,4")
case("a[i] += 1; return a", "a=4", "i:i64=3/<4")
case("a[i] = 1", "a=3", "i:i64=2/~9")
case("a[a < 0] = 0; return a", "a=3,4@t")
case("a[1] = a[0]; a[:2] = a[1:]; return a", "a=3,4")
case("a[1:] = a[:-1]; return a", "a=5")
case("a[0] = 'x'", "a=3")

# ---- gather, scatter --------------------------------------------------------------------

case("return torch.gather(a, 1, i), a.gather(0, j)", "a=3,4", "i:i64=3,2/<4",
     "j:i64=2,4/<3")
case("torch.gather(a, 1, i)", "a=3,4", "i:i64=3,2/~9")
case("torch.gather(a, 1, i)", "a=3,4", "i:i64=4,2/<4")
case("torch.gather(a, 1, i)", "a=3,4", "i:i64=3/<4")
case("torch.gather(a, 2, i)", "a=3,4", "i:i64=3,4/<4")
case("return torch.gather(a, 0, i)", "a=5", "i:i64=0/<4")
case("b = a.scatter(1, i, s); return b, a", "a=3,4", "i:i64=3,1/<4", "s=3,2")
case("return a.scatter(0, i, 5.0), a.scatter_(1, i, 1.5)", "a=3,4",
     "i:i64=1,4/<3")
case("return torch.scatter(a, 1, i, s, reduce='add')", "a=3,4/q", "i:i64=3,3/<4",
     "s=3,3/q")
case("a.scatter_add_(1, i, s); return a", "a=3,4/q", "i:i64=3,3/<4", "s=3,3/q")
case("return a.scatter_reduce(0, i, s, 'amax'), a.scatter_reduce(0, i, s, 'sum')",
     "a=4/q", "i:i64=5/<4", "s=5/q")
case("a.scatter_(0, i, s)", "a=3", "i:i64=2/<3", "s:f64=2")
case("return a.index_select(0, i), torch.index_select(a, 1, i)", "a=3,4@t",
     "i:i64=3/<3")
case("a.index_select(0, i)", "a=3,4", "i:i64=2/<9")
case("a.index_add_(0, i, s); return a", "a=3,4/q", "i:i64=3/<3", "s=3,4/q")
case("return a.index_add(1, i, s, alpha=2), a.index_copy(1, j, s)", "a=3,4/q",
     "i:i64=2/<4", "s=3,2/q", "j:i64=2/<1")
case("return torch.masked_select(a, m), a.masked_select(m == False)", "a=3,4",
     "m:bool=3,4")
case("return torch.nonzero(a), a.nonzero(as_tuple=True), torch.argwhere(a)",
     "a:i32=3,4/bits")

# ---- making ------------------------------------------------------------------------------

for f in ["zeros", "ones"]:
    case(f"return torch.{f}(2, 3), torch.{f}((2,)), torch.{f}([1, 2], dtype="
         f"torch.float16), torch.{f}(0, 3), torch.{f}(2, dtype=torch.int32),"
         f" torch.{f}(()), torch.{f}_like(a), torch.{f}_like(a, dtype=torch."
         f"bool), a.new_{f}(3), a.new_{f}((2, 2), dtype=torch.int8)", "a:f16=2,3")
case("return torch.full((2, 3), 7), torch.full((2,), 1.5), torch.full((1,),"
     " True), torch.full((2,), 3, dtype=torch.float16), torch.full_like(a, 2.5),"
     " a.new_full((2,), 9)", "a:f16=2")
case("return torch.empty(2, 3).shape, torch.empty_like(a).shape, a.new_empty("
     "2, 2).dtype == torch.float16", "a:f16=2")
case("return torch.arange(5), torch.arange(2, 7), torch.arange(1, 10, 3),"
     " torch.arange(5, 0, -2), torch.arange(0, 1, 0.25), torch.arange(3.0),"
     " torch.arange(5, dtype=torch.float32), torch.arange(0), torch.arange("
     "end=4), torch.arange(1, 4, dtype=torch.int32)")
case("torch.arange(5, 2)")
case("torch.arange(1, 5, 0)")
case("return torch.linspace(0, 1, 5), torch.linspace(-1, 2, 4, dtype="
     "torch.float64), torch.linspace(3, 3, 1), torch.linspace(0, 10, steps=11)",
     tol=1)
case("return torch.eye(3), torch.eye(2, 3, dtype=torch.int64)")
case("return torch.tril_indices(3, 3), torch.triu_indices(3, 4, offset=1)")
case("return torch.tensor(3), torch.tensor(2.5), torch.tensor(True), torch."
     "tensor([1, 2]), torch.tensor([1, 2.5]), torch.tensor([[1, 2], [3, 4]],"
     " dtype=torch.float16), torch.tensor([True, False]), torch.tensor([]),"
     " torch.tensor([True, 2]), torch.tensor([a[0], 2.0])", "a=2")
case("torch.tensor([[1, 2], [3]])")
case("torch.tensor(['a'])")
case("torch.zeros(-1)")
case("return torch.as_tensor([1, 2]), torch.as_tensor(a), torch.as_tensor(a,"
     " dtype=torch.float64)", "a=2")
case("return torch.finfo(torch.float16).max, torch.finfo(torch.bfloat16).min,"
     " torch.finfo(torch.float32).eps, torch.iinfo(torch.int8).min,"
     " torch.iinfo(torch.int64).max, torch.finfo(torch.float16).tiny")
case("return isinstance(a, torch.Tensor), isinstance(1, torch.Tensor),"
     " torch.is_tensor(a), torch.is_tensor([1]), isinstance(torch.float16,"
     " torch.dtype), a.is_floating_point()", "a=2")
case("return torch.equal(a, a.clone()), torch.equal(a, b), torch.allclose(a, a +"
     " 1e-9), torch.allclose(a, b)", "a=3", "b=3")
case("torch.testing.assert_close(a, b)", "a=3", "b=3")
case("torch.testing.assert_close(a, a + 1e-8)", "a=3/nz")
case("torch.testing.assert_close(a, a.half())", "a=3")
case("return torch.result_type(a, 1.5) == torch.float16, torch.promote_types("
     "torch.int32, torch.float16) == torch.float16", "a:f16=2")

case("torch.set_default_dtype(torch.float16); r = torch.ones(2) / 3, torch.arange("
     "3.0), i + 0.5, i / 2, torch.tensor([0.5]), i.exp(), torch.full((1,), 0.1);"
     "torch.set_default_dtype(torch.float32); return r", "i:i32=3/<4")
each(NUMBERS, "return torch.isposinf(a), torch.isneginf(a)", "a=12/special")
each(NUMBERS, "return torch.addcmul(c, a, b), torch.addcmul(c, a, b, value=2)",
     "a=3,4/i", "b=4/i", "c=3,1/i")
each(FLOATS, "torch.addcdiv(c, a, b, value=0.5)", "a=3,4/q", "b=4/nz", "c=3,1/q",
     tol=(2, 4))
each(NUMBERS, "return torch.diff(a), a.diff(dim=0), a.diff(n=2, dim=1)",
     "a=3,4/i")
case("torch.diff(a)", "a:bool=5")
case("return torch.max_pool2d(a, 2), torch.max_pool2d(a, (1, 3), stride=(1, 3)),"
     " torch.max_pool2d(a, (2, 3), ceil_mode=True)", "a=2,4,7/n")
case("return torch.tensor(range(2, 9, 3)), a.new_tensor(range(3))", "a:i32=1")
case("return a.view(dtype=torch.int32), a.view(torch.int16)", "a=3")
each(["f32", "i64"], "return torch.kron(a, b), torch.kron(b, c)", "a=2,3/i",
     "b=2,2/i", "c=3/i")
case("return a.new_tensor([1, 2]), a.new_tensor(2.5, dtype=torch.int32)",
     "a:f16=1")
case("return isinstance(a, torch.LongTensor), isinstance(a, torch.FloatTensor)",
     "a:i64=1")
case("return torch.conv2d(a, w)", "a=1,2,4,4/q", "w=3,2,2,2/q")
case("a.unsqueeze_(0); b = a.shape; a.squeeze_(); a.t_(); c = a.shape; a.transpose_"
     "(0, 1); return a, b, c", "a=2,3")

# ---- torch.nn.functional -------------------------------------------------------------------

each(NUMBERS, "return torch.relu(a), a.relu(), F.relu(a)", "a=6/n")
for f in ["silu(a)", "gelu(a)", "gelu(a, approximate='tanh')", "softplus(a)",
          "logsigmoid(a)", "leaky_relu(a)", "leaky_relu(a, 0.25)", "elu(a)"]:
    each(FLOATS, f"F.{f}", "a=3,4/n", tol=composed)
case("F.softplus(a, beta=2, threshold=3)", "a=8/n", tol=(8, 1))
each(FLOATS, "return F.linear(a, w), F.linear(a, w, b)", "a=2,3/q", "w=4,3/q",
     "b=4/q")
case("F.linear(a, w)", "a=2,3", "w=4,2")
each(FLOATS, "return F.pad(a, (1, 2)), F.pad(a, (0, 1, 2, 0), value=-1.5),"
     " F.pad(a, (-1, 0)), F.pad(a, (-1, 2, 0, -1))", "a=3,4")
case("F.pad(a, (1,))", "a=3,4")
each(["f32", "f64"], "return F.layer_norm(a, (4,)), F.layer_norm(a, [3, 4], w,"
     " b), F.layer_norm(a, (4,), eps=0.5)", "a=2,3,4/q", "w=3,4/q", "b=3,4/q",
     tol=(8, 4))
each(["f32", "f64"], "return F.rms_norm(a, (4,)), F.rms_norm(a, (4,), w, 1e-3)",
     "a=3,4/q", "w=4/q", tol=(4, 4))
each(["f32"], "return F.normalize(a), F.normalize(a, dim=0), F.normalize(a, p=1)",
     "a=3,4/q", tol=8)
each(["f32", "f64"], "return F.mse_loss(a, b), F.mse_loss(a, b, reduction='sum'),"
     " F.mse_loss(a, b, reduction='none'), F.l1_loss(a, b)", "a=3,4/q",
     "b=3,4/q", tol=2)
each(["f32", "f64"], "return F.kl_div(a, b), F.kl_div(a, b, reduction='sum'),"
     " F.kl_div(a, b, reduction='batchmean'), F.kl_div(a, b, reduction='none')",
     "a=3,4/unit", "b=3,4/pos", tol=(16, 8))
each(["f32", "f64"], "return F.cross_entropy(a, i), F.cross_entropy(a, i,"
     " reduction='none')", "a=3,5/n", "i:i64=3/<5", tol=(4, 4))
case("F.cross_entropy(a, i)", "a=3,5/n", "i:i64=3/<9")
case("return F.one_hot(i), F.one_hot(i, 5), F.one_hot(i, num_classes=4)",
     "i:i64=2,3/<4")
case("F.embedding(i, w)", "i:i64=2,3/<4", "w=4,2")
each(["f32"], "return F.conv2d(a, w), F.conv2d(a, w, b, stride=2, padding=1),"
     " F.conv2d(a, w, padding=(1, 0), dilation=2)", "a=2,3,6,7/q", "w=4,3,3,2/q",
     "b=4/q")
for q, k in [("2,2,3,4", "2,2,5,4"), ("3,4", "3,4"), ("1,2,4,8@t", "1,2,4,8")]:
    shape, _, layout = q.partition("@")
    spec = f"q={shape}/n" + (f"@{layout}" if layout else "")
    each(FLOATS, "F.scaled_dot_product_attention(q, k, v)", spec, f"k={k}/n",
         f"v={k}/n", tol=attention)
each(["f32", "f64"], "return F.scaled_dot_product_attention(q, k, v, is_causal="
     "True), F.scaled_dot_product_attention(q, k, v, scale=0.3),"
     " F.scaled_dot_product_attention(q, k, v, attn_mask=m),"
     " F.scaled_dot_product_attention(q, k, v, attn_mask=b)",
     "q=2,3,4,8/unit", "k=2,3,4,8/unit", "v=2,3,4,8/pos", "m:bool=4,4",
     "b=4,4/n", tol=(16, 2))
case("F.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
     "q=1,4,3,8/unit", "k=1,2,5,8/unit", "v=1,2,5,8/pos", tol=(16, 2))

# ---- gradients -----------------------------------------------------------------
# In the dtype of the tensors, each step rounded: a few ulp of what is summed.


def gradient(body, *inputs, wrt="a", tol=(32, 4), dtypes=("f32", "f64"),
             before=""):
    need = "; ".join(f"{n}.requires_grad_()" for n in wrt.split(","))
    each(dtypes, f"{need}; {before}y = {body}; g = (torch.arange(y.numel())"
         f".reshape(y.shape) % 7 - 3).to(y.dtype); return torch.autograd.grad("
         f"y, ({wrt},), g)", *inputs, tol=tol)


for f in ["a + b", "a - b", "a * b", "a / b", "torch.sub(a, b, alpha=3)",
          "torch.maximum(a, b)", "torch.minimum(a, b)", "a ** b",
          "torch.where(a > b, a, b)", "(a + b) * (a - b)", "torch.max(a, b)"]:
    gradient(f, "a=3,4/pos", "b=4/pos", wrt="a,b")
gradient("a * a + 2 * a - a / 3 + 1 / a - (2 - a)", "a=5/pos")
gradient("2 ** a", "a=5/unit")
for f in ["-a", "a.abs()", "a.square()", "a.sin()", "a.cos()", "torch.erf(a)",
          "a.exp()", "a.exp2()", "a.expm1()", "a.sigmoid()", "a.tanh()",
          "F.relu(a)", "F.silu(a)", "F.gelu(a)", "F.gelu(a, approximate='tanh')",
          "F.softplus(a)", "F.logsigmoid(a)", "a ** 3", "a ** 2.0", "a ** 0",
          "a.clamp(-0.5, 0.5)", "a.clamp(min=0)", "torch.clamp(a, max=0.25)",
          "a % 2", "a.sum()", "a.mean()", "a.sum(0)", "a.mean(-1, keepdim=True)",
          "a.sum(dim=(0, 1))", "a.amax(1)", "a.amin(0, keepdim=True)", "a.max()",
          "a.min()", "a.max(1)[0]", "a.min(dim=0, keepdim=True).values",
          "a.topk(2, dim=1)[0]", "torch.sort(a, -1).values", "a.cumsum(1)",
          "a.softmax(-1)", "torch.softmax(a, dim=0)", "F.log_softmax(a, dim=1)",
          "a.logsumexp(1)", "a.logsumexp(0, keepdim=True)", "a.var(1)",
          "a.var(dim=0, unbiased=False, keepdim=True)", "a.std()", "a.norm()",
          "a.norm(dim=1)", "a.tril()", "torch.triu(a, 1)", "a.flip(0)"]:
    gradient(f, "a=3,4/n")
for f in ["a.log()", "a.log2()", "torch.log10(a)", "a.log1p()", "a.sqrt()",
          "a.rsqrt()", "a.reciprocal()"]:
    gradient(f, "a=6/pos")
for f in ["a.reshape(4, 6)", "a.view(-1)", "a.flatten(1)", "a[:, None].squeeze(1)",
          "a.unsqueeze(-1) * 2", "a.transpose(0, 2)", "a.permute(2, 0, 1)",
          "a.permute((1, 0, 2))", "a.mT", "a[0].t()", "a[0].T",
          "a[1:, :, ::2]", "a[1, ..., None]", "a[[0, 1, 1], :, 2]",
          "a[:, torch.tensor([2, 0, 2])]", "a[a > 0]",
          "a.gather(2, torch.tensor([[[0, 3, 0]]]))", "a.narrow(2, 1, 2)",
          "a.index_select(1, torch.tensor([0, 2, 0]))",
          "a[:, :1].expand(2, 5, 4)", "a.repeat(2, 1, 3)",
          "a.repeat_interleave(3, dim=1)", "F.pad(a, (1, 2, 0, 1))",
          "torch.cat([a, a * 2], dim=1)", "torch.stack([a, -a], 1)",
          "a.split(2, -1)[1]", "sum(x * i for i, x in enumerate(a.unbind(1)))",
          "torch.cat(a.chunk(2, 2)[::-1], 2)", "a.float().double()",
          "a.masked_fill(torch.ones(3, 4, dtype=torch.bool).tril(), -1.0)",
          "a.contiguous().clone().to(a.device)", "a.masked_select(a < 0)"]:
    gradient(f, "a=2,3,4/n")
for f, a, b in [("a @ b", "3,4", "4,5"), ("a @ b", "2,3,4", "4,5"),
                ("a @ b", "2,1,3,4", "3,4,5"), ("a @ b", "4", "4,5"),
                ("a @ b", "3,4", "4"), ("a @ b", "4", "4"),
                ("torch.bmm(a, b)", "2,3,4", "2,4,5"), ("a.mm(b)", "3,4", "4,5"),
                ("F.linear(a, b)", "2,3,4", "5,4"),
                ("torch.einsum('ij,kj->ik', a, b)", "3,4", "5,4"),
                ("torch.einsum('bhqd,bhkd->bhqk', a, b)", "1,2,3,4", "1,2,5,4"),
                ("torch.einsum('bij,jk->bk', a, b)", "2,3,4", "4,5"),
                ("torch.einsum('ij,j->', a, b)", "3,4", "4"),
                ("torch.einsum('...ij,...jk->...ik', a, b)", "2,3,4", "2,4,5"),
                ("torch.einsum('bij,bk->bj', a, b)", "2,3,4", "2,5")]:
    gradient(f, f"a={a}/n", f"b={b}/n", wrt="a,b")
gradient("torch.addmm(c, a, b)", "a=2,3", "b=3,4", "c=4", wrt="a,b,c")
gradient("F.layer_norm(a, (4,), w, b)", "a=3,4/n", "w=4/n", "b=4/n",
         wrt="a,w,b", tol=(64, 8))
gradient("F.rms_norm(a, (4,), weight=w)", "a=3,4/n", "w=4/n", wrt="a,w",
         tol=(64, 8))
gradient("F.scaled_dot_product_attention(q, k, v, is_causal=True)",
         "q=1,2,3,4/n", "k=1,2,3,4/n", "v=1,2,3,4/n", wrt="q,k,v", tol=(64, 8))
gradient("F.scaled_dot_product_attention(q, k, v, attn_mask=m, scale=0.5)",
         "q=1,2,3,4/n", "k=1,2,5,4/n", "v=1,2,5,4/n", "m=3,5/n", wrt="q,k,v,m",
         tol=(64, 8))
gradient("F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction='batchmean')",
         "a=3,4/n", "b=3,4/n", wrt="a,b", tol=(64, 4))
gradient("F.normalize(a, dim=-1)", "a=3,4/n", tol=(64, 4))
gradient("torch.einsum('bij,bjk->bik', a, b)", "a=1,3,4/n", "b=2,4,5/n",
         wrt="a,b", tol=(64, 4))
gradient("F.mse_loss(a, b)", "a=3,4/n", "b=3,4/n", wrt="a,b")
# in place, several uses, what needs none
gradient("y", "a=3,4/n", before="y = a * 2; y += 1; y *= a; ")
gradient("y", "a=3,4/n", before="y = a * 2; y.masked_fill_(a > 0, 0); ")
gradient("y", "a=3,4/n", "b=4/n", wrt="a,b", before="y = a * 2; y[1:, :] = b; ")
gradient("y", "a=3/n", before="y = torch.zeros(2, 3, dtype=a.dtype); y[0] = a;"
         " y[1] = a * a; ")
gradient("y * 3", "a=4/n", before="y = a.exp().add_(a).mul_(2); ")
gradient("a * a.detach() + a.data", "a=4/n")
case("a.requires_grad_(); y = (a * a).exp(); y.add_(1); return torch.autograd."
     "grad(y, a, a)", "a=4/n")
case("y = a.clone().requires_grad_(); y.mul_(2); return y", "a=4/n")
case("a.requires_grad_(); (a * 3).sum().backward(); (a * a).sum().backward();"
     " return a.grad, a.requires_grad, a.grad.requires_grad", "a=4/n")
case("a.requires_grad_(); y = a * 2; y.retain_grad(); y.sum().backward();"
     " return a.grad, y.grad, a.is_leaf, y.is_leaf", "a=4/n")
case("a.requires_grad = True; (a * 2).backward(b); g = a.grad; a.grad = None;"
     " return g, a.grad is None", "a=4/n", "b=4/n")
case("(a * 2).sum().backward()", "a=4/n")
case("a.requires_grad_(); (a * 2).backward()", "a=4/n")
case("a.requires_grad_(); torch.set_grad_enabled(False); y = a * 2; torch"
     ".set_grad_enabled(True); return y.requires_grad, (a * 2).requires_grad",
     "a=4/n")
case("a.requires_grad_()\n    with torch.no_grad():\n        y = a * 2\n"
     "        with torch.enable_grad():\n            z = a * 2; "
     "return y.requires_grad, z.requires_grad, (a * 2).requires_grad", "a=4/n")
case("x = torch.randn(3, requires_grad=True); return x.requires_grad, (x > 0)"
     ".requires_grad, x.detach().requires_grad, torch.zeros_like(x)"
     ".requires_grad")
case("a.requires_grad_()", "a:i64=3")
case("a.requires_grad_(); return torch.autograd.grad(a.sum(), (a, b),"
     " allow_unused=True)[1] is None", "a=3", "b=3")
each(["f16", "bf16"], "a.requires_grad_(); b.requires_grad_(); (a.float() * b)"
     ".sum().backward(); return a.grad, b.grad", "a=3/q", "b=3/q")
FUNCTION = ("class Square(torch.autograd.Function):"
            "\n        @staticmethod"
            "\n        def forward(ctx, x, y, n):"
            "\n            ctx.save_for_backward(x, y)"
            "\n            ctx.n = n"
            "\n            return x * x * n, x + y"
            "\n        @staticmethod"
            "\n        def backward(ctx, g, h):"
            "\n            x, y = ctx.saved_tensors"
            "\n            return g * 2 * x * ctx.n + h, h * 10, None; ")
case(FUNCTION + "a.requires_grad_(); b.requires_grad_(); u, v = Square.apply(a,"
     " b, 3); (u * v).sum().backward(); return a.grad, b.grad, u.requires_grad",
     "a=4/n", "b=4/n", tol=(32, 4))
case(FUNCTION + "a.requires_grad_(); u, v = Square.apply(a, b, 3); (v * 2).sum()"
     ".backward(); return a.grad, b.grad is None", "a=4/n", "b=4/n", tol=(32, 4))
case("return list(range(a)), [5, 6, 7, 8][a], list(range(10))[a:]",
     "a:i64=/<3")
case("list(range(a))", "a=")
case("[1, 2][a]", "a:i64=2")
for t in ["i64", "i32", "u8"]:
    case("return a.bincount(), torch.bincount(a, minlength=9)", f"a:{t}=7/<5")
case("return torch.bincount(a), a.bincount(minlength=2)", "a:i64=0")
case("torch.bincount(a - 3)", "a:i64=7/<3")
case("torch.bincount(a)", "a=3")
each(["f32"], "return F.conv1d(a, w), F.conv1d(a, w, b, stride=2, padding=1),"
     " torch.conv1d(a, w, padding=3, dilation=2)", "a=2,4,7/q", "w=6,4,3/q",
     "b=6/q")
each(["f32"], "return F.conv1d(a, w, b, groups=2), F.conv1d(a, w, groups=2,"
     " padding=1, stride=3)", "a=2,4,7/q", "w=6,2,3/q", "b=6/q")
each(["f32"], "return F.conv2d(a, w, groups=4), F.conv2d(a, w, b, groups=4,"
     " padding=1)", "a=1,4,5,6/q", "w=4,1,3,2/q",
     "b=4/q")
case("F.conv1d(a, w, groups=2)", "a=2,4,7/q", "w=6,4,3/q")
each(FLOATS, "return F.cosine_similarity(a, b), F.cosine_similarity(a, b, dim=0),"
     " torch.cosine_similarity(a[0], b[1], dim=-1), F.cosine_similarity(a, a, -1)",
     "a=3,5/n", "b=3,5/n", tol=(8, 1))
case("F.cosine_similarity(a, a * 0)", "a=2,3/n")
