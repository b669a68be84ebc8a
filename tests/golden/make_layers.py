#!/usr/bin/env python3
"""Writes layers.json: what PyTorch 2.9.1 on a CPU computes for reductions, scans, products, layers
and losses.

Run it with any Python that has that version of torch:  python tests/golden/make_layers.py
The cases are those of make.py, and the lines of types those of make_elementwise.py.
"""

import itertools
import json
import pathlib

import torch
import torch.nn.functional as F

from make import CASES, RANDOM, VERSION, case, uniform
from make_elementwise import INF, NAN, forward, types

DIMS = list(itertools.product([(), (0,), (1,), (2,), (0, 2), (-1, 1)], (False, True)))
TIED = torch.tensor([[1.0, 3.0, 3.0, 2.0], [0.0, 0.0, -0.0, 0.0], [-1.0, NAN, -2.0, NAN]])
INFINITE = torch.tensor([[INF, 1.0, 2.0], [-INF, -INF, -INF], [-INF, 1.0, -2.0], [NAN, INF, 0.0]])


def reduced(op, call, dims, keep, x, dy=None, **args):
    if dims == ():  # Of everything: the same in PyTorch, except that some calls lack keepdim then.
        dims = tuple(range(x.dim()))
    case(op, lambda x: call(x, dims, keep), x, dy=dy, dims=list(dims), keepdim=keep, **args)


def reductions():
    for dims, keep in DIMS:
        x = uniform(2, 3, 4)
        for correction in (0, 1, 2):
            args = {"correction": correction}
            for op, call in {"var": torch.var, "std": torch.std}.items():
                run = lambda x, d, k: call(x, d, correction=correction, keepdim=k)
                reduced(op, run, dims, keep, x, **args)
        for p in (1.0, 2.0, INF):
            norm = lambda x, d, k: torch.linalg.vector_norm(x, p, d, k)
            reduced("norm", norm, dims, keep, x, p=str(p))
        reduced("logsumexp", lambda x, d, k: x.logsumexp(d, k), dims, keep, x)
        reduced("amax", torch.amax, dims, keep, x)
        reduced("amin", torch.amin, dims, keep, x)
        holes = x * (x > -0.5)
        for op, call in {"any": torch.any, "all": torch.all}.items():
            wanted = dims if dims else (0, 1, 2)
            y = call(holes, wanted, keep)
            forward(op, lambda x: y, holes, dims=list(dims), keepdim=keep)
        if not keep:
            forward("count_nonzero", lambda x: torch.count_nonzero(x, dims), holes, dims=list(dims))
    for op, call in {"var": torch.var, "std": torch.std}.items():
        for shape in [(3, 0), (3, 1), (), (5, 131)]:
            x = uniform(*shape)
            dims = (1,) if shape else ()
            run = lambda x: call(x, dims, correction=0, keepdim=False)
            case(op, run, x, dims=list(dims), keepdim=False, correction=0)
        run = lambda x: call(x, (1,), correction=1, keepdim=False)
        # The gradient's digits would be those of a rounded mean.
        large = uniform(3, 4) + 1000
        case(op, run, large, dy=torch.zeros(3), dims=[1], keepdim=False, correction=1)
        case(op, run, torch.ones(2, 3), dims=[1], keepdim=False, correction=1)
        case(op, run, uniform(2, 1), dims=[1], keepdim=False, correction=1)
        case(op, run, INFINITE, dims=[1], keepdim=False, correction=1)
    zeros = torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0], [-2.0, 2.0, 0.0]])
    for p in (1.0, 2.0, INF):
        norm = lambda x: torch.linalg.vector_norm(x, p, (1,))
        for x in (zeros, INFINITE, uniform(3, 131)):
            case("norm", norm, x, dims=[1], keepdim=False, p=str(p))
    for p in (1.0, 2.0):
        norm = lambda x: torch.linalg.vector_norm(x, p, (1,))
        case("norm", norm, uniform(2, 0), dims=[1], keepdim=False, p=str(p))
    logsumexp = lambda x: x.logsumexp((1,))
    for x in (INFINITE, uniform(2, 0), torch.tensor([[90.0, 89.0], [-200.0, -201.0]])):
        case("logsumexp", logsumexp, x, dims=[1], keepdim=False)


def extremes():
    for shape, dim, keep in itertools.product([(2, 3, 4)], [0, 1, -1], (False, True)):
        for op, call in {"max_along": torch.max, "min_along": torch.min}.items():
            x = uniform(*shape)
            case(op, lambda x: call(x, dim, keep).values, x, dim=dim, keepdim=keep)
            forward(f"{op}_index", lambda x: call(x, dim, keep).indices, x, dim=dim, keepdim=keep)
    for op, call in {"max_along": torch.max, "min_along": torch.min}.items():
        for dim in (0, 1):
            case(op, lambda x: call(x, dim).values, TIED, dim=dim, keepdim=False)
            forward(f"{op}_index", lambda x: call(x, dim).indices, TIED, dim=dim, keepdim=False)
    for op, call in {"argmax": torch.argmax, "argmin": torch.argmin}.items():
        for x in (uniform(2, 3, 4), TIED, -TIED, uniform(), torch.tensor([2, 5, 5, 1, 1])):
            forward(f"{op}_all", call, x)
            if x.dim():
                forward(op, lambda x: call(x, -1), x, dim=-1)
    tied = torch.tensor([2.0, 2.0, 1.0, 1.0])
    for op, call in {"max": torch.max, "min": torch.min}.items():
        for x in (uniform(2, 3), uniform(), tied):
            case(op, call, x)
    for op, call in {"cummin": torch.cummin, "cummax": torch.cummax}.items():
        for x in (uniform(2, 3, 4), TIED):
            for dim in range(x.dim()):
                case(op, lambda x: call(x, dim).values, x, dim=dim)
                forward(f"{op}_index", lambda x: call(x, dim).indices, x, dim=dim)


def running_products():
    for dim in range(3):
        x = uniform(2, 3, 4)
        case("cumprod", lambda x: x.cumprod(dim), x, dim=dim)
        x = x.clone()
        x[0, 0, 1] = x[1, 1, 1] = x[1, 1, 2] = x[0, 2, 0] = x[1, 2, 3] = 0
        case("cumprod", lambda x: x.cumprod(dim), x, dim=dim)
        case("prod", lambda x: x.prod(dim), x, dims=[dim], keepdim=False)
    for row in ([2.0, 0.0, 3.0, 4.0], [2.0, 0.0, 0.0, 3.0], [0.0, 2.0, 3.0], [], [5.0], [0.0]):
        case("cumprod", lambda x: x.cumprod(0), torch.tensor(row), dim=0)
    case("cumprod", lambda x: x.cumprod(0), uniform(), dim=0)
    for row in ([2.0, 0.0, 4.0], [0.0, 0.0, 4.0], [0.0], []):
        case("prod", lambda x: x.prod(), torch.tensor(row), dims=[], keepdim=False)
    forward("cumprod", lambda x: x.cumprod(0), torch.tensor([2, -3, 4]), dim=0)


def products():
    case("bmm", torch.bmm, uniform(3, 2, 4), uniform(3, 4, 5))
    case("bmm", torch.bmm, uniform(0, 2, 4), uniform(0, 4, 5))
    case("mv", torch.mv, uniform(3, 4), uniform(4))
    case("dot", torch.dot, uniform(5), uniform(5))
    case("dot", torch.dot, uniform(0), uniform(0))
    case("outer", torch.outer, uniform(3), uniform(4))
    case("outer", torch.outer, uniform(0), uniform(4))
    factors = [(1, 1), (0.5, -2), (1, 0)]
    for shape, (beta, alpha) in itertools.product([(2, 4), (4,), (2, 1), ()], factors):
        addmm = lambda x, a, b: torch.addmm(x, a, b, beta=beta, alpha=alpha)
        case("addmm", addmm, uniform(*shape), uniform(2, 3), uniform(3, 4), beta=beta, alpha=alpha)
    nan = torch.tensor(NAN)
    addmm = lambda a, b: torch.addmm(nan, a, b, beta=0)
    case("addmm_without", addmm, uniform(2, 3), uniform(3, 4))


def norms():
    shapes = [
        ((2, 3, 4), (4,)), ((2, 3, 4), (3, 4)), ((5,), (5,)), ((0, 3), (3,)), ((2, 67), (67,)),
    ]
    for shape, own in shapes:
        x, weight, bias = uniform(*shape), uniform(*own), uniform(*own)
        args = {"shape": list(own), "eps": 1e-5}
        norm = lambda x, w=None, b=None: F.layer_norm(x, own, w, b, 1e-5)
        case("layer_norm", norm, x, weight, bias, **args)
        case("layer_norm_weight", norm, x, weight, **args)
        case("layer_norm_bias", lambda x, b: norm(x, None, b), x, bias, **args)
        case("layer_norm", norm, x, **args)
        case("rms_norm", lambda x, w: F.rms_norm(x, own, w, 1e-5), x, weight, **args)
        case("rms_norm", lambda x: F.rms_norm(x, own, None, 1e-5), x, **args)
    constant = torch.full((2, 4), 3.0)
    args = {"shape": [4], "eps": 1e-5}
    case("layer_norm", lambda x: F.layer_norm(x, (4,), None, None, 1e-5), constant, **args)
    case("rms_norm", lambda x: F.rms_norm(x, (4,), None, 1e-5), torch.zeros(2, 4), **args)
    case("rms_norm", lambda x: F.rms_norm(x, (4,), None, 1.0), uniform(3, 4), shape=[4], eps=1.0)


def attention():
    op, attend = "scaled_dot_product_attention", F.scaled_dot_product_attention
    shapes = [
        ((3, 4), (5, 4), (5, 2)), ((2, 3, 4), (2, 3, 4), (2, 3, 4)),
        ((2, 2, 5, 3), (2, 2, 4, 3), (2, 2, 4, 1)), ((2, 1, 3, 4), (1, 2, 5, 4), (5, 2)),
        ((1, 2, 0, 3), (1, 2, 4, 3), (1, 2, 4, 3)),
    ]
    for q, k, v in shapes:
        x = uniform(*q), uniform(*k), uniform(*v)
        case(op, attend, *x)
        case(op, lambda q, k, v: attend(q, k, v, is_causal=True), *x, causal=True)
        case(op, lambda q, k, v: attend(q, k, v, scale=0.3), *x, scale=0.3)
        held = torch.rand(q[-2], k[-2], generator=RANDOM) < 0.7
        run = lambda q, k, v, m: attend(q, k, v, attn_mask=m)
        case(op, run, *x, held, mask=True)
        case(op, run, *x, uniform(q[-2], k[-2]), mask=True)
        blind = held.clone()
        blind[:1] = False
        case(op, run, *x, blind, mask=True)
    minus = torch.tensor([[0.0, -INF, 1.0], [-INF, -INF, 0.0]])
    case(op, run, uniform(2, 4), uniform(3, 4), uniform(3, 4), minus, mask=True)


def dropouts():
    for p, train in [(0.0, True), (1.0, True), (0.4, False)]:
        case("dropout", lambda x: F.dropout(x, p, train), uniform(2, 3), p=p, train=train)


def embeddings():
    table = torch.tensor([[0, 2, 2], [4, 0, 1]])
    for index in (table, torch.tensor(3), torch.zeros(2, 0, dtype=torch.int64)):
        case("embedding", lambda w, i: F.embedding(i, w), uniform(5, 3), index)
        for padding in (2, -5, 4):
            run = lambda w, i: F.embedding(i, w, padding_idx=padding)
            case("embedding", run, uniform(5, 3), index, padding=padding)


REDUCTIONS = ("none", "mean", "sum")


def classes():
    shapes = [
        ((4,), ()), ((5, 3), (5,)), ((2, 4, 3), (2, 3)), ((2, 3, 2, 2), (2, 2, 2)), ((0, 3), (0,)),
    ]
    for (logits, wanted), reduction in itertools.product(shapes, REDUCTIONS):
        count = logits[0] if len(logits) == 1 else logits[1]
        targets = torch.randint(0, count, wanted, generator=RANDOM)
        some = targets.clone()
        if some.dim():
            some.view(-1)[::2] = -100
        weight = uniform(count, low=0.1)
        for smoothing, factors, t in itertools.product((0.0, 0.3), (None, weight), (targets, some)):
            args = {"reduction": reduction}
            if smoothing:
                args["smoothing"] = smoothing
            if factors is not None:
                args["weight"] = factors.tolist()
            options = {"weight": factors, "reduction": reduction}
            run = lambda x, t: F.cross_entropy(x, t, label_smoothing=smoothing, **options)
            case("cross_entropy", run, uniform(*logits, low=-4.0, high=4.0), t, **args)
            if not smoothing:
                x = uniform(*logits, low=-4.0, high=-0.1)
                case("nll_loss", lambda x, t: F.nll_loss(x, t, **options), x, t, **args)
        for smoothing, factors in itertools.product((0.0, 0.3), (None, weight)):
            args = {"reduction": reduction}
            if smoothing:
                args["smoothing"] = smoothing
            if factors is not None:
                args["weight"] = factors.tolist()
            run = lambda x, t: F.cross_entropy(
                x, t, factors, label_smoothing=smoothing, reduction=reduction)
            share = F.softmax(uniform(*logits), 0 if len(logits) == 1 else 1)
            case("cross_entropy", run, uniform(*logits), share, **args)
    for reduction in REDUCTIONS:
        none = torch.tensor([-100, -100])
        run = lambda x, t: F.cross_entropy(x, t, reduction=reduction)
        case("cross_entropy", run, uniform(2, 3), none, reduction=reduction)
        run = lambda x, t: F.cross_entropy(x, t, ignore_index=1, reduction=reduction)
        args = {"reduction": reduction, "ignore": 1}
        case("cross_entropy", run, uniform(3, 3), torch.tensor([1, 0, 2]), **args)
    sure = torch.tensor([[INF, 0.0], [-INF, 0.0], [-INF, 0.0]])
    run = lambda x, t: F.cross_entropy(x, t, reduction="none")
    case("cross_entropy", run, sure, torch.tensor([-100, 1, 0]), reduction="none")


def distances():
    edges = torch.tensor([0.0, 1.0, -1.0, 0.5, INF, -INF, NAN, 3.0]), torch.zeros(8)
    losses = {
        "mse_loss": (F.mse_loss, {}), "l1_loss": (F.l1_loss, {}),
        "huber_loss": (F.huber_loss, {"delta": 1.0}),
        "smooth_l1_loss": (F.smooth_l1_loss, {"beta": 1.0}),
    }
    for (op, (call, args)), reduction in itertools.product(losses.items(), REDUCTIONS):
        run = lambda x, t: call(x, t, reduction=reduction, **args)
        for shape in [(2, 3), (), (0, 2)]:
            case(op, run, uniform(*shape), uniform(*shape), reduction=reduction, **args)
    for op, (call, args) in losses.items():
        run = lambda x: call(x, edges[1], reduction="none", **args)
        case(f"{op}_of_0", run, edges[0], dy=torch.ones(8), reduction="none", **args)
    for size in (0.25, 2.0):
        run = lambda x, t: F.huber_loss(x, t, delta=size)
        case("huber_loss", run, uniform(3, 4), uniform(3, 4), reduction="mean", delta=size)
        run = lambda x, t: F.smooth_l1_loss(x, t, beta=size)
        case("smooth_l1_loss", run, uniform(3, 4), uniform(3, 4), reduction="mean", beta=size)
    run = lambda x, t: F.smooth_l1_loss(x, t, beta=0.0)
    case("smooth_l1_loss", run, uniform(3, 4), uniform(3, 4), reduction="mean", beta=0.0)
    loss = F.binary_cross_entropy_with_logits
    for shape, reduction in itertools.product([(2, 3), (), (0, 3)], REDUCTIONS):
        x, targets = uniform(*shape, low=-5, high=5), uniform(*shape, low=0.0, high=1.0)
        run = lambda x, t: loss(x, t, reduction=reduction)
        case("bce_with_logits", run, x, targets, reduction=reduction)
        weight = uniform(*shape[1:], low=0.2, high=3)
        run = lambda x, t: loss(x, t, pos_weight=weight, reduction=reduction)
        case("bce_with_logits", run, x, targets, reduction=reduction, weight=weight.tolist())
    far = torch.tensor([100.0, -100.0, 0.0, 1e4, -1e4]), torch.tensor([0.0, 1.0, 1.0, 1.0, 0.0])
    case("bce_with_logits", lambda x, t: loss(x, t, reduction="none"), *far, reduction="none")


def dtypes():
    dims, args = (0,), {"dims": [0], "keepdim": False}
    types("var", lambda x: x.var(dims, correction=1), (3,), correction=1, **args)
    types("std", lambda x: x.std(dims, correction=1), (3,), correction=1, **args)
    types("norm", lambda x: torch.linalg.vector_norm(x, 2.0, dims), (3,), p="2.0", **args)
    types("logsumexp", lambda x: x.logsumexp(dims), (3,), **args)
    types("amax", lambda x: x.amax(dims), (3,), **args)
    types("any", lambda x: x.any(0), (3,), **args)
    types("all", lambda x: x.all(0), (3,), **args)
    types("count_nonzero", lambda x: torch.count_nonzero(x, 0), (3,), dims=[0])
    types("cumprod", lambda x: x.cumprod(0), (3,), dim=0)
    types("prod", lambda x: x.prod(0), (3,), **args)
    for op in ("cummin", "cummax"):
        types(f"{op}_index", lambda x: getattr(x, op)(0).indices, (3,), dim=0)
        types(op, lambda x: getattr(x, op)(0).values, (3,), dim=0)
    types("max_along", lambda x: x.max(0).values, (3,), dim=0, keepdim=False)
    types("layer_norm", lambda x: F.layer_norm(x, (3,)), (2, 3), shape=[3], eps=1e-5)
    types("rms_norm", lambda x: F.rms_norm(x, (3,)), (2, 3), shape=[3], eps=1e-5)
    types("embedding", lambda w, i: F.embedding(i, w), (3, 2), (2,))
    loss = lambda x: F.binary_cross_entropy_with_logits(x, torch.zeros_like(x))
    types("bce_with_logits", loss, (3,), reduction="mean")


def main():
    version = torch.__version__.split("+")[0]
    if version != VERSION:
        raise SystemExit(f"this is torch {version}; the golden values are those of {VERSION}")
    torch.set_num_threads(1)
    families = (
        reductions, extremes, running_products, products, norms, attention, dropouts, embeddings,
        classes, distances, dtypes,
    )
    for family in families:
        family()
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES)
    path = pathlib.Path(__file__).with_name("layers.json")
    path.write_text(f"[\n{lines}\n]\n", encoding="ascii", newline="\n")
    print(f"{len(CASES)} cases of torch {version}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
