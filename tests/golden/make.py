#!/usr/bin/env python3
"""Writes ops.json: what PyTorch 2.9.1 on a CPU computes for each op, forward and backward.

Run it with any Python that has that version of torch:  python tests/golden/make.py
Each case holds the inputs, the upstream gradient `dy`, the output and the gradient of each
input (null for an integer input). Numbers are f32, written with the fewest digits that read
back as the same f32; "nan", "inf" and "-inf" are strings.
"""

import itertools
import json
import pathlib

import torch
import torch.nn.functional as F

VERSION = "2.9.1"
SEED = 20251202

CASES = []
RANDOM = torch.Generator().manual_seed(SEED)


def uniform(*shape, low=-2.0, high=2.0):
    """Random values, different in every place, so that a swapped index shows."""
    return torch.rand(shape, generator=RANDOM) * (high - low) + low


def away_from_zero(*shape):
    """Divisors: magnitude 0.5 to 2, either sign."""
    sign = torch.randint(0, 2, shape, generator=RANDOM) * 2 - 1
    return uniform(*shape, low=0.5, high=2.0) * sign


def number(x):
    """The shortest decimal that reads back as the same f32."""
    if x != x or x in (float("inf"), float("-inf")):
        return str(x)
    return next(y for y in (float(f"{x:.{d}g}") for d in range(1, 10)) if float32(y) == x)


def float32(x):
    return torch.tensor(x, dtype=torch.float32).item()


def written(t):
    if t is None:
        return None
    data = t.detach().contiguous().flatten().tolist()
    if t.dtype in (torch.int64, torch.bool):
        dtype = "i64" if t.dtype == torch.int64 else "bool"
        return {"dtype": dtype, "shape": list(t.shape), "data": [int(x) for x in data]}
    return {"dtype": "f32", "shape": list(t.shape), "data": [number(x) for x in data]}


def case(op, call, *inputs, dy=None, **args):
    """Runs `call` on the inputs, forward and backward, and keeps what came."""
    leaves = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    output = call(*leaves)
    grads = [None] * len(leaves)
    if output.is_floating_point():
        dy = uniform(*output.shape) if dy is None else dy
        wanted = [x for x in leaves if x.requires_grad]
        found = iter(torch.autograd.grad(output, wanted, dy))
        grads = [next(found) if x.requires_grad else None for x in leaves]
    CASES.append({
        "op": op,
        "args": args,
        "inputs": [written(x) for x in inputs],
        "dy": written(dy),
        "output": written(output),
        "grads": [written(g) for g in grads],
    })


BROADCAST = [
    ((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 1)),
    ((), (2, 3)), ((2, 3), ()), ((), ()), ((1,), (1, 1)), ((0, 3), (1, 3)), ((1,), (0,)),
    ((2, 0, 3), (2, 1, 1)),
]


def binary():
    calls = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}
    for (op, call), (a, b) in itertools.product(calls.items(), BROADCAST):
        case(op, call, uniform(*a), away_from_zero(*b))
    edge = torch.tensor([1.0, -1.0, 0.0, 3e38]), torch.tensor([0.0, 0.0, 0.0, 1e-3])
    case("div", torch.div, *edge, dy=torch.ones(4))
    case("mul", torch.mul, torch.tensor([3e38, -3e38, float("inf")]), torch.tensor([2.0, 2.0, 0.0]))


def unary():
    values = {
        "neg": (torch.neg, [0.0, -1.5, float("inf")]),
        "exp": (torch.exp, [0.0, 88.0, 89.0, -104.0, -87.0, float("inf"), float("-inf")]),
        "log": (torch.log, [1.0, 0.0, -1.0, 1e-38, 3e38, float("inf")]),
        "tanh": (torch.tanh, [0.0, 1e-4, 20.0, -20.0, float("inf")]),
        "relu": (torch.relu, [0.0, -0.0, 1e-38, -1e-38, float("inf"), float("-inf")]),
    }
    for op, (call, edges) in values.items():
        low = 0.1 if op == "log" else -2.0
        for shape in [(2, 3), (4, 1, 3), (), (0,), (2, 0)]:
            case(op, call, uniform(*shape, low=low))
        case(op, call, torch.tensor(edges))
    for shape in [(2, 3), (), (0, 2)]:
        case("add_scalar", lambda x: x + 0.75, uniform(*shape), scalar=0.75)
        case("mul_scalar", lambda x: x * -1.25, uniform(*shape), scalar=-1.25)


def products():
    for m, k, n in [(2, 3, 4), (4, 3, 2), (1, 5, 1), (1, 1, 1), (7, 1, 3), (9, 17, 11)]:
        case("matmul", torch.matmul, uniform(m, k), uniform(k, n))
    for m, k, n in [(2, 0, 3), (0, 3, 2), (2, 3, 0)]:
        case("matmul", torch.matmul, uniform(m, k), uniform(k, n))


def reductions():
    calls = {"sum_dims": torch.sum, "mean_dims": torch.mean, "max_dims": torch.amax}
    subsets = [d for n in (1, 2, 3) for d in itertools.combinations(range(3), n)]
    for (op, call), dims, keep in itertools.product(calls.items(), subsets, (False, True)):
        reduce = lambda x: call(x, dim=dims, keepdim=keep)
        case(op, reduce, uniform(2, 3, 4), dims=list(dims), keepdim=keep)
    for op in ("sum_dims", "mean_dims"):
        reduce = lambda x: calls[op](x, dim=(1,))
        case(op, reduce, uniform(3, 0), dims=[1], keepdim=False)
        case(op, reduce, uniform(0, 3), dims=[1], keepdim=False)
        case(op, reduce, uniform(5, 131), dims=[1], keepdim=False)
    tied = torch.tensor([[1.0, 3.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -2.0, -1.0, -1.0]])
    for dims in ([0], [1], [0, 1]):
        case("max_dims", lambda x: torch.amax(x, dim=dims), tied, dims=dims, keepdim=False)
    for shape in [(2, 3), (), (1,), (4, 1, 2)]:
        case("sum", torch.sum, uniform(*shape))
        case("mean", torch.mean, uniform(*shape))
    case("sum", torch.sum, uniform(0))
    for dim in range(3):
        case("argmax", lambda x: torch.argmax(x, dim), uniform(2, 3, 4), dim=dim)
    case("argmax", lambda x: torch.argmax(x, 0), uniform(1), dim=0)


def probabilities():
    large = torch.tensor([[1e4, 1e4 + 1, -1e4], [-1e4, -1e4 - 2, -1e4], [88.0, 89.0, 200.0]])
    for op, call in {"softmax": F.softmax, "log_softmax": F.log_softmax}.items():
        for shape in [(2, 3, 4), (3, 5), (4,), (2, 1), (0, 3)]:
            for dim in range(len(shape)):
                if shape[dim] > 0:
                    case(op, lambda x: call(x, dim), uniform(*shape), dim=dim)
        case(op, lambda x: call(x, 1), large, dim=1)
        case(op, lambda x: call(x, 0), large, dim=0)
    for n, c in [(1, 2), (4, 3), (5, 10), (3, 1)]:
        targets = torch.randint(0, c, (n,), generator=RANDOM)
        case("cross_entropy", F.cross_entropy, uniform(n, c, low=-4.0, high=4.0), targets)
    case("cross_entropy", F.cross_entropy, large, torch.tensor([2, 1, 0]))
    case("cross_entropy", F.cross_entropy, large, torch.tensor([1, 0, 2]), dy=torch.tensor(-3.0))


def indices():
    rows = [
        ((3, 4), 0, (2, 4)), ((3, 4), 0, (5, 2)), ((3, 4), 1, (3, 6)), ((3, 4), 1, (2, 1)),
        ((5,), 0, (7,)), ((2, 3, 4), 1, (2, 5, 3)), ((2, 3, 4), 2, (1, 3, 2)), ((3, 4), 0, (0, 4)),
    ]
    for shape, dim, wanted in rows:
        index = torch.randint(0, shape[dim], wanted, generator=RANDOM)
        case("gather", lambda x, i: torch.gather(x, dim, i), uniform(*shape), index, dim=dim)
    repeated = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 1]])
    case("gather", lambda x, i: torch.gather(x, 1, i), uniform(2, 3), repeated, dim=1)


def views():
    for shape, a, b in [((2, 3), 0, 1), ((2, 3, 4), 0, 2), ((2, 3, 4), 1, 2), ((0, 3), 0, 1)]:
        case("transpose", lambda x: x.transpose(a, b), uniform(*shape), dim0=a, dim1=b)
    for shape, order in [((2, 3, 4), (2, 0, 1)), ((2, 3, 4), (0, -1, 1)), ((), ()), ((0, 3), (1, 0))]:
        case("permute", lambda x: x.permute(order), uniform(*shape), order=list(order))
    for shape, dims in [((2, 3), (0,)), ((2, 3), (1, 0)), ((2, 3, 4), (-1, 0)), ((4,), ()), ((0, 3), (0,))]:
        case("flip", lambda x: x.flip(dims), uniform(*shape), dims=list(dims))
    for shape, dim, start, length in [((2, 5), 1, 1, 3), ((4,), 0, 4, 0), ((3, 2), -2, 0, 2)]:
        case(
            "narrow", lambda x: x.narrow(dim, start, length), uniform(*shape), dim=dim,
            start=start, length=length,
        )
    for start, end, step in [(1, 8, 3), (-3, 100, 1), (-100, -1, 2), (5, 2, 1), (9, 9, 4)]:
        case(
            "slice", lambda x: x[:, start:end:step], uniform(2, 9), dim=1, start=start, end=end,
            step=step,
        )
    for shape, dim, index in [((2, 3), 0, 1), ((2, 3), -1, -3), ((4,), 0, 2)]:
        case("select", lambda x: x.select(dim, index), uniform(*shape), dim=dim, index=index)
    for shape, dim, size, step in [((7,), 0, 3, 2), ((2, 5), 1, 3, 1), ((5, 2), 0, 5, 4), ((3,), 0, 0, 1)]:
        case(
            "unfold", lambda x: x.unfold(dim, size, step), uniform(*shape), dim=dim, size=size,
            step=step,
        )
    shapes = [
        ((2, 6), (3, 4)), ((2, 3, 4), (24,)), ((6,), (1, 2, 3)), ((1, 1), ()), ((), (1,)),
        ((0, 3), (3, 0)),
    ]
    for shape, to in shapes:
        case("reshape", lambda x: x.reshape(to), uniform(*shape), shape=list(to))
    shapes = [
        ((3, 1), (3, 4)), ((3, 1), (2, 3, 4)), ((), (2, 2)), ((1, 1, 3), (4, 2, 3)), ((1,), (0,)),
        ((2, 3), (2, 3)),
    ]
    for shape, to in shapes:
        case("expand", lambda x: x.expand(to), uniform(*shape), shape=list(to))


def quotients():
    for shape in [(2, 3), (), (0, 2)]:
        case("div_scalar", lambda x: x / -1.5, uniform(*shape), scalar=-1.5)
    case("div_scalar", lambda x: x / 0.0, torch.tensor([1.0, 0.0, -1.0]), scalar=0.0)


def choices():
    for a, b in [((2, 3), (3,)), ((), (2, 2)), ((2, 1), (1, 3)), ((0, 2), (2,))]:
        case("maximum", torch.maximum, uniform(*a), uniform(*b))
        case("minimum", torch.minimum, uniform(*a), uniform(*b))
        case("clamp_min", lambda x, y: torch.clamp_min(x, y), uniform(*a), uniform(*b))
        case("remainder", torch.remainder, uniform(*a), away_from_zero(*b))
    nans = torch.tensor([1.0, float("nan"), 2.0, 2.0]), torch.tensor([float("nan"), 0.0, 2.0, 1.0])
    for op, call in [("maximum", torch.maximum), ("minimum", torch.minimum)]:
        case(op, call, *nans)
    case("clamp_min", torch.clamp_min, *nans)
    edge = torch.tensor([-0.5, 0.0, 0.25, 1.0, 1.5, float("nan"), float("inf")])
    case("clamp", lambda x: x.clamp(0.0, 1.0), edge, min=0.0, max=1.0)
    case("clamp", lambda x: x.clamp(1.0, 0.0), edge, min=1.0, max=0.0)
    signs = torch.tensor([5.5, -5.5, 5.5, -5.5, 1.0, 0.0]), torch.tensor([2.0, 2.0, -2.0, -2.0, 0.1, 3.0])
    case("remainder", torch.remainder, *signs)
    for mask, x, y in [((2, 3), (2, 3), (3,)), ((3,), (2, 1), ()), ((2, 2, 2), (2, 2), (2, 2))]:
        held = torch.rand(mask, generator=RANDOM) < 0.5
        case("where", torch.where, held, uniform(*x), uniform(*y))
        case("masked_fill", lambda m, x: x.masked_fill(m, 2.5), held, uniform(*x), value=2.5)


def products_and_scans():
    for dims, keep in [((1,), False), ((0,), True), ((2,), False)]:
        x = uniform(2, 3, 4)
        case("prod_dims", lambda x: x.prod(dims[0], keep), x, dims=list(dims), keepdim=keep)
        x = x.clone()
        x[0, 0, 0] = 0
        x[1, 1, 1] = 0
        x[1, 1, 2] = 0
        case("prod_dims", lambda x: x.prod(dims[0], keep), x, dims=list(dims), keepdim=keep)
        case("min_dims", lambda x: torch.amin(x, dims, keep), x, dims=list(dims), keepdim=keep)
    case("prod_dims", lambda x: x.prod(), uniform(3, 2), dims=[], keepdim=False)
    case("prod_dims", lambda x: x.prod(1), uniform(2, 0), dims=[1], keepdim=False)
    for dim in range(3):
        case("cumsum", lambda x: x.cumsum(dim), uniform(2, 3, 4), dim=dim)
        case("cummax", lambda x: x.cummax(dim).values, uniform(2, 3, 4), dim=dim)
        case("sort", lambda x: x.sort(dim).values, uniform(2, 3, 4), dim=dim)
    tied = torch.tensor([1.0, 3.0, 3.0, float("nan"), 2.0, float("nan")])
    case("cummax", lambda x: x.cummax(0).values, tied, dim=0)
    case("sort", lambda x: torch.sort(x, dim=0, stable=True).values, tied, dim=0)
    batches = [
        ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 2)),
        ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 2, 3), (3,)), ((3,), (2, 3, 2)),
        ((2, 0, 3), (2, 3, 2)), ((2, 3, 0), (2, 0, 2)), ((0, 3, 2), (2, 3)), ((2, 0), (0,)),
    ]
    for a, b in batches:
        case("bmm", torch.matmul, uniform(*a), uniform(*b))


def lookups():
    listed = torch.tensor([3, 0, -1, 3])
    table = torch.tensor([[0, 2], [-1, 2]])
    case("take", lambda x, i: x.take(i), uniform(2, 3), table)
    case("take", lambda x, i: x.take(i), uniform(2, 3), torch.tensor([], dtype=torch.int64))
    case("index_select", lambda x, i: x.index_select(1, i), uniform(2, 4), listed.remainder(4), dim=1)
    case("index_select", lambda x, i: x.index_select(0, i), uniform(4, 2), listed.remainder(4), dim=0)
    forms = {
        ":,i": lambda x, i: x[:, i], "i": lambda x, i: x[i], "i,:,j": lambda x, i: x[i, :, i],
        ":,i,j": lambda x, i: x[:, i, i],
    }
    for form, call in forms.items():
        for index in (listed, table, torch.tensor(1), torch.tensor([], dtype=torch.int64)):
            case("index", call, uniform(4, 4, 4), index, form=form)
    masks = {"m": (4, 3), "m,:": (4,), ":,m": (3,)}
    calls = {"m": lambda x, m: x[m], "m,:": lambda x, m: x[m], ":,m": lambda x, m: x[:, m]}
    for form, shape in masks.items():
        for share in (0.5, 0.0):
            held = torch.rand(shape, generator=RANDOM) < share
            case("index", calls[form], uniform(4, 3), held, form=form)


def changes():
    def changed(change):
        def call(x, *rest):
            y = x.clone()
            change(y, *rest)
            return y
        return call

    for x, y in [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), ()), ((0, 3), (3,)), ((), ())]:
        case("add_", changed(lambda x, y: x.add_(y, alpha=-1.5)), uniform(*x), uniform(*y), scalar=-1.5)
        case("mul_", changed(lambda x, y: x.mul_(y)), uniform(*x), uniform(*y))
        case("copy_", changed(lambda x, y: x.copy_(y)), uniform(*x), uniform(*y))
    case("fill_", changed(lambda x: x[:, 1].fill_(0.5)), uniform(2, 3), scalar=0.5)
    case("zero_", changed(lambda x: x[:, 1].zero_()), uniform(2, 3))
    held = torch.tensor([True, False, True])
    case("masked_fill_", changed(lambda x, m: x.masked_fill_(m, 2.5)), uniform(2, 3), held, scalar=2.5)
    places = torch.tensor([5, -2, 0])
    for accumulate in (False, True):
        put = changed(lambda x, i, v: x.put_(i, v, accumulate))
        case("put_", put, uniform(2, 3), places, uniform(3), accumulate=accumulate)
        put = changed(lambda x, i, v: x.t().index_put_((i,), v.expand(2, 3).t(), accumulate))
        columns = torch.tensor([3, 0, -2])
        case("index_put_", put, uniform(2, 4), columns, uniform(3), accumulate=accumulate)
    repeated = torch.tensor([1, 1, 0])
    put = changed(lambda x, i, v: x.put_(i, v, True))
    case("put_", put, uniform(2, 3), repeated, uniform(3), accumulate=True)


def main():
    version = torch.__version__.split("+")[0]
    if version != VERSION:
        raise SystemExit(f"this is torch {version}; the golden values are those of {VERSION}")
    torch.set_num_threads(1)
    families = (
        binary, unary, products, reductions, probabilities, indices, views, choices,
        products_and_scans, lookups, changes, quotients,
    )
    for family in families:
        family()
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES)
    path = pathlib.Path(__file__).with_name("ops.json")
    path.write_text(f"[\n{lines}\n]\n", encoding="ascii", newline="\n")
    print(f"{len(CASES)} cases of torch {version}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
