# minimax.py - prints src/num/lanes_poly.h, the polynomials of the lane loops.
#
# Near-minimax fits: least squares on Chebyshev nodes, the weights raised where
# the error is large (Lawson's iteration). Coefficients are rounded one by one
# from the lowest, the rest fitted again each time. The error printed is the
# largest on a finer grid, in exact arithmetic with the rounded coefficients.
# Needs mpmath; run by hand when a polynomial is to change:
#     python3 tools/minimax.py >src/num/lanes_poly.h
import sys

import mpmath as mp

mp.mp.prec = 260


def nodes(low, high, count):
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count))
            for i in range(count)]


def least_squares(xs, fs, ws, powers):
    n = len(powers)
    basis = [[x ** p for p in powers] for x in xs]
    a, b = mp.matrix(n, n), mp.matrix(n, 1)
    for row, f, w in zip(basis, fs, ws):
        for i in range(n):
            t = row[i] * w
            b[i] += t * f
            for j in range(i, n):
                a[i, j] += t * row[j]
    for i in range(n):
        for j in range(i):
            a[i, j] = a[j, i]
    return list(mp.lu_solve(a, b))


def minimax(xs, fs, ws, powers, rounds=12):
    """Coefficients c; ws weighs the error, which Lawson's factors level."""
    factors = [mp.mpf(1)] * len(xs)
    best = None
    for _ in range(rounds):
        c = least_squares(xs, fs, [k * w * w for k, w in zip(factors, ws)],
                          powers)
        errors = [abs(w * (f - sum(ci * x ** p for ci, p in zip(c, powers))))
                  for x, f, w in zip(xs, fs, ws)]
        worst = max(errors)
        if best is None or worst < best[0]:
            best = worst, c
        factors = [k * e for k, e in zip(factors, errors)]
        total = sum(factors)
        if total == 0:
            break
        factors = [k / total for k in factors]
    return best[1]


def rounded(c, bits):
    if c == 0:
        return mp.mpf(0)
    m, e = mp.frexp(c)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), e - bits)


def fit(f, weight, powers, low, high, bits):
    """Coefficients that are floats of `bits` bits, and the error left."""
    xs = nodes(low, high, 8 * len(powers) + 8)
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    fixed = []
    for i in range(len(powers)):
        rest = [v - sum(c * x ** p for c, p in fixed) for x, v in zip(xs, fs)]
        c = minimax(xs, rest, ws, powers[i:])
        fixed.append((rounded(c[0], bits), powers[i]))
    test = nodes(low, high, 1500)
    left = max(abs(weight(x) * (f(x) - sum(c * x ** p for c, p in fixed)))
               for x in test)
    return [c for c, _ in fixed], left


def hex_float(v, bits):
    mantissa, exponent = float(v).hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{int(exponent)}" + ("f" if bits == 24 else "")


def show(name, says, f, weight, terms, low, high, bits=53):
    c, error = fit(f, weight, list(range(terms)), mp.mpf(low), mp.mpf(high),
                   bits)
    real, width = ("float", 32) if bits == 24 else ("double", 64)
    print(f"""
// {says}: error 2^{float(mp.log(error, 2)):.1f}.
INLINE {real} poly_{name}{width}({real} x)
{{
    {real} p = {hex_float(c[-1], bits)};""")
    for v in c[-2::-1]:
        print(f"    p = fma{width}(p, x, {hex_float(v, bits)});")
    print("    return p;\n}")
    sys.stdout.flush()


def exp_rest(x):
    """(e^x - 1 - x) / x^2"""
    return sum(x ** k / mp.factorial(k + 2) for k in range(60))


def odd_rest(f):
    """(f(x) / x - 1) / x^2 as a function of z = x^2."""
    def g(z):
        x = mp.sqrt(z)
        return (f(x) / x - 1) / z
    return g


def of_square(weight):
    return lambda z: weight(mp.sqrt(z))


def log_square(z):
    """(log((1 + s) / (1 - s)) / s - 2) / s^2, z = s^2"""
    return 2 * sum(z ** k / (2 * k + 3) for k in range(120))


def log_rest(f):
    """(log(1 + f) - f + f^2 / 2) / f^3"""
    return sum((-f) ** k / (k + 3) for k in range(700))


def log2_rest(f):
    """(log2(1 + f) - f log2(e)) / f^2"""
    return -sum((-f) ** k / (k + 2) for k in range(700)) / LN2


def erfc_scaled(t):
    x = 2 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x)


def erfc_weight(t):
    x = 2 * (1 + t) / (1 - t)
    return mp.exp(-x * x)


LN2 = mp.log(2)
SLACK = mp.mpf("1.0001")
HALF_LN2 = LN2 / 2 * SLACK
TINY = mp.mpf(2) ** -40
HALF = mp.mpf("0.5")
QUARTER_PI = mp.pi / 4 * SLACK


def odd(name, says, f, top, terms, bits=53):
    show(name, f"{says} = y + y^3 p(y^2)", odd_rest(f),
         of_square(lambda x: x ** 3 / f(x)), terms, TINY, top ** 2, bits)


def doubles():
    show("exp", "e^x = 1 + x + x^2 p(x), |x| <= ln(2) / 2", exp_rest,
         lambda x: x * x * mp.exp(-x), 10, -HALF_LN2, HALF_LN2)
    show("exp2_", "2^x = 1 + x ln(2) + x^2 p(x), |x| <= 1/2",
         lambda x: LN2 ** 2 * exp_rest(x * LN2),
         lambda x: x * x * mp.mpf(2) ** -x, 10, -HALF, HALF)
    end = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * SLACK
    show("log", "log((1 + s) / (1 - s)) = 2 s + s^3 p(s^2), |s| < 0.1716",
         log_square, lambda z: z / 2, 7, 0, end)
    show("log_far", "the same = 2 s + 2/3 s^3 + s^5 p(s^2)",
         lambda z: 2 * sum(z ** k / (2 * k + 5) for k in range(120)),
         lambda z: z * z / 2, 7, 0, end)
    odd("sin", "sin(y), |y| <= pi / 4,", mp.sin, QUARTER_PI, 6)
    show("cos", "cos(y) = 1 - y^2 / 2 + y^4 p(y^2), |y| <= pi / 4",
         lambda z: sum((-z) ** k / mp.factorial(2 * k + 4) for k in range(40)),
         of_square(lambda x: x ** 4 / mp.cos(x)), 6, 0, QUARTER_PI ** 2)
    odd("asin", "asin(y), |y| <= 1/2,", mp.asin, HALF, 13)
    odd("atan", "atan(y), |y| <= tan(pi / 8),", mp.atan,
        mp.tan(mp.pi / 8) * SLACK, 11)
    odd("sinh", "sinh(y), |y| <= 1,", mp.sinh, mp.mpf(1), 7)
    odd("tanh", "tanh(y), |y| <= 0.55,", mp.tanh, mp.mpf("0.55"), 11)
    show("erf", "erf(y) = y + y p(y^2), |y| <= 1",
         lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
         of_square(lambda x: x / mp.erf(x)), 13, TINY, 1)
    show("erfc", "erfc(y) = e^(-y^2) p((y - 2) / (y + 2)), 1 <= y <= 6, of 1",
         erfc_scaled, erfc_weight, 15, -mp.mpf(1) / 3, HALF)


def floats():
    show("exp", "e^x = 1 + x + x^2 p(x), |x| <= ln(2) / 2", exp_rest,
         lambda x: x * x * mp.exp(-x), 5, -HALF_LN2, HALF_LN2, 24)
    show("exp2_", "2^x = 1 + x p(x), |x| <= 1/2",
         lambda x: LN2 + x * LN2 ** 2 * exp_rest(x * LN2),
         lambda x: x * mp.mpf(2) ** -x, 6, -HALF, HALF, 24)
    low, high = mp.sqrt(HALF) - 1, mp.sqrt(2) - 1
    show("log", "log(1 + x) = x - x^2 / 2 + x^3 p(x), 0.707 < 1 + x < 1.415",
         log_rest, lambda f: f ** 3 / mp.log(1 + f), 8, low, high, 24)
    show("log2_", "log2(1 + x) = x log2(e) + x^2 p(x), the same range",
         log2_rest, lambda f: f ** 2 / mp.log(1 + f), 9, low, high, 24)
    odd("tanh", "tanh(y), |y| <= 0.55,", mp.tanh, mp.mpf("0.55"), 5, 24)


if __name__ == "__main__":
    print("""// lanes_poly.h - polynomials of the elementary functions.
//
// Printed by tools/minimax.py. Errors are relative to the function named, for
// the coefficients as they stand, before the rounding of the steps.
#ifndef NUM_LANES_POLY_H
#define NUM_LANES_POLY_H

#include "num/lanes_int.h"
""", end="")
    doubles()
    floats()
    print("#endif")
