"""Floats: sections 9.7.3, 9.7.4, the float comparisons of 9.7.6 and 9.7.7, and cvt of floats."""

import exact
from exact import FORMATS, NAN, decode, flush, is_nan, saturate
from forms_bits import ALL_ONES, COMBINE, COMPARE, setp
from forms_integer import clamp, number

MODES = ("rn", "rz", "rm", "rp")


def write(table):
    single_and_double(table)
    half(table)
    extremes(table)
    signs(table)
    comparisons(table)
    to_floats(table)
    to_integers(table)
    between_floats(table)
    packs(table)


def modified(f, ty, ftz, sat):
    """A function with .ftz and .sat, as 9.7.3 has them."""
    def g(*operands):
        operands = [flush(x, ty) for x in operands] if ftz else operands
        result = f(*operands)
        result = saturate(result, ty) if sat else result
        return flush(result, ty) if ftz else result

    return g


def modifiers(ty):
    if ty in ("f32", "f16"):
        return [(ftz, sat) for ftz in (False, True) for sat in (False, True)]
    return [(False, False)]


def spelled(*parts):
    return ".".join(part for part in parts if part)


def single_and_double(table):
    sections = {"add": 3, "sub": 4, "mul": 5, "fma": 6, "mad": 7, "div": 8, "rcp": 13, "sqrt": 15}
    for ty in ("f32", "f64"):
        functions = {
            "add": (2, exact.add), "sub": (2, exact.sub), "mul": (2, exact.mul),
            "fma": (3, exact.fma), "mad": (3, exact.fma), "div": (2, exact.div),
            "rcp": (1, lambda a, t, m: exact.div(exact.encode(False, 1, t), a, t, m)),
            "sqrt": (1, exact.sqrt),
        }
        for name, (count, f) in functions.items():
            optional = [""] if name in ("add", "sub", "mul") else []
            for mode in optional + list(MODES):
                for ftz, sat in modifiers(ty):
                    if sat and name in ("div", "rcp", "sqrt"):
                        continue
                    plain = lambda *v, f=f, ty=ty, m=mode: f(*v, ty, m or "rn")
                    opcode = spelled(name, mode, "ftz" * ftz, "sat" * sat, ty)
                    table.form(opcode, f"9.7.3.{sections[name]}", (ty,) * count, ty,
                               modified(plain, ty, ftz, sat))


def both(f):
    """f on the low and on the high half."""
    return lambda *v: f(*(x & 0xFFFF for x in v)) | f(*(x >> 16 for x in v)) << 16


def scalar_and_pair(table, name, mods, ty, section, count, f):
    table.form(spelled(name, mods, ty), section, (ty,) * count, ty, f)
    pair = ty + "x2"
    table.form(spelled(name, mods, pair), section, (pair,) * count, pair, both(f))


def relu(f, ty):
    def g(*operands):
        result = f(*operands)
        return result if is_nan(result, ty) or not decode(result, ty)[0] else 0

    return g


def half(table):
    for ty in ("f16", "bf16"):
        names = [("add", 1, 2, exact.add), ("sub", 2, 2, exact.sub), ("mul", 3, 2, exact.mul),
                 ("fma", 4, 3, exact.fma)]
        for name, section, count, f in names:
            plain = lambda *v, f=f, ty=ty: f(*v, ty, "rn")
            for ftz, sat in modifiers(ty):
                for mode in ("rn",) if name == "fma" else ("", "rn"):
                    mods = spelled(mode, "ftz" * ftz, "sat" * sat)
                    g = modified(plain, ty, ftz, sat)
                    scalar_and_pair(table, name, mods, ty, f"9.7.4.{section}", count, g)
        fma = lambda a, b, c, ty=ty: exact.fma(a, b, c, ty, "rn")
        scalar_and_pair(table, "fma", "rn.relu", ty, "9.7.4.4", 3, relu(fma, ty))
    fma = lambda a, b, c: exact.fma(a, b, c, "f16", "rn")
    ftz = relu(modified(fma, "f16", True, False), "f16")
    scalar_and_pair(table, "fma", "rn.ftz.relu", "f16", "9.7.4.4", 3, ftz)


def extremes(table):
    for name, greatest in (("min", False), ("max", True)):
        def plain(a, b, ty, strict, crossed, g=greatest):
            sign = 1 << exact.width(ty) - 1
            if crossed:
                result = exact.extreme(a & ~sign, b & ~sign, ty, g, strict)
                return result if is_nan(result, ty) else result | (a ^ b) & sign
            return exact.extreme(a, b, ty, g, strict)

        for ty in ("f32", "f16", "bf16"):
            section = {"f32": 11 + greatest, "f16": 7 + greatest, "bf16": 7 + greatest}[ty]
            for ftz in (False, True)[: 1 if ty == "bf16" else 2]:
                for strict in (False, True):
                    for crossed in (False, True):
                        f = lambda a, b, ty=ty, s=strict, c=crossed: plain(a, b, ty, s, c)
                        f = modified(f, ty, ftz, False)
                        mods = spelled("ftz" * ftz, "NaN" * strict, "xorsign.abs" * crossed)
                        if ty == "f32":
                            opcode = spelled(name, mods, ty)
                            table.form(opcode, f"9.7.3.{section}", (ty, ty), ty, f)
                        else:
                            scalar_and_pair(table, name, mods, ty, f"9.7.4.{section}", 2, f)
        f = lambda a, b: plain(a, b, "f64", False, False)
        table.form(f"{name}.f64", f"9.7.3.{11 + greatest}", ("f64", "f64"), "f64", f)


def signs(table):
    for ty in ("f32", "f64", "f16", "bf16"):
        sign = 1 << exact.width(ty) - 1
        for ftz in (False, True)[: 2 if ty in ("f32", "f16") else 1]:
            start = lambda a, ty=ty, ftz=ftz: flush(a, ty) if ftz else a
            negate = lambda a, s=sign, f=start: f(a) ^ s
            absolute = lambda a, s=sign, f=start: f(a) & ~s
            mods = "ftz" * ftz
            if ty in ("f32", "f64"):
                table.form(spelled("abs", mods, ty), "9.7.3.9", (ty,), ty, absolute)
                table.form(spelled("neg", mods, ty), "9.7.3.10", (ty,), ty, negate)
            else:
                scalar_and_pair(table, "neg", mods, ty, "9.7.4.5", 1, negate)
                scalar_and_pair(table, "abs", mods, ty, "9.7.4.6", 1, absolute)
        if ty not in ("f32", "f64"):
            continue
        copy = lambda a, b, s=sign: a & s | b & ~s
        table.form(f"copysign.{ty}", "9.7.3.2", (ty, ty), ty, copy)
        p, e = FORMATS[ty]
        exponent = lambda a, p=p, e=e: a >> p & ((1 << e) - 1)
        tests = {
            "finite": lambda x, b: x not in ("inf", "nan"), "infinite": lambda x, b: x == "inf",
            "number": lambda x, b: x != "nan", "notanumber": lambda x, b: x == "nan",
            "normal": lambda x, b: x not in ("inf", "nan") and b > 0,
            "subnormal": lambda x, b: x != 0 and b == 0,
        }
        for name, test in tests.items():
            f = lambda a, t=test, ty=ty, x=exponent: t(decode(a, ty)[1], x(a))
            table.form(f"testp.{name}.{ty}", "9.7.3.1", (ty,), "pred", f)


def compare(name, a, b, ty):
    if is_nan(a, ty) or is_nan(b, ty):
        return name.endswith("u") or name == "nan"
    if name in ("num", "nan"):
        return name == "num"
    return COMPARE[name.removesuffix("u")](place(a, ty), place(b, ty))


def place(bits, ty):
    """Where a float that is not NaN lies on the line, infinity far out."""
    negative, x = decode(bits, ty)
    x = 1 << 2000 if x == "inf" else x
    return -x if negative else x


FLOAT_COMPARE = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu",
                 "num", "nan"]


def comparisons(table):
    for ty in ("f32", "f64", "f16", "bf16"):
        wide = ty in ("f32", "f64")
        for ftz in (False, True)[: 2 if ty in ("f32", "f16") else 1]:
            for name in FLOAT_COMPARE:
                def f(a, b, n=name, ty=ty, ftz=ftz):
                    a, b = (flush(x, ty) if ftz else x for x in (a, b))
                    return compare(n, a, b, ty)

                mods = spelled("ftz" * ftz, ty)
                setp(table, name, mods, (ty, ty), f, "9.7.6.2" if wide else "9.7.7.2")
                truths = {"u32": ALL_ONES, "s32": ALL_ONES}
                truths |= {"f32": 0x3F800000} if wide else {
                    "u16": 0xFFFF, "s16": 0xFFFF, ty: 0x3C00 if ty == "f16" else 0x3F80}
                for target, truth in truths.items():
                    value = lambda a, b, f=f, t=truth: t if f(a, b) else 0
                    section = "9.7.6.1" if wide else "9.7.7.1"
                    table.form(f"set.{name}.{mods[:-len(ty)]}{target}.{ty}", section,
                               (ty, ty), target, value)
                if not wide:
                    pairs(table, name, mods + "x2", ty, f)
    for ty in ("b16", "b32", "b64"):
        for ftz in ("", "ftz"):
            def pick(a, b, c, ftz=ftz):
                negative, x = decode(flush(c, "f32") if ftz else c, "f32")
                return b if x == "nan" or negative and x != 0 else a

            opcode = spelled("slct", ftz, ty, "f32")
            table.form(opcode, "9.7.6.4", (ty, ty, "f32"), ty, pick)


def pairs(table, name, mods, ty, f):
    """setp.f16x2, which has a predicate for each half, and set.f16x2."""
    pair = ty + "x2"
    low = lambda a, b, f=f: f(a & 0xFFFF, b & 0xFFFF)
    high = lambda a, b, f=f: f(a >> 16, b >> 16)
    table.form(f"setp.{name}.{mods}", "9.7.7.2", (pair, pair), "pred",
               lambda a, b, l=low, h=high: (l(a, b), h(a, b)), "pred")
    table.form(f"setp.{name}.and.{mods}", "9.7.7.2", (pair, pair, "pred"), "pred",
               lambda a, b, c, l=low, h=high: (l(a, b) and c, h(a, b) and c), "pred")
    ftz = mods[: -len(pair)]
    for target, truth in ((pair, 0x3C00 if ty == "f16" else 0x3F80), ("u32", 0xFFFF)):
        value = lambda a, b, l=low, h=high, t=truth: (t if l(a, b) else 0) | (
            t << 16 if h(a, b) else 0)
        table.form(f"set.{name}.{ftz}{target}.{pair}", "9.7.7.1", (pair, pair), target, value)


INTEGERS = [k + n for k in "us" for n in ("8", "16", "32", "64")]


def to_floats(table):
    for source in INTEGERS:
        for target in ("f16", "bf16", "f32", "f64"):
            for mode in MODES:
                f = lambda a, s=source, t=target, m=mode: exact.of_number(number(a, s), t, m)
                g = lambda a, f=f, t=target: saturate(f(a), t)
                opcode = f"cvt.{mode}.{target}.{source}"
                table.form(opcode, "9.7.9.21", (source,), target, f)
                if mode == "rn":
                    opcode = f"cvt.rn.sat.{target}.{source}"
                    table.form(opcode, "9.7.9.21", (source,), target, g)


def to_integers(table):
    for source in ("f16", "bf16", "f32", "f64"):
        for target in INTEGERS:
            for mode in MODES:
                for ftz in ("", "ftz")[: 2 if source == "f32" else 1]:
                    def f(a, s=source, t=target, m=mode, ftz=ftz):
                        negative, x = decode(flush(a, s) if ftz else a, s)
                        if x == "nan":
                            wide = s == "f64" or t.endswith("64")
                            return 1 << int(t[1:]) - 1 if wide else 0
                        x = 1 << 2000 if x == "inf" else x
                        return clamp(exact.to_integral(-x if negative else x, m), t)

                    def kept(a, f=f, t=target):
                        # An 8-bit result is extended to the 16 bits of the smallest register.
                        return number(f(a), t)

                    register = target if target[1:] != "8" else target[0] + "16"
                    opcode = spelled("cvt", mode + "i", ftz, target, source)
                    table.form(opcode, "9.7.9.21", (source,), register, kept)


def between(a, source, target, mode, ftz, sat):
    a = flush(a, source) if ftz and source == "f32" else a
    negative, x = decode(a, source)
    if x == "nan":
        return 0 if sat else NAN[target]
    if mode.endswith("i"):
        x = x if x == "inf" else abs(exact.to_integral(-x if negative else x, mode[:-1]))
    bits = exact.infinity(negative, target) if x == "inf" else exact.encode(
        negative, x, target, mode if mode in MODES else "rn")
    bits = saturate(bits, target) if sat else bits
    return flush(bits, target) if ftz and target == "f32" else bits


def between_floats(table):
    for source, target in [(s, t) for s in FORMATS for t in FORMATS if "tf32" not in (s, t)]:
        narrowing = exact.width(target) < exact.width(source) or (
            source != target and exact.width(target) == exact.width(source))
        modes = list(MODES) if narrowing else [""]
        modes += [m + "i" for m in MODES] if source == target else []
        for mode in modes:
            for ftz in ("", "ftz")[: 2 if "f32" in (source, target) else 1]:
                for sat in ("", "sat"):
                    if (source, target, mode, sat) == ("f64", "f64", "", ""):
                        continue
                    if source == "f32" and target == "f64" and not sat:
                        f = widened
                    else:
                        f = lambda a, s=source, t=target, m=mode, f=ftz, q=sat: between(
                            a, s, t, m, f, q)
                    g = (lambda a, f=f: f(flush(a, "f32"))) if f is widened and ftz else f
                    opcode = spelled("cvt", mode, ftz, sat, target, source)
                    table.form(opcode, "9.7.9.21", (source,), target, g)


def widened(a):
    """f32 to f64, a NaN keeping its payload."""
    if is_nan(a, "f32"):
        return (a & 0x80000000) << 32 | 0x7FF8 << 48 | (a & 0x3FFFFF) << 29
    return between(a, "f32", "f64", "", "", "")


def packs(table):
    for ty in ("f16", "bf16"):
        for mode in ("rn", "rz"):
            for relu_ in ("", "relu"):
                def one(a, ty=ty, m=mode, r=relu_):
                    bits = between(a, "f32", ty, m, "", "")
                    return 0 if r and bits >> 15 and not is_nan(bits, ty) else bits

                pair = lambda a, b, f=one: f(a) << 16 | f(b)
                opcode = spelled("cvt", mode, relu_, ty + "x2", "f32")
                table.form(opcode, "9.7.9.21", ("f32", "f32"), ty + "x2", pair)
                if relu_:
                    opcode = spelled("cvt", mode, relu_, ty, "f32")
                    table.form(opcode, "9.7.9.21", ("f32",), ty, one)

    def tf32(a):
        negative, x = decode(a, "f32")
        if x == "nan":
            return NAN["f32"]
        if x == "inf":
            return a
        return exact.encode(negative, x, "tf32", "rna") << 13

    table.form("cvt.rna.tf32.f32", "9.7.9.21", ("f32",), "b32", tf32)
