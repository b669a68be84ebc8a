#!/usr/bin/env python3
"""Writes elementwise.json: what PyTorch 2.9.1 on a CPU computes for the elementwise operations.

Run it with any Python that has that version of torch:  python tests/golden/make_elementwise.py
The cases are those of make.py. Besides, there are lines of types: the type of the result, or
"error", for each type of the operands, which are ones of the given shapes.
"""

import itertools
import json
import pathlib

import torch
import torch.nn.functional as F

from make import BROADCAST, CASES, VERSION, away_from_zero, case, uniform, written

DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
NAN, INF = float("nan"), float("inf")
SHAPES = [(2, 3), (4, 1, 3), (), (0,), (2, 0)]
ENDS = [0.0, -0.0, INF, -INF, NAN]


def types(op, call, *shapes, **args):
    """The type of the result for every type of the operands."""
    lines = []
    for names in itertools.product(DTYPES, repeat=len(shapes)):
        ones = [torch.ones(shape, dtype=DTYPES[name]) for name, shape in zip(names, shapes)]
        try:
            result = NAMES[call(*ones).dtype]
        except (RuntimeError, TypeError):
            result = "error"
        lines.append(" ".join([*names, result]))
    CASES.append({"op": op, "args": args, "shapes": [list(s) for s in shapes], "types": lines})


def forward(op, call, *inputs, **args):
    """A case of an operation that has no gradient in the engine."""
    CASES.append({
        "op": op, "args": args, "inputs": [written(x) for x in inputs], "dy": None,
        "output": written(call(*inputs)), "grads": [None] * len(inputs),
    })


# The call, the range of the random values and further values of interest.
UNARY = {
    "abs": (torch.abs, (-2, 2), [1e-45, -3e38]),
    "sign": (torch.sign, (-2, 2), [1e-45, -1e-45]),
    "sqrt": (torch.sqrt, (0.1, 4), [4.0, 1e-38, 1e-45, 3e38, -1.0]),
    "rsqrt": (torch.rsqrt, (0.1, 4), [4.0, 1e-38, 3e38, -1.0]),
    "reciprocal": (torch.reciprocal, (0.1, 4), [4.0, -1e-38, 3e38]),
    "square": (torch.square, (-2, 2), [3.0, 1e-30, -3e38]),
    "exp": (torch.exp, (-5, 5), [88.0, 89.0, -104.0, -87.0]),
    "exp2": (torch.exp2, (-5, 5), [1.0, 127.0, 127.9, 128.0, -126.0, -149.0, -151.0]),
    "expm1": (torch.expm1, (-3, 3), [1e-10, -1e-7, 1e-3, 0.3, 88.0, 89.0, -20.0, -200.0]),
    "log": (torch.log, (0.1, 4), [1.0, 1e-45, 1e-38, 3e38, -1.0]),
    "log2": (torch.log2, (0.1, 4), [1.0, 2.0, 1024.0, 1e-45, 1e-38, 3e38, -1.0]),
    "log1p": (torch.log1p, (-0.9, 4), [1e-10, -1e-7, 1e-3, -0.5, -1.0, -2.0, 3e38]),
    "sin": (torch.sin, (-7, 7), [1e-20, 1.5707964, 3.1415927, 100.0, -1e5, 1e10]),
    "cos": (torch.cos, (-7, 7), [1e-20, 1.5707964, 3.1415927, 100.0, -1e5, 1e10]),
    "tanh": (torch.tanh, (-3, 3), [1e-20, 1e-4, 0.6, 8.9, 20.0, -20.0]),
    "erf": (torch.erf, (-3, 3), [1e-20, 1e-4, 0.5, 0.85, 1.25, 3.9, -10.0]),
    "sigmoid": (torch.sigmoid, (-5, 5), [17.0, -17.0, 88.0, -88.0, -104.0, 200.0, -200.0]),
    "logsigmoid": (F.logsigmoid, (-5, 5), [17.0, -17.0, 88.0, -88.0, 200.0, -200.0]),
    "silu": (F.silu, (-5, 5), [17.0, -17.0, 88.0, -80.0, 200.0]),
    "gelu": (F.gelu, (-3, 3), [1e-4, 5.0, -5.0, -13.0, 100.0, -100.0]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), (-3, 3), [1e-4, 5.0, -5.0, 100.0, -100.0]),
    "relu": (torch.relu, (-2, 2), [1e-38, -1e-38]),
    "floor": (torch.floor, (-4, 4), [0.5, -0.5, 1.0, 8388609.0, 0.99999994]),
    "ceil": (torch.ceil, (-4, 4), [0.5, -0.5, 1.0, 8388609.0, -0.99999994]),
    "round": (torch.round, (-4, 4), [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0, 4194304.5]),
    "trunc": (torch.trunc, (-4, 4), [0.5, -0.5, 1.0, -1.9, 8388609.0]),
}


def unary():
    for op, (call, (low, high), edges) in UNARY.items():
        for shape in SHAPES:
            case(op, call, uniform(*shape, low=low, high=high))
        # In PyTorch, gelu of infinity is infinite alone and NaN beside other numbers.
        ends = [x for x in ENDS + edges if op != "gelu" or x != INF]
        case(op, call, torch.tensor(ends), dy=torch.ones(len(ends)))
        case(op, call, uniform(67, low=low, high=high))
        for shape in [(3,), ()]:
            types(op, call, shape)


def parametrised():
    edges = torch.tensor(ENDS + [19.0, 20.0, 21.0, 9.9, 10.1, 60.0, -60.0, -200.0])
    for beta, threshold in [(1.0, 20.0), (2.0, 20.0), (0.5, 3.0)]:
        call = lambda x: F.softplus(x, beta, threshold)
        for x in [uniform(2, 3, low=-5, high=8), uniform(0), uniform(), edges]:
            case("softplus", call, x, beta=beta, threshold=threshold)
    types("softplus", F.softplus, (3,), beta=1.0, threshold=20.0)
    for slope in (0.01, 0.2, 1.5):
        call = lambda x: F.leaky_relu(x, slope)
        for x in [uniform(2, 3), uniform(0), torch.tensor(ENDS + [1e-38])]:
            case("leaky_relu", call, x, slope=slope)
    types("leaky_relu", F.leaky_relu, (3,), slope=0.01)
    dy = torch.tensor([1.0, 2.0, INF, NAN, -3.0, 4.0, 5.0])
    y = torch.tensor([0.0, 1.0, -1.0, 0.0, NAN, INF, 1e-45])
    call = lambda dy, y: torch.ops.aten.threshold_backward(dy, y, 0)
    case("threshold_backward", call, dy, y)
    case("threshold_backward", call, uniform(2, 3), uniform(2, 3))


def powers():
    for a, b in BROADCAST:
        case("pow", torch.pow, uniform(*a, low=0.1), uniform(*b))
    base = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, INF, -INF, NAN])
    exponent = torch.tensor([0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0, 100.0, INF, -INF, NAN])
    case("pow", torch.pow, base[:, None], exponent)
    whole = torch.tensor([0, 1, -1, 2, -2, 3, 10])
    case("pow", torch.pow, whole[:, None], torch.tensor([0, 1, 2, 3, 5, 63, 64, -1, -2, -3]))
    for shapes in itertools.product([(3,), ()], repeat=2):
        types("pow", torch.pow, *shapes)
    for c in [0.0, 1.0, 2.0, 3.0, 4.0, 0.5, -0.5, -1.0, -2.0, 1.7, -0.3]:
        call = lambda x: torch.pow(x, c)
        case("pow_scalar", call, uniform(2, 3, low=0.1), scalar=c)
        case("pow_scalar", call, torch.tensor(ENDS + [-1.5, 2.5, 1e4]), scalar=c)
    case("pow_scalar", lambda x: x**2.0, uniform(2, 0), scalar=2.0)
    for c in (0, 1, 2, 5, 40, 64):
        case("pow_scalar", lambda x: torch.pow(x, c), whole, scalar=c)
    for c, shape in itertools.product([2, 2.5], [(3,), ()]):
        types("pow_scalar", lambda x: torch.pow(x, c), shape, scalar=c)


def compared(call):
    """PyTorch refuses a number here; a tensor without dimensions promotes as one."""
    return lambda x, c: call(x, torch.tensor(c))


NUMBERS = {
    "sub_scalar": torch.sub, "mul_scalar": torch.mul, "add_scalar": torch.add,
    "div_scalar": torch.div, "floor_divide_scalar": torch.floor_divide,
    "trunc_divide_scalar": lambda x, c: torch.div(x, c, rounding_mode="trunc"),
    "remainder_scalar": torch.remainder, "maximum_scalar": compared(torch.maximum),
    "minimum_scalar": compared(torch.minimum), "clamp_min_scalar": torch.clamp_min,
    "clamp_max_scalar": torch.clamp_max, "eq_scalar": torch.eq, "ne_scalar": torch.ne,
    "lt_scalar": torch.lt, "le_scalar": torch.le, "gt_scalar": torch.gt, "ge_scalar": torch.ge,
}
FLAT = ("floor_divide_scalar", "trunc_divide_scalar")


def numbers():
    for op, call in NUMBERS.items():
        kept = forward if op in FLAT else case
        for c in (0.75, -1.5, 2.0):
            near = torch.tensor(ENDS + [c, -c, 2 * c, 0.1, 7.3])
            for x in [uniform(2, 3), uniform(0), uniform(), near]:
                kept(op, lambda x: call(x, c), x, scalar=c)
        whole = torch.tensor([0, 1, -1, 3, -3, 7, -7, -2])
        for c in (3, -2):
            forward(op, lambda x: call(x, c), whole, scalar=c)
        for c, shape in itertools.product([2, 2.5], [(3,), ()]):
            if shape or not op.startswith(("max", "min")):
                types(op, lambda x: call(x, c), shape, scalar=c)


def pairs():
    held = [torch.rand(s) < 0.5 for s in [(2, 3), (3,), ()]]
    compared = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt,
                "ge": torch.ge}
    ends = torch.tensor(ENDS + [1.0, -1.0])
    for op, call in compared.items():
        case(op, call, ends[:, None], ends)
        for a, b in BROADCAST:
            case(op, call, uniform(*a), uniform(*b))
    for name, call in [("and", torch.logical_and), ("or", torch.logical_or), ("xor", torch.logical_xor)]:
        case(f"logical_{name}", call, ends[:, None], ends)
        case(f"logical_{name}", call, torch.tensor([0, 1, 2, -1])[:, None], ends)
        case(f"logical_{name}", call, held[0], held[1])
        types(f"logical_{name}", call, (3,), ())
    whole = torch.tensor([0, 1, 5, -1, -8, 255, 2**40 + 3])
    for name, call in [("and", torch.bitwise_and), ("or", torch.bitwise_or), ("xor", torch.bitwise_xor)]:
        case(f"bitwise_{name}", call, whole[:, None], whole)
        case(f"bitwise_{name}", call, torch.tensor([True, False])[:, None], torch.tensor([True, False]))
        case(f"bitwise_{name}", call, whole[:0], whole[:1])
        for shapes in itertools.product([(3,), ()], repeat=2):
            types(f"bitwise_{name}", call, *shapes)
    for x in (whole, held[0], held[2]):
        case("bitwise_not", torch.bitwise_not, x)
        case("logical_not", torch.logical_not, x)
    case("logical_not", torch.logical_not, ends)
    tests = {"isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite}
    for op, call in tests.items():
        for x in (ends, uniform(2, 3), uniform(0), uniform(), whole, held[0]):
            case(op, call, x)
    for op, call in (tests | {"bitwise_not": torch.bitwise_not, "logical_not": torch.logical_not}).items():
        types(op, call, (3,))


def choices():
    for a, b in BROADCAST:
        case("clamp_max", lambda x, y: torch.clamp_max(x, y), uniform(*a), uniform(*b))
        case("clamp_min", lambda x, y: torch.clamp_min(x, y), uniform(*a), uniform(*b))
        case("remainder", torch.remainder, uniform(*a), away_from_zero(*b))
        forward("floor_divide", torch.floor_divide, uniform(*a), away_from_zero(*b))
        trunc = NUMBERS["trunc_divide_scalar"]
        forward("trunc_divide", trunc, uniform(*a), away_from_zero(*b))
    nans = torch.tensor([1.0, NAN, 2.0, 2.0, 3.0]), torch.tensor([NAN, 0.0, 2.0, 1.0, INF])
    case("clamp_max", torch.clamp_max, *nans)
    types("clamp_max", torch.clamp_max, (3,), ())
    for c in (2, 2.5):
        types("clamp", lambda x: torch.clamp(x, c, c), (3,), min=c, max=c)
    for mask, x in [((2, 3), (2, 3)), ((3,), (2, 1)), ((), (2, 2)), ((0,), (2, 1))]:
        held = torch.rand(mask) < 0.5
        case("masked_fill_tensor", lambda m, x, v: x.masked_fill(m, v), held, uniform(*x), uniform())
    held = torch.tensor([True, False])
    case("masked_fill_tensor", lambda m, x, v: x.masked_fill(m, v), held, torch.tensor([1, 2]), torch.tensor(7))


def main():
    version = torch.__version__.split("+")[0]
    if version != VERSION:
        raise SystemExit(f"this is torch {version}; the golden values are those of {VERSION}")
    torch.set_num_threads(1)
    torch.manual_seed(4)
    for family in (unary, parametrised, powers, numbers, pairs, choices):
        family()
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES)
    path = pathlib.Path(__file__).with_name("elementwise.json")
    path.write_text(f"[\n{lines}\n]\n", encoding="ascii", newline="\n")
    print(f"{len(CASES)} cases of torch {version}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
