#!/usr/bin/env python3
"""Writes dtypes.json: what PyTorch 2.9.1 on a CPU does with each type of elements.

Run it with any Python that has that version of torch:  python tests/golden/make_dtypes.py
The file has four parts:
- tables: the type of a result, or "error", for operands of each type (a row for the left one, a
  word for the right one), with dimensions ("dims") or without ("zero");
- rows: the same for one tensor, alone or beside a number of the program;
- casts: values and what they become, for every ordered pair of types;
- cases: inputs and results of operations, some with the gradient of each input.
Numbers are words in one string, each with the fewest digits that read back as the same number
of its type; -0, nan, inf and -inf are words too. A tolerance of 0 means equal bits.

Left out: casts of floating-point numbers to an integer type that cannot hold them (undefined in
PyTorch; the engine's rule is tested from its definition), and integer division by 0 and of the
lowest number by -1 (PyTorch stops the process).
"""

import itertools
import json
import pathlib

import torch

VERSION = "2.9.1"
SEED = 20251202

DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = ["f64", "f32", "f16", "bf16"]
HALVES = ["f16", "bf16"]
INTEGERS = ["i64", "i32", "u8"]
NAN, INF = float("nan"), float("inf")

RANDOM = torch.Generator().manual_seed(SEED)
CASES = []


def tensor(name, values, shape=None):
    x = torch.tensor(values, dtype=DTYPES[name])
    return x if shape is None else x.reshape(shape)


def word(x, name):
    """The shortest decimal that reads back as the same number of the type `name`."""
    if name not in FLOATS:
        return str(int(x))
    if x != x or x in (INF, -INF):
        return str(x)
    digits = (f"{x:.{d}g}" for d in range(1, 18))
    shortest = next(text for text in digits if read(text, name) == x)
    return repr(float(shortest)).removesuffix(".0")


def read(text, name):
    """A word's number: the half types through f32, as the test reads them."""
    x = torch.tensor(float(text), dtype=DTYPES["f64" if name == "f64" else "f32"])
    return x.to(DTYPES[name]).item()


def words(x):
    name = NAMES[x.dtype]
    return " ".join(word(y, name) for y in x.detach().contiguous().flatten().tolist())


def written(x):
    return x if x is None else {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": words(x)}


def result(call, *operands):
    """The type of a result, or "error"."""
    try:
        return NAMES[call(*operands).dtype]
    except (RuntimeError, TypeError, IndexError):
        return "error"


def trunc_divide(a, b):
    return torch.div(a, b, rounding_mode="trunc")


ELEMENTWISE = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
    "floor_divide": torch.floor_divide, "trunc_divide": trunc_divide,
    "remainder": torch.remainder, "maximum": torch.maximum, "minimum": torch.minimum,
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
}
TABLES = ELEMENTWISE | {
    "where": lambda a, b: torch.where(torch.tensor(True), a, b),
    "clamp_min": lambda a, b: torch.clamp(a, min=b),
    "matmul": torch.matmul,
    "add_": lambda a, b: a.add_(b), "mul_": lambda a, b: a.mul_(b),
    "copy_": lambda a, b: a.copy_(b),
}
KINDS = {"dims": (3,), "zero": ()}


def tables():
    found = []
    for op, left, right in itertools.product(TABLES, KINDS, KINDS):
        if (op == "matmul" and "zero" in (left, right)) or (op[-1] == "_" and left < right):
            continue
        table = []
        for a in DTYPES.values():
            ones = [(torch.ones(KINDS[left], dtype=a), torch.ones(KINDS[right], dtype=b))
                    for b in DTYPES.values()]
            table.append(" ".join(result(TABLES[op], *pair) for pair in ones))
        found.append({"op": op, "left": left, "right": right, "table": table})
    return found


ROWS = {
    "exp": torch.exp, "log": torch.log, "tanh": torch.tanh, "neg": torch.neg, "relu": torch.relu,
    "sum": torch.sum, "prod": lambda x: x.prod(), "mean": torch.mean,
    "cumsum": lambda x: x.cumsum(0), "max": torch.amax, "min": torch.amin,
    "argmax": lambda x: x.argmax(0), "argmin": lambda x: x.argmin(0),
    "cummax": lambda x: x.cummax(0)[0], "sort": lambda x: x.sort(0)[0],
    "softmax": lambda x: x.softmax(0), "log_softmax": lambda x: x.log_softmax(0),
}
NUMBERS = {
    "add_scalar": lambda x, c: x + c, "mul_scalar": lambda x, c: x * c,
    "clamp": lambda x, c: torch.clamp(x, c, c),
}


def rows():
    found = []
    ones = {kind: [torch.ones(shape, dtype=d) for d in DTYPES.values()]
            for kind, shape in KINDS.items()}
    for (op, call), kind in itertools.product(ROWS.items(), KINDS):
        row = " ".join(result(call, x) for x in ones[kind])
        found.append({"op": op, "left": kind, "row": row})
    for (op, call), c, kind in itertools.product(NUMBERS.items(), (True, 2, 2.5), KINDS):
        row = " ".join(result(call, x, c) for x in ones[kind])
        found.append({"op": op, "left": kind, "number": type(c).__name__, "row": row})
    return found


EDGES = [0.0, -0.0, 1.0, -1.5, 0.1, NAN, INF, -INF]
# Ties and near-ties of f32 and of the half types, the largest numbers, the smallest ones, and an
# f64 that a second rounding takes to another f16 or bf16 than one rounding would.
F64 = EDGES + [
    1 + 2**-24, 1 + 3 * 2**-24, 1 + 2**-24 + 2**-52, 16777217.0, 16777219.0, 1e300, -1e300, 5e-324,
    2**-149, 2**-150, 2**-150 + 2**-180, 2**-126, 3.4028234663852886e38, 3.4028235677973366e38,
    3.4028235677973362e38, 1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40, 65519.9999999, 65520.0, 1e-8,
    3.14,
]
F32 = EDGES + [
    1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-23, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-23,
    65504.0, 65519.0, 65520.0, -65520.0, 65536.0, 2**-14, 2**-14 - 2**-25, 2**-24, 2**-25,
    2**-25 + 2**-40, 3 * 2**-25, 6e-8, 1e-8, 2**-126, 2**-149, 1.1 * 2**-134, 3.4028234663852886e38,
    3.3895313892515355e38, 3.3961775292304601e38, 0.2691408770292272, 3.14, -2049.0, 257.0,
]
HALF = EDGES + [65504.0, -2.5, 2**-14, 2**-24, 3 * 2**-24, 1 + 2**-10, 2048.0, 0.333251953125]
BRAIN = EDGES + [3.3895313892515355e38, 2**-126, 2**-133, 1 + 2**-7, 256.0, 1e-8, 65536.0, -70000.0]
LARGE = [
    2**24 + 1, 2**24 + 3, 2**53 + 1, 2**53 + 3, 2**62 + 1, 2**63 - 1, -2**63, 2**30 + 2**22 + 1,
    -2**30 - 2**22 - 1, 2**31 - 1, -2**31, 65519, 65520, 2049, 2051, 257, 259, 1000000007,
]
WRAP = [0, 1, -1, 2, 127, 128, 200, 255, 256, 257, -128, -129, 300, -300]
VALUES = {
    "f64": F64, "f32": F32, "f16": HALF, "bf16": BRAIN, "i64": WRAP + LARGE + [2**32, 2**32 + 5],
    "i32": WRAP + [x for x in LARGE if -2**31 <= x < 2**31],
    "u8": list(range(0, 256, 15)) + [1, 2, 254], "bool": [True, False],
}
RANGES = {"i64": (-2**63, 2**63), "i32": (-2**31, 2**31), "u8": (0, 256)}
FRACTIONS = [
    0.0, -0.0, 0.99, -0.99, 1.5, 2.5, 2.7, -2.7, 254.9, 255.5, 127.0, -128.5, -1.0, -300.0,
    70000.7, 2**31 - 1.5, 2**31 - 128.0, -2.0**31, 2.0**31, -2.0**31 - 0.5, 2**53 + 2.0, 9.2e18,
    -2.0**63, 1e-45, 5e-324, 1e10,
]


def casts():
    found = []
    for source, target in itertools.permutations(DTYPES, 2):
        values = VALUES[source]
        if source in FLOATS and target in INTEGERS:
            low, high = RANGES[target]
            as_stored = tensor(source, FRACTIONS).tolist()
            values = [x for x in as_stored if low - 1 < x < high]
        elif source in FLOATS and target == "bool":
            values = EDGES + [5e-324, 1e-45, -1e-45, 6e-8, 0.5, 256.0]
        x = tensor(source, values)
        y = x.to(DTYPES[target])
        longer = x.repeat(40).to(DTYPES[target])
        assert words(longer) == words(y.repeat(40)), f"{source} to {target} depends on the length"
        found.append({"from": source, "to": target, "x": words(x), "y": words(y)})
    return found


def case(op, call, *inputs, tolerance=0.0, dy=None, **args):
    """Runs `call` on the inputs and keeps what came; backward too if `dy` is given."""
    leaves = [x.clone().requires_grad_(dy is not None and x.is_floating_point()) for x in inputs]
    output = call(*leaves)
    entry = {"op": op, "inputs": [written(x) for x in inputs], "output": written(output)}
    if args:
        entry["args"] = args
    if tolerance:
        entry["tolerance"] = tolerance
    if dy is not None:
        wanted = [x for x in leaves if x.requires_grad]
        found = iter(torch.autograd.grad(output, wanted, dy))
        grads = [next(found) if x.requires_grad else None for x in leaves]
        entry |= {"dy": written(dy), "grads": [written(g) for g in grads]}
    CASES.append(entry)


def every_pair(op, a, b):
    """All of a against all of b. PyTorch must say the same about one pair as about many."""
    call = ELEMENTWISE[op]
    y = call(a[:, None], b[None, :])
    alone = [call(p.clone(), q.clone()) for p in a for q in b]
    assert words(y) == " ".join(words(z) for z in alone), f"{op} of {a.dtype} depends on the length"
    case(op, call, a[:, None], b[None, :])


def uniform(name, *shape, low=-2.0, high=2.0):
    x = torch.rand(shape, generator=RANDOM, dtype=torch.float64) * (high - low) + low
    return x.to(DTYPES[name])


def whole(name, *shape, low=-4, high=5):
    low = 0 if name in ("u8", "bool") else low
    high = 2 if name == "bool" else high
    return torch.randint(low, high, shape, generator=RANDOM).to(DTYPES[name])


# Largest, smallest normal and smallest subnormal number of each type.
ENDS = {
    "f64": (1.7976931348623157e308, 2.2250738585072014e-308, 5e-324),
    "f32": (3.4028234663852886e38, 2**-126, 2**-149), "f16": (65504.0, 2**-14, 2**-24),
    "bf16": (3.3895313892515355e38, 2**-126, 2**-133),
}
DIVIDENDS = [7.0, -7.0, 1.0, -1.0, 0.1, -5.3, 0.0, -0.0, INF, NAN]
DIVISORS = [2.0, -2.0, 0.5, 0.1, -0.1, 3.0, 0.0, -0.0, INF, -INF, NAN]


def arithmetic():
    for name in FLOATS:
        values = tensor(name, EDGES + list(ENDS[name]) + [3.0, 1.001, -0.7])
        for op in ("add", "sub", "mul", "div"):
            every_pair(op, values, values)
        for op in ("floor_divide", "trunc_divide", "remainder"):
            # PyTorch truncates 1 / 0.1 in bf16 to 9 alone and to 10 beside others; leave it out.
            unclear = op == "trunc_divide" and name == "bf16"
            divisors = [x for x in DIVISORS if not (unclear and abs(x) == 0.1)]
            every_pair(op, tensor(name, DIVIDENDS), tensor(name, divisors))
        for op in ("maximum", "minimum"):
            every_pair(op, tensor(name, [1.0, NAN, -2.5, INF]), tensor(name, [NAN, -INF, 3.0]))
    whole_numbers = {
        "i64": [0, 1, -1, 7, -7, 100, 2**31, 2**53 + 1, 2**63 - 1, -2**63 + 1],
        "i32": [0, 1, -1, 7, -7, 100, 65536, 2**31 - 1, -2**31 + 1],
        "u8": [0, 1, 3, 7, 100, 127, 128, 200, 255], "bool": [0, 1],
    }
    for name, values in whole_numbers.items():
        x = tensor(name, values)
        divisors = tensor(name, [v for v in values if v != 0])
        for op in ("add", "sub", "mul", "maximum", "minimum"):
            if (name, op) != ("bool", "sub"):
                every_pair(op, x, x)
        every_pair("div", x, x)
        for op in ("floor_divide", "trunc_divide", "remainder"):
            if name != "bool":
                every_pair(op, x, divisors)
        if name != "bool":
            case("neg", torch.neg, x)
            case("relu", torch.relu, x)


def mixed():
    pairs = [
        ("i64", [2**53 + 1, 2**24 + 1, -1, 0], "f64", [2.0**53, 16777217.0, -1.5, NAN]),
        ("i64", [2**24 + 1, -1, 0, 2**62], "f32", [2.0**24, -1.0, 0.0, INF]),
        ("u8", [0, 200, 255], "i32", [-1, 200, 256]), ("bool", [0, 1], "f32", [0.0, 1.0, 0.5]),
        ("f16", [0.1, 1.0, 65504.0], "f32", [0.1, 1.0, 65504.0]),
        ("f16", [1.001, 3.0], "bf16", [1.001, 3.0]),
        ("i32", [2049, -3, 70000], "f16", [2048.0, -3.0, INF]), ("bool", [0, 1], "u8", [1, 255]),
    ]
    for (left, a, right, b), op in itertools.product(pairs, ELEMENTWISE):
        by_zero = op in ("floor_divide", "remainder", "trunc_divide") and 0 in a + b
        if not by_zero and not (op == "sub" and "bool" in (left, right)):
            every_pair(op, tensor(left, a), tensor(right, b))
    for name in HALVES + INTEGERS:
        case("mul_scalar", lambda x: x * 3, whole(name, 5), number="3")
        case("add_scalar", lambda x: x + 2.5, whole(name, 5), number="2.5")
    case("mul_scalar", lambda x: x * 1e-8, tensor("f16", [6.0, -300.0, 1.0]), number="1e-8")


def reductions():
    over = [[0], [1], [2], [0, 2], [0, 1, 2]]
    for name, dims in itertools.product(HALVES + ["f64", "i32", "u8", "bool"], over):
        x = whole(name, 3, 4, 5)
        case("sum", lambda x: x.sum(dims), x, dims=dims)
        case("max", lambda x: x.amax(dims, keepdim=True), x, dims=dims, keepdim=True)
        case("min", lambda x: x.amin(dims), x, dims=dims)
        if name in FLOATS:
            x = x / 4
            case("mean", lambda x: x.mean(dims), x, dims=dims, tolerance=TOLERANCE[name])
    for name, dim in itertools.product(HALVES + ["f64", "i32", "u8", "bool"], range(3)):
        x = whole(name, 2, 3, 4, low=-2, high=3)
        case("prod", lambda x: x.prod(dim), x, dims=[dim])
        case("cumsum", lambda x: x.cumsum(dim), x, dim=dim)
        case("sort", lambda x: x.sort(stable=True, dim=dim)[1], x, dim=dim)
        case("cummax", lambda x: x.cummax(dim)[1], x, dim=dim)
        if name != "bool":
            case("argmin", lambda x: x.argmin(dim), x, dim=dim)
            case("argmax", lambda x: x.argmax(dim), x, dim=dim)


# About one unit in the last place, relative above 1 and absolute below.
TOLERANCE = {"f64": 4e-16, "f32": 2e-7, "f16": 1e-3, "bf16": 8e-3}


def functions():
    for name in FLOATS:
        args = {"tolerance": 4 * TOLERANCE[name]}
        x = uniform(name, 3, 7, low=-6.0, high=6.0)
        case("exp", torch.exp, x, **args)
        case("log", torch.log, x.abs(), **args)
        case("tanh", torch.tanh, x, **args)
        case("softmax", lambda x: x.softmax(1), x, dim=1, **args)
        case("softmax", lambda x: x.softmax(0), x, dim=0, **args)
        case("log_softmax", lambda x: x.log_softmax(1), x, dim=1, **args)
    for name in INTEGERS + ["bool"]:
        case("exp", torch.exp, whole(name, 6), tolerance=4 * TOLERANCE["f32"])
    for name in FLOATS + INTEGERS:
        case("matmul", torch.matmul, whole(name, 3, 17), whole(name, 17, 5))
        case("matmul", torch.matmul, whole(name, 2, 1, 3, 4), whole(name, 3, 4, 2))
        case("matmul", torch.matmul, whole(name, 6), whole(name, 6))
    case("matmul", torch.matmul, tensor("u8", [[200, 100]]), tensor("u8", [[2], [3]]))
    case("matmul", torch.matmul, tensor("i64", [[2**62, 3]]), tensor("i64", [[3], [2**61]]))


def gradients():
    pairs = [
        ("f16", "f32"), ("f32", "f64"), ("bf16", "f16"), ("f64", "bf16"), ("f16", "f16"),
        ("i64", "f16"),
    ]
    shapes = [((2, 3), (3,)), ((2, 3), ()), ((), (2, 3)), ((), ())]
    calls = {"add": torch.add, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum}
    for (left, right), (a, b), (op, call) in itertools.product(pairs, shapes, calls.items()):
        # Few bits and divisors that are powers of two, so that no product is rounded.
        x = whole(left, *a) / 4 if left in FLOATS else whole(left, *a)
        y = 2.0 ** whole(right, *b, low=-1, high=2) * (1 - 2 * whole(right, *b, low=0, high=2))
        case(op, call, x, y, dy=whole(NAMES[torch.result_type(x, y)], *call(x, y).shape) / 4)
    for source, target in itertools.permutations(FLOATS, 2):
        x, dy = uniform(source, 5), uniform(target, 5)
        case("to", lambda x: x.to(DTYPES[target]), x, dy=dy, to=target)
    for name in FLOATS:
        slack, x = {"tolerance": 4 * TOLERANCE[name]}, uniform(name, 3, 4)
        case("sum", lambda x: x.sum([1]), x, dims=[1], dy=uniform(name, 3), **slack)
        case("mean", lambda x: x.mean([0]), x, dims=[0], dy=uniform(name, 4), **slack)
        case("softmax", lambda x: x.softmax(1), x, dim=1, dy=uniform(name, 3, 4), **slack)
        case("max", lambda x: x.amax([1]), x, dims=[1], dy=uniform(name, 3))
        case("prod", lambda x: x.prod(1), x, dims=[1], dy=uniform(name, 3), **slack)
        case("cumsum", lambda x: x.cumsum(1), x, dim=1, dy=uniform(name, 3, 4), **slack)
        case("matmul", torch.matmul, x, uniform(name, 4, 2), dy=uniform(name, 3, 2), **slack)


def main():
    version = torch.__version__.split("+")[0]
    if version != VERSION:
        raise SystemExit(f"this is torch {version}; the golden values are those of {VERSION}")
    torch.set_num_threads(1)
    for family in (arithmetic, mixed, reductions, functions, gradients):
        family()
    parts = {"tables": tables(), "rows": rows(), "casts": casts(), "cases": CASES}
    text = ",\n".join(
        f'"{part}":[\n' + ",\n".join(json.dumps(x, separators=(",", ":")) for x in entries) + "\n]"
        for part, entries in parts.items()
    )
    path = pathlib.Path(__file__).with_name("dtypes.json")
    path.write_text("{\n" + text + "\n}\n", encoding="ascii", newline="\n")
    counts = ", ".join(f"{len(entries)} {part}" for part, entries in parts.items())
    print(f"{counts} of torch {version}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
