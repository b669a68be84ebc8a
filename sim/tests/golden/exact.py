"""Floating-point arithmetic by definition: exact fractions, rounded once.

A float is decoded to (negative, value) with value a Fraction, "inf" or "nan". Nothing here knows
how the simulator computes.
"""

from fractions import Fraction
from math import isqrt

FORMATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11), "tf32": (10, 8)}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8000000000000}


def width(ty):
    fraction, exponent = FORMATS[ty]
    return fraction + exponent + 1


def decode(bits, ty):
    p, e = FORMATS[ty]
    negative = bool(bits >> (p + e) & 1)
    biased, fraction = bits >> p & ((1 << e) - 1), bits & ((1 << p) - 1)
    bias = (1 << (e - 1)) - 1
    if biased == (1 << e) - 1:
        return negative, "nan" if fraction else "inf"
    if biased == 0:
        return negative, Fraction(fraction) * power(1 - bias - p)
    return negative, Fraction(fraction | 1 << p) * power(biased - bias - p)


def power(n):
    return Fraction(1 << n) if n >= 0 else Fraction(1, 1 << -n)


def signed(x):
    """The number of a decoded finite float."""
    return -x[1] if x[0] else x[1]


def infinity(negative, ty):
    p, e = FORMATS[ty]
    return (((1 << e) - 1) << p) | (int(negative) << (p + e))


def zero(negative, ty):
    p, e = FORMATS[ty]
    return int(negative) << (p + e)


def log2_floor(x):
    """The exponent of the highest power of two that is at most x > 0."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if power(n) <= x else n - 1


def choose(low, rest, mode, negative):
    """The integer for low + rest, 0 <= rest < 1."""
    if rest == 0:
        return low
    up = {
        "rn": rest > Fraction(1, 2) or rest == Fraction(1, 2) and low & 1,
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": negative,
        "rp": not negative,
    }[mode]
    return low + 1 if up else low


def encode(negative, magnitude, ty, mode="rn"):
    """The bits of the float that a mode gives for a number; a zero has the sign that is given."""
    p, e = FORMATS[ty]
    bias = (1 << (e - 1)) - 1
    if magnitude == 0:
        return zero(negative, ty)
    exponent = max(log2_floor(magnitude), 1 - bias)
    steps = magnitude / power(exponent - p)
    low = steps.numerator // steps.denominator
    taken = choose(low, steps - low, mode, negative)
    rounded = taken * power(exponent - p)
    greatest = ((1 << (p + 1)) - 1) * power(bias - p)
    if rounded > greatest:
        inward = mode == "rz" or mode == "rm" and not negative or mode == "rp" and negative
        return infinity(negative, ty) - (1 if inward else 0)
    if taken < 1 << p:
        return zero(negative, ty) | taken
    if taken == 1 << (p + 1):
        exponent, taken = exponent + 1, 1 << p
    return zero(negative, ty) | ((exponent + bias) << p) | (taken - (1 << p))


def of_number(x, ty, mode="rn", negative_zero=False):
    return encode(x < 0 or x == 0 and negative_zero, abs(x), ty, mode)


def sqrt_bits(x, ty, mode):
    """The root of a positive Fraction: its digits to far beyond the format, and a sticky one."""
    scale = 700
    scaled = x * power(2 * scale)
    low = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(low) * low == scaled
    value = Fraction(low) if exact else Fraction(2 * low + 1, 2)
    return encode(False, value / power(scale), ty, mode)


def flush(bits, ty):
    p, e = FORMATS[ty]
    exponent = bits >> p & ((1 << e) - 1)
    return bits if exponent else bits & 1 << (p + e)


def is_nan(bits, ty):
    return decode(bits, ty)[1] == "nan"


def nan(ty, *operands):
    """The NaN of an operation: canonical, in f64 with the first operand's payload."""
    if ty == "f64":
        for bits in operands:
            if is_nan(bits, ty):
                return bits | 1 << 51
    return NAN[ty]


def add(a, b, ty, mode):
    return fma_of(decode(a, ty), decode(b, ty), ty, mode, (a, b))


def product(x, y):
    """The exact product of two decoded floats."""
    negative = x[0] != y[0]
    if "nan" in (x[1], y[1]):
        return negative, "nan"
    if "inf" in (x[1], y[1]):
        return negative, "nan" if 0 in (x[1], y[1]) else "inf"
    return negative, x[1] * y[1]


def fma_of(x, y, ty, mode, operands):
    """x + y, rounded."""
    if "nan" in (x[1], y[1]):
        return nan(ty, *operands)
    if x[1] == "inf" and y[1] == "inf" and x[0] != y[0]:
        return nan(ty, *operands)
    for one in (x, y):
        if one[1] == "inf":
            return infinity(one[0], ty)
    total = signed(x) + signed(y)
    if total == 0:
        both = x[0] == y[0] and x[1] == 0
        return zero(x[0] if both else mode == "rm", ty)
    return of_number(total, ty, mode)


def mul(a, b, ty, mode):
    x = product(decode(a, ty), decode(b, ty))
    if x[1] == "nan":
        return nan(ty, a, b)
    return infinity(x[0], ty) if x[1] == "inf" else encode(*x, ty, mode)


def sub(a, b, ty, mode):
    x, y = decode(a, ty), decode(b, ty)
    return fma_of(x, (not y[0], y[1]), ty, mode, (a, b))


def fma(a, b, c, ty, mode):
    x = product(decode(a, ty), decode(b, ty))
    return fma_of(x, decode(c, ty), ty, mode, (a, b, c))


def div(a, b, ty, mode):
    x, y = decode(a, ty), decode(b, ty)
    negative = x[0] != y[0]
    if "nan" in (x[1], y[1]) or x[1] == y[1] and x[1] in (0, "inf"):
        return nan(ty, a, b)
    if x[1] == "inf" or y[1] == 0:
        return infinity(negative, ty)
    if y[1] == "inf":
        return zero(negative, ty)
    return encode(negative, x[1] / y[1], ty, mode)


def sqrt(a, ty, mode):
    negative, x = decode(a, ty)
    if x == "nan" or negative and x != 0:
        return nan(ty, a)
    if x in (0, "inf"):
        return a
    return sqrt_bits(x, ty, mode)


def saturate(bits, ty):
    negative, x = decode(bits, ty)
    if x == "nan" or negative:
        return 0
    one = encode(False, Fraction(1), ty)
    return one if x == "inf" or x > 1 else bits


def order(bits, ty):
    """A key that sorts numbers, -0 before +0."""
    negative, x = decode(bits, ty)
    x = Fraction(1 << 2000) if x == "inf" else x
    return (-x, 0) if negative else (x, 1)


def extreme(a, b, ty, greatest, strict):
    if is_nan(a, ty) or is_nan(b, ty):
        if strict or is_nan(a, ty) and is_nan(b, ty):
            return a if ty == "f64" else NAN[ty]
        return b if is_nan(a, ty) else a
    return (max if greatest else min)(a, b, key=lambda bits: order(bits, ty))


def to_integral(x, mode):
    """A Fraction, rounded to an integer."""
    negative, magnitude = x < 0, abs(x)
    low = magnitude.numerator // magnitude.denominator
    taken = choose(low, magnitude - low, mode, negative)
    return -taken if negative else taken
