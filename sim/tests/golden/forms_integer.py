"""Integer arithmetic: sections 9.7.1 and 9.7.2 of the PTX ISA."""


def number(bits, ty):
    """The number that bits stand for in an integer type."""
    n = int(ty[1:])
    bits &= (1 << n) - 1
    return bits - (1 << n) if ty[0] == "s" and bits >> (n - 1) else bits


def clamp(x, ty):
    n = int(ty[1:])
    least, greatest = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if ty[0] == "s" else (0, (1 << n) - 1)
    return max(least, min(greatest, x))


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def typed(ty, f):
    """f on numbers of a type."""
    return lambda *values: f(*(number(v, ty) for v in values))


def halves(ty, f):
    """f on the two halves of words, as numbers of a 16-bit type."""
    low = typed(ty, f)
    return lambda *v: low(*v) & 0xFFFF | (low(*(x >> 16 for x in v)) & 0xFFFF) << 16


ALL = ["u16", "s16", "u32", "s32", "u64", "s64"]


def write(table):
    sums(table)
    products(table)
    quotients(table)
    rest(table)
    dots(table)
    carries(table)


def sums(table):
    for ty in ALL:
        two = (ty, ty)
        table.form(f"add.{ty}", "9.7.1.1", two, ty, typed(ty, lambda a, b: a + b))
        table.form(f"sub.{ty}", "9.7.1.2", two, ty, typed(ty, lambda a, b: a - b))
    add, sub = lambda a, b: clamp(a + b, "s32"), lambda a, b: clamp(a - b, "s32")
    table.form("add.sat.s32", "9.7.1.1", ("s32", "s32"), "s32", typed("s32", add))
    table.form("sub.sat.s32", "9.7.1.2", ("s32", "s32"), "s32", typed("s32", sub))
    for ty in ("u16", "s16"):
        table.form(f"add.{ty}x2", "9.7.1.1", ("b32", "b32"), "b32", halves(ty, lambda a, b: a + b))


def products(table):
    for ty in ALL:
        n, wide = int(ty[1:]), f"{ty[0]}{2 * int(ty[1:])}"
        lo, hi = typed(ty, lambda a, b: a * b), typed(ty, lambda a, b, n=n: a * b >> n)
        table.form(f"mul.lo.{ty}", "9.7.1.3", (ty, ty), ty, lo)
        table.form(f"mul.hi.{ty}", "9.7.1.3", (ty, ty), ty, hi)
        lo, hi = (typed(ty, lambda a, b, c: a * b + c),
                  typed(ty, lambda a, b, c, n=n: (a * b >> n) + c))
        table.form(f"mad.lo.{ty}", "9.7.1.4", (ty, ty, ty), ty, lo)
        table.form(f"mad.hi.{ty}", "9.7.1.4", (ty, ty, ty), ty, hi)
        if n < 64:
            mul = lambda a, b, ty=ty: number(a, ty) * number(b, ty)
            mad = lambda a, b, c, ty=ty, wide=wide: number(a, ty) * number(b, ty) + number(c, wide)
            table.form(f"mul.wide.{ty}", "9.7.1.3", (ty, ty), wide, mul)
            table.form(f"mad.wide.{ty}", "9.7.1.4", (ty, ty, wide), wide, mad)
    three = ("s32", "s32", "s32")
    high = typed("s32", lambda a, b, c: clamp((a * b >> 32) + c, "s32"))
    table.form("mad.hi.sat.s32", "9.7.1.4", three, "s32", high)
    for ty in ("u32", "s32"):
        short = lambda x, ty=ty: number(x, ty[0] + "24")
        for half, shift in (("lo", 0), ("hi", 16)):
            mul = lambda a, b, s=short, n=shift: s(a) * s(b) >> n
            mad = lambda a, b, c, s=short, n=shift: (s(a) * s(b) >> n) + c
            table.form(f"mul24.{half}.{ty}", "9.7.1.5", (ty, ty), ty, mul)
            table.form(f"mad24.{half}.{ty}", "9.7.1.6", (ty, ty, ty), ty, mad)
    short = lambda x: number(x, "s24")
    sat = lambda a, b, c: clamp(number(short(a) * short(b) >> 16, "s32") + number(c, "s32"), "s32")
    table.form("mad24.hi.sat.s32", "9.7.1.6", three, "s32", sat)


def quotients(table):
    for ty in ALL:
        # The ISA leaves a zero divisor open: all ones, and the dividend, as the hardware has it.
        div = typed(ty, lambda a, b: truncated(a, b) if b else -1)
        rem = typed(ty, lambda a, b: a - b * truncated(a, b) if b else a)
        table.form(f"div.{ty}", "9.7.1.8", (ty, ty), ty, div)
        table.form(f"rem.{ty}", "9.7.1.9", (ty, ty), ty, rem)


def rest(table):
    for ty in ALL:
        sad = typed(ty, lambda a, b, c: c + abs(a - b))
        table.form(f"sad.{ty}", "9.7.1.7", (ty, ty, ty), ty, sad)
        table.form(f"min.{ty}", "9.7.1.12", (ty, ty), ty, typed(ty, min))
        table.form(f"max.{ty}", "9.7.1.13", (ty, ty), ty, typed(ty, max))
        if ty[0] == "s":
            table.form(f"abs.{ty}", "9.7.1.10", (ty,), ty, typed(ty, abs))
            table.form(f"neg.{ty}", "9.7.1.11", (ty,), ty, typed(ty, lambda a: -a))
    for name, f, section in (("min", min, "9.7.1.12"), ("max", max, "9.7.1.13")):
        relu = lambda a, b, f=f: max(f(a, b), 0)
        table.form(f"{name}.relu.s32", section, ("s32", "s32"), "s32", typed("s32", relu))
        for ty in ("u16", "s16"):
            table.form(f"{name}.{ty}x2", section, ("b32", "b32"), "b32", halves(ty, f))
        table.form(f"{name}.relu.s16x2", section, ("b32", "b32"), "b32", halves("s16", relu))


def dots(table):
    def dot(a, b, c, at, bt, n, first=0):
        parts = [number(a >> (i * 32 // n), f"{at}{32 // n}") for i in range(n)]
        bytes_ = [number(b >> (8 * (first + i)), f"{bt}8") for i in range(n)]
        return c + sum(x * y for x, y in zip(parts, bytes_))

    for at in "us":
        for bt in "us":
            kinds, three = f"{at}32.{bt}32", ("b32", "b32", "b32")
            four = lambda a, b, c, at=at, bt=bt: dot(a, b, c, at, bt, 4)
            table.form(f"dp4a.{kinds}", "9.7.1.23", three, "b32", four)
            for half, first in (("lo", 0), ("hi", 2)):
                pair = lambda a, b, c, at=at, bt=bt, f=first: dot(a, b, c, at, bt, 2, f)
                table.form(f"dp2a.{half}.{kinds}", "9.7.1.24", three, "b32", pair)


def carries(table):
    for ty in ("u32", "s32", "u64", "s64"):
        n = int(ty[1:])
        full = 1 << n
        out = lambda x, full=full: (x % full, x >= full or x < 0)
        two, three = (ty, ty), (ty, ty, "carry")
        form = table.form
        form(f"add.cc.{ty}", "9.7.2.1", two, ty, lambda a, b, o=out: o(a + b), "carry")
        form(f"addc.cc.{ty}", "9.7.2.2", three, ty, lambda a, b, c, o=out: o(a + b + c), "carry")
        form(f"addc.{ty}", "9.7.2.2", three, ty, lambda a, b, c: a + b + c)
        form(f"sub.cc.{ty}", "9.7.2.3", two, ty, lambda a, b, o=out: o(a - b), "carry")
        form(f"subc.cc.{ty}", "9.7.2.4", three, ty, lambda a, b, c, o=out: o(a - b - c), "carry")
        form(f"subc.{ty}", "9.7.2.4", three, ty, lambda a, b, c: a - b - c)
        for half in ("lo", "hi"):
            part = lambda a, b, ty=ty, n=n, h=half: (
                number(a, ty) * number(b, ty) >> (n if h == "hi" else 0)) % (1 << n)
            mad, madc = (ty, ty, ty), (ty, ty, ty, "carry")
            form(f"mad.{half}.cc.{ty}", "9.7.2.5", mad, ty,
                 lambda a, b, c, p=part, o=out: o(p(a, b) + c), "carry")
            form(f"madc.{half}.cc.{ty}", "9.7.2.6", madc, ty,
                 lambda a, b, c, d, p=part, o=out: o(p(a, b) + c + d), "carry")
            form(f"madc.{half}.{ty}", "9.7.2.6", madc, ty,
                 lambda a, b, c, d, p=part: p(a, b) + c + d)
