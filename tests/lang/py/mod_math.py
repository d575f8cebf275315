import math
print(math.sqrt(2), math.exp(1), math.exp2(3), math.log(10), math.log(8, 2), math.log2(8), math.log10(1000), math.log1p(0.5), math.expm1(1e-5))
print(math.sin(1), math.cos(1), math.tan(1), math.asin(0.5), math.acos(0.5), math.atan(1), math.atan2(1, -1), math.sinh(1), math.cosh(1), math.tanh(0.5))
print(math.ceil(1.2), math.floor(-1.2), math.trunc(-1.7), math.ceil(3), math.floor(True), math.fabs(-2), math.fmod(-7, 3), math.copysign(3, -0.0))
print(math.gcd(12, 18), math.gcd(0, 5), math.gcd(12, 18, 8), math.gcd(), math.lcm(4, 6), math.lcm(3, 0), math.isqrt(17), math.isqrt(10**18), math.factorial(10), math.comb(10, 3), math.perm(5, 2), math.perm(4))
print(math.pi, math.e, math.tau, math.inf, math.nan, -math.inf)
print(math.isnan(math.nan), math.isinf(-math.inf), math.isfinite(1), math.isclose(0.1 + 0.2, 0.3), math.isclose(1, 1.1, rel_tol=0.2), math.isclose(0, 1e-10, abs_tol=1e-9))
print(math.hypot(3, 4), math.hypot(1, 2, 3), math.degrees(math.pi), math.radians(180), math.pow(2, 0.5), math.prod([1, 2, 3, 4]), math.prod([], start=5), math.prod([0.5, 4]))
print(math.fsum([0.1] * 10), math.fsum([1e100, 1, -1e100]), math.dist([0, 0], [3, 4]), math.ldexp(0.5, 3), math.frexp(8), math.modf(2.5), math.modf(-2.5))
print(math.erf(0.5), math.erfc(0.5), math.gamma(5), round(math.lgamma(10), 12), math.remainder(7, 4), math.ulp(1.0), math.nextafter(1, 2), math.cbrt(27))
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.log(-1), lambda: math.factorial(-1), lambda: math.exp(1000), lambda: math.acos(2), lambda: math.isqrt(-1), lambda: math.sqrt("x"), lambda: math.ceil("x") if False else math.floor(math.nan), lambda: math.floor(math.inf), lambda: math.pow(0, -1), lambda: math.nope, lambda: math.gcd(1.5, 2), lambda: math.fmod(1, 0), lambda: math.log2(0), lambda: math.comb(-1, 2)):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
print(math.ceil(64 / 10), math.ceil(7 / 2), math.log2(1024), int(math.log2(128)), math.floor(2.9999999999999996))
