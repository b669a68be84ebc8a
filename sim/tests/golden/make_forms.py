"""Writes forms.txt: for each form of an arithmetic instruction what it computes, by definition.

Python's integers and fractions are exact, so that every value here is the PTX ISA's text applied
to numbers, with no float arithmetic in between. Run it from any directory: `python3 make_forms.py`.

forms.txt: lines `in NAME;TYPES;VALUES` are inputs of 64 lanes, each operand's values in hex of its
width, one after the other; lines `OPCODE;SECTION;NAME;RESULTS` (and `;SECOND` for a second result)
are forms, with the section of the PTX ISA 8.6. Predicates are one word of 16 hex digits.
"""

import os
import random

import forms_bits
import forms_float
import forms_integer

LANES = 64
BITS = {"pred": 1, "carry": 1, "f16x2": 32, "bf16x2": 32, "f16": 16, "bf16": 16, "tf32": 32}


def bits(ty):
    return BITS.get(ty) or int(ty.lstrip("usbf").split("x")[0])


def edges_integer(n):
    top = 1 << (n - 1)
    near = [0, 1, 2, 3, 7, 31, 32, 33, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, top >> 1]
    return [x & (2 * top - 1) for x in near]


def edges_float(p, e):
    one, exponents = ((1 << (e - 1)) - 1) << p, (1 << e) - 1
    positive = [0, 1, 2, (1 << p) - 1, 1 << p, (1 << p) + 1, one, one + 1, one - 1, one + (1 << p)]
    positive += [one + (1 << (p - 1)), one - (1 << p), one + 3, one + (p << p), one + (p + 1 << p)]
    positive += [exponents - 1 << p | (1 << p) - 1, exponents - 2 << p, exponents << p]
    positive += [exponents << p | 1 << (p - 1) | 5, one + (3 << (p - 1)), one + (p - 2 << p) + 2]
    return positive + [x | 1 << (p + e) for x in positive]


FLOATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}


def value(ty, rng):
    if ty in ("pred", "carry"):
        return rng.getrandbits(1)
    if ty in ("f16x2", "bf16x2"):
        return value(ty[:-2], rng) << 16 | value(ty[:-2], rng)
    if ty in FLOATS:
        p, e = FLOATS[ty]
        exponent = (1 << (e - 1)) - 1 + rng.randrange(-p - 3, p + 4)
        close = rng.getrandbits(1) << (p + e) | exponent << p | rng.getrandbits(p)
        any_bits = rng.getrandbits(p + e + 1)
        edges = edges_float(p, e)
        return rng.choice([rng.choice(edges), rng.choice(edges), close, close, any_bits])
    if ty == "count":
        return rng.choice([0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 300, 2**32 - 1])
    n = bits(ty)
    edges = edges_integer(n)
    return rng.choice([rng.choice(edges), rng.choice(edges), rng.getrandbits(n)])


class Table:
    """The lines of the file."""

    def __init__(self):
        self.inputs, self.lines = {}, []

    def cases(self, types):
        if types not in self.inputs:
            rng = random.Random(" ".join(types))
            cases = [tuple(value(ty, rng) for ty in types) for _ in range(LANES)]
            if len(types) == 1 and types[0] in FLOATS:
                edges = edges_float(*FLOATS[types[0]])
                cases[: len(edges)] = [(x,) for x in edges]
            self.inputs[types] = cases
        return self.inputs[types]

    def form(self, opcode, section, types, target, f, second=None):
        """A form; `f` gives the bits of the result, or two results where there is a `second`."""
        results = [f(*case) for case in self.cases(tuple(types))]
        if second is None:
            columns = [(target, results)]
        else:
            columns = [(target, [r[0] for r in results]), (second, [r[1] for r in results])]
        texts = [column(ty, values) for ty, values in columns]
        self.lines.append(";".join([opcode, section, ",".join(types)] + texts))


def column(ty, values):
    """The values of the lanes in hex."""
    n = 32 if ty == "count" else bits(ty)
    if n == 1:
        return f"{sum(int(bool(v)) << i for i, v in enumerate(values)):016x}"
    return "".join(f"{v & ((1 << n) - 1):0{n // 4}x}" for v in values)


def main():
    table = Table()
    for part in (forms_integer, forms_bits, forms_float):
        part.write(table)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "forms.txt"), "w") as file:
        for types, cases in table.inputs.items():
            columns = [column(ty, [case[i] for case in cases]) for i, ty in enumerate(types)]
            file.write(f"in {','.join(types)};{';'.join(columns)}\n")
        file.write("\n".join(table.lines) + "\n")
    print(len(table.lines), "forms")


if __name__ == "__main__":
    main()
