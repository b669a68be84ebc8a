"""Bits: sections 9.7.1.14 to 22, 9.7.8, prmt of 9.7.9, and comparisons of integers, 9.7.6."""

from forms_integer import clamp, number

ALL_ONES = 0xFFFFFFFF


def write(table):
    logic(table)
    shifts(table)
    counts(table)
    fields(table)
    permutes(table)
    comparisons(table)
    selections(table)
    conversions(table)


def logic(table):
    ops = [("and", "9.7.8.1", lambda a, b: a & b), ("or", "9.7.8.2", lambda a, b: a | b),
           ("xor", "9.7.8.3", lambda a, b: a ^ b)]
    for ty in ("pred", "b16", "b32", "b64"):
        for name, section, f in ops:
            table.form(f"{name}.{ty}", section, (ty, ty), ty, f)
        invert = (lambda a: 1 - a) if ty == "pred" else (lambda a: ~a)
        table.form(f"not.{ty}", "9.7.8.4", (ty,), ty, invert)
        table.form(f"mov.{ty}", "9.7.9.3", (ty,), ty, lambda a: a)
        if ty != "pred":
            table.form(f"cnot.{ty}", "9.7.8.5", (ty,), ty, lambda a: int(a == 0))
    for ty in ("u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"):
        table.form(f"mov.{ty}", "9.7.9.3", (ty,), ty, lambda a: a)

    def lop3(a, b, c, lut):
        bit = lambda x, i: x >> i & 1
        index = lambda i: bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i)
        return sum(bit(lut, index(i)) << i for i in range(32))

    table.form("lop3.b32", "9.7.8.6", ("b32", "b32", "b32", "b32"), "b32", lop3)


def shifts(table):
    for n in (16, 32, 64):
        left = lambda a, s, n=n: a << min(s, 64)
        table.form(f"shl.b{n}", "9.7.8.8", (f"b{n}", "count"), f"b{n}", left)
        for kind in "bus":
            ty = f"{kind}{n}"
            plain = ty.replace("b", "u")
            right = lambda a, s, ty=plain: number(a, ty) >> min(s, 64)
            table.form(f"shr.{ty}", "9.7.8.9", (ty, "count"), ty, right)
    for mode, amount in (("wrap", lambda s: s & 31), ("clamp", lambda s: min(s, 32))):
        three = ("b32", "b32", "count")
        left = lambda a, b, s, f=amount: (b << 32 | a) << f(s) >> 32
        right = lambda a, b, s, f=amount: (b << 32 | a) >> f(s)
        table.form(f"shf.l.{mode}.b32", "9.7.8.7", three, "b32", left)
        table.form(f"shf.r.{mode}.b32", "9.7.8.7", three, "b32", right)


def counts(table):
    for n in (32, 64):
        ty = f"b{n}"
        table.form(f"popc.{ty}", "9.7.1.14", (ty,), "u32", lambda a: bin(a).count("1"))
        table.form(f"clz.{ty}", "9.7.1.15", (ty,), "u32", lambda a, n=n: n - a.bit_length())
        reverse = lambda a, n=n: int(f"{a:0{n}b}"[::-1], 2)
        table.form(f"brev.{ty}", "9.7.1.18", (ty,), ty, reverse)
        for kind in "us":
            def find(a, ty=f"{kind}{n}"):
                x = number(a, ty)
                return (~x if x < 0 else x).bit_length() - 1

            def amount(a, f=find, n=n):
                return ALL_ONES if f(a) < 0 else n - 1 - f(a)

            name = f"{kind}{n}"
            table.form(f"bfind.{name}", "9.7.1.16", (name,), "u32", find)
            table.form(f"bfind.shiftamt.{name}", "9.7.1.16", (name,), "u32", amount)

    def fns(mask, base, offset):
        offset = number(offset, "s32")
        if offset == 0:
            return base if base < 32 and mask >> base & 1 else ALL_ONES
        at, step, left = base, 1 if offset > 0 else -1, abs(offset) - 1
        while 0 <= at < 32:
            if mask >> at & 1:
                if left == 0:
                    return at
                left -= 1
            at += step
        return ALL_ONES

    table.form("fns.b32", "9.7.1.17", ("b32", "count", "count"), "b32", fns)


def fields(table):
    for ty in ("u32", "s32", "u64", "s64"):
        n = int(ty[1:])

        def extract(a, at, length, n=n, signed=ty[0] == "s"):
            at, length = at & 255, length & 255
            bit = lambda i: a >> i & 1
            sign = bit(min(at + length - 1, n - 1)) if signed and length else 0
            inside = lambda i: i < length and at + i < n
            return sum((bit(at + i) if inside(i) else sign) << i for i in range(n))

        table.form(f"bfe.{ty}", "9.7.1.19", (ty, "count", "count"), ty, extract)
    for n in (32, 64):
        def insert(a, b, at, length, n=n):
            at, length = at & 255, length & 255
            for i in range(length):
                if at + i < n:
                    b = b & ~(1 << (at + i)) | (a >> i & 1) << (at + i)
            return b

        ty = f"b{n}"
        table.form(f"bfi.{ty}", "9.7.1.20", (ty, ty, "count", "count"), ty, insert)
    for mode in ("wrap", "clamp"):
        clamps = mode == "clamp"

        def mask(a, b, clamps=clamps):
            start, length = (a, b) if clamps else (a & 31, b & 31)
            return sum(1 << i for i in range(32) if start <= i < start + length)

        table.form(f"bmsk.{mode}.b32", "9.7.1.22", ("count", "count"), "b32", mask)
        for kind in "us":
            def extend(a, b, clamps=clamps, kind=kind):
                length = min(b, 32) if clamps else b & 31
                return number(a, f"{kind}{length}") if length else 0

            ty = f"{kind}32"
            table.form(f"szext.{mode}.{ty}", "9.7.1.21", (ty, "count"), ty, extend)


def permutes(table):
    def byte(a, b, i):
        return (b << 32 | a) >> (8 * (i & 7)) & 255

    def general(a, b, c):
        word = 0
        for i in range(4):
            selector = c >> (4 * i) & 15
            chosen = byte(a, b, selector)
            chosen = (255 if chosen >> 7 else 0) if selector & 8 else chosen
            word |= chosen << (8 * i)
        return word

    # The ISA's tables, from byte 3 down to byte 0, for selectors 0 to 3.
    tables = {
        "f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"],
        "rc8": ["0000", "1111", "2222", "3333"], "ecl": ["3210", "3211", "3222", "3333"],
        "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"],
    }
    three = ("b32", "b32", "b32")
    table.form("prmt.b32", "9.7.9.7", three, "b32", general)
    for mode, rows in tables.items():
        def by_row(a, b, c, rows=rows):
            row = rows[c & 3][::-1]
            return sum(byte(a, b, int(row[i])) << (8 * i) for i in range(4))

        table.form(f"prmt.b32.{mode}", "9.7.9.7", three, "b32", by_row)


COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
           "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
COMPARE |= {"lo": COMPARE["lt"], "ls": COMPARE["le"], "hi": COMPARE["gt"], "hs": COMPARE["ge"]}
COMBINE = {"and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}


def comparisons(table):
    for ty in [k + n for k in "bus" for n in ("16", "32", "64")]:
        names = {"b": ["eq", "ne"], "u": list(COMPARE), "s": ["eq", "ne", "lt", "le", "gt", "ge"]}
        for name in names[ty[0]]:
            plain = ty.replace("b", "u")
            f = lambda a, b, n=name, ty=plain: COMPARE[n](number(a, ty), number(b, ty))
            setp(table, name, ty, (ty, ty), f)
            for target in ("u32", "s32", "f32", "f16", "bf16"):
                truth = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(target, ALL_ONES)
                value = lambda a, b, f=f, t=truth: t if f(a, b) else 0
                section = "9.7.7.1" if target.endswith("16") else "9.7.6.1"
                table.form(f"set.{name}.{target}.{ty}", section, (ty, ty), target, value)
    for how, combine in COMBINE.items():
        f = lambda a, b, c, g=combine: ALL_ONES if g(number(a, "s32") < number(b, "s32"), c) else 0
        table.form(f"set.lt.{how}.u32.s32", "9.7.6.1", ("s32", "s32", "pred"), "u32", f)


def setp(table, name, ty, types, f, section="9.7.6.2"):
    """The comparison alone and with each combination, both results."""
    both = lambda a, b: (f(a, b), not f(a, b))
    table.form(f"setp.{name}.{ty}", section, types, "pred", both, "pred")
    for how, combine in COMBINE.items():
        three = lambda a, b, c, g=combine: (g(f(a, b), c), g(not f(a, b), c))
        opcode = f"setp.{name}.{how}.{ty}"
        table.form(opcode, section, (*types, "pred"), "pred", three, "pred")


def selections(table):
    for ty in [k + n for k in "bus" for n in ("16", "32", "64")] + ["f32", "f64"]:
        pick = lambda a, b, p: a if p else b
        table.form(f"selp.{ty}", "9.7.6.3", (ty, ty, "pred"), ty, pick)
        sign = lambda a, b, c: a if number(c, "s32") >= 0 else b
        table.form(f"slct.{ty}.s32", "9.7.6.4", (ty, ty, "s32"), ty, sign)


def conversions(table):
    types = [k + n for k in "us" for n in ("8", "16", "32", "64")]
    for source in types:
        for target in types:
            # An 8-bit result fills the 16 bits of the smallest register (9.4.1).
            kept = target if target[1:] != "8" else target[0] + "16"
            f = lambda a, s=source, t=target: number(number(a, s), t)
            sat = lambda a, s=source, t=target: clamp(number(a, s), t)
            table.form(f"cvt.{target}.{source}", "9.7.9.21", (source,), kept, f)
            table.form(f"cvt.sat.{target}.{source}", "9.7.9.21", (source,), kept, sat)
    for target in ("u16", "s16"):
        pair = lambda a, b, t=target: (
            (clamp(number(a, "s32"), t) & 0xFFFF) << 16 | clamp(number(b, "s32"), t) & 0xFFFF)
        table.form(f"cvt.pack.sat.{target}.s32", "9.7.9.22", ("s32", "s32"), "b32", pair)
    for target in ("u8", "s8", "u4", "s4", "u2", "s2"):
        n = int(target[1:])
        three = lambda a, b, c, t=target, n=n: (
            c << 2 * n | (clamp(number(a, "s32"), t) % (1 << n)) << n
            | clamp(number(b, "s32"), t) % (1 << n))
        opcode = f"cvt.pack.sat.{target}.s32.b32"
        table.form(opcode, "9.7.9.22", ("s32", "s32", "b32"), "b32", three)
