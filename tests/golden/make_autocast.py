#!/usr/bin/env python3
"""Writes autocast.json: which types PyTorch 2.9.1 gives under CUDA's autocast, for each operation
of the engine's table, and what a small network computes under autocast.

Run it with any Python that has that version of torch:  python tests/golden/make_autocast.py
No GPU is needed for the types: fake tensors claim to be on one, and PyTorch's dispatcher sends
their calls through the autocast of CUDA. They have types and shapes, and no numbers.

Each operation gets its floating-point operands in every mixture of f32 and the half type, and all
in f64. A call that PyTorch refuses is "refused".
"""

import itertools
import json
import logging
import pathlib

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.nn.attention import SDPBackend, sdpa_kernel

from make import VERSION

HALF = {"bf16": torch.bfloat16, "f16": torch.float16}
NAMES = {
    torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", torch.float64: "f64",
    torch.int64: "i64", torch.bool: "bool",
}
X = [2, 3, 4]
ONE, PAIR = [X], [X, X]
# Operands that are not floating-point: a shape and a type.
MASK, PLACES, LIST = ([4], torch.bool), ([2, 3], torch.int64), ([3], torch.int64)
INTEGERS = ([2, 3, 4], torch.int64)

UNARY = {name: getattr(torch, name) for name in """neg abs sign sqrt rsqrt reciprocal square exp exp2
    expm1 log log2 log1p sin cos tanh erf relu sigmoid floor ceil round trunc isnan isinf
    isfinite""".split()}
UNARY |= {
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "logsigmoid": F.logsigmoid,
    "silu": F.silu,
    "softplus": lambda x: F.softplus(x, 2.0, 20.0),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "add_scalar": lambda x: x + 1.5,
    "sub_scalar": lambda x: x - 1.5,
    "mul_scalar": lambda x: x * -1.5,
    "div_scalar": lambda x: x / -1.5,
    "pow_scalar": lambda x: x**-1.5,
    "maximum_scalar": lambda x: x.clamp_min(0.55),
    "minimum_scalar": lambda x: x.clamp_max(0.55),
    "floor_divide_scalar": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
    "trunc_divide_scalar": lambda x: torch.div(x, 0.3, rounding_mode="trunc"),
    "clamp": lambda x: x.clamp(0.55, 1.25),
    "clamp_min_scalar": lambda x: x.clamp_min(0.55),
    "clamp_max_scalar": lambda x: x.clamp_max(0.55),
    "to": lambda x: x.to(torch.float64),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "slice": lambda x: x.narrow(2, 0, 3),
    "select": lambda x: x.select(1, -1),
    "unfold": lambda x: x.unfold(2, 3, 1),
    "flip": lambda x: x.flip(0, -1),
    "reshape": lambda x: x.transpose(0, 1).reshape(4, 6),
    "copy": lambda x: x.transpose(1, 2).clone(),
    "sum": lambda x: x.sum((0, 2)),
    "max": lambda x: x.amax(1, True),
    "min": lambda x: x.amin((0, 2)),
    "max_along": lambda x: x.max(1).values,
    "min_along": lambda x: x.min(-1, True).values,
    "prod": lambda x: x.prod(1),
    "mean": lambda x: x.mean(1),
    "var": lambda x: x.var((0, 2), keepdim=True),
    "std": lambda x: x.std(1, correction=0),
    "norm": lambda x: torch.linalg.vector_norm(x, 2.0, 1),
    "logsumexp": lambda x: x.logsumexp((0, 2)),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(2),
    "cummax": lambda x: x.cummax(2).values,
    "cummin": lambda x: x.cummin(0).values,
    "sort": lambda x: x.sort(0).values,
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(-1),
    "any": lambda x: x.any(1),
    "all": lambda x: x.all(1),
    "count_nonzero": lambda x: x.count_nonzero(2),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "dropout": lambda x: F.dropout(x, 0.3),
    "fill_": lambda x: x.clone().fill_(0.5),
    "zero_": lambda x: x.clone().zero_(),
    "split": lambda x: x.split([1, 3], 2)[1],
    "chunk": lambda x: x.chunk(2, 1)[0],
    "repeat": lambda x: x.repeat(2, 1, 1, 3),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "flatten": lambda x: x.transpose(0, 1).flatten(1, 2),
    "roll": lambda x: x.roll(-1, 2),
    "diag": lambda x: x.select(0, 1).diag(),
    "tril": torch.tril,
    "triu": lambda x: torch.triu(x, 1),
    "topk": lambda x: x.topk(2, 1).values,
    "masked_select": lambda x: x.masked_select(x > 0.95),
}
UNARY |= {
    f"{name}_scalar": lambda x, name=name: getattr(torch, name)(x, 0.5)
    for name in "eq ne lt le gt ge".split()
}
BINARY = {name: getattr(torch, name) for name in """add sub mul div pow maximum minimum remainder
    floor_divide eq ne lt le gt ge""".split()}
BINARY |= {
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "remainder_scalar": lambda a, b: a.remainder(0.69) * b,
    "clamp_min": lambda a, b: a.clamp(min=b),
    "clamp_max": lambda a, b: a.clamp(max=b),
    "mse_loss": F.mse_loss,
    "l1_loss": lambda x, t: F.l1_loss(x, t, reduction="sum"),
    "huber_loss": lambda x, t: F.huber_loss(x, t, "none", 0.67),
    "smooth_l1_loss": lambda x, t: F.smooth_l1_loss(x, t, reduction="none", beta=0.67),
    "cat": lambda a, b: torch.cat([a, b, a], 1),
    "stack": lambda a, b: torch.stack([a, b], -1),
}
MASKED = {
    "masked_fill": lambda m, x: x.masked_fill(m, 2.5),
    "masked_fill_": lambda m, x: x.clone().masked_fill_(m, 2.5),
    **{f"logical_{name}": getattr(torch, f"logical_{name}") for name in ("and", "or", "xor")},
    "logical_not": lambda m, x: m.logical_not(),
}
BITS = {f"bitwise_{name}": getattr(torch, f"bitwise_{name}") for name in ("and", "or", "xor")}
CHANGED = {
    "add_": lambda x, y: x.clone().select(1, 1).add_(y, alpha=-1.5),
    "mul_": lambda x, y: x.clone().transpose(0, 1).mul_(y),
    # copy_ is missing: it looks for the GPU even here.
    "put_": lambda x, y: x.clone().put_(torch.zeros(1, 4, dtype=torch.int64, device="cuda"), y),
    "index_put_": lambda x, y: x.clone().index_put_(
        [torch.zeros(3, dtype=torch.int64, device="cuda")], y.select(0, 0), True),
}


def layer_norm(x, weight, bias):
    return F.layer_norm(x, (4,), weight, bias, 0.1)


def bce(x, targets, weight):
    return F.binary_cross_entropy_with_logits(x, targets, pos_weight=weight)


TABLE = {
    **{op: (ONE, call) for op, call in UNARY.items()},
    **{op: (PAIR, call) for op, call in BINARY.items()},
    **{op: ([MASK, X], call) for op, call in MASKED.items()},
    **{op: ([INTEGERS, INTEGERS], call) for op, call in BITS.items()},
    "bitwise_not": ([INTEGERS, INTEGERS], lambda a, b: a.bitwise_not()),
    **{op: ([X, [1, 4]], call) for op, call in CHANGED.items()},
    "where": ([MASK, X, X], torch.where),
    "masked_fill_tensor": ([MASK, X, []], lambda m, x, value: x.masked_fill(m, value)),
    "expand": ([[3, 1]], lambda x: x.expand(2, 3, 4)),
    "matmul": ([[2, 3], [3, 4]], torch.matmul),
    "bmm": ([[2, 2, 3], [2, 3, 2]], torch.bmm),
    "mv": ([[2, 3], [3]], torch.mv),
    "dot": ([[2, 3], [3]], lambda a, b: a.select(0, 1).dot(b)),
    "outer": ([[2, 3], [3]], lambda a, b: b.outer(a.select(0, 0))),
    "addmm": ([[4], [2, 3], [3, 4]], torch.addmm),
    "linear": ([[2, 3], [4, 3], [4]], F.linear),
    "layer_norm": ([X, [4], [4]], layer_norm),
    "rms_norm": ([X, [4]], lambda x, weight: F.rms_norm(x, (4,), weight, 0.1)),
    "embedding": ([[5, 3], PLACES], lambda x, i: F.embedding(i, x)),
    "scaled_dot_product_attention": (
        [[2, 3, 4], [2, 5, 4], [2, 5, 2], [3, 5]], F.scaled_dot_product_attention),
    "cross_entropy": ([[3, 4], LIST], F.cross_entropy),
    "nll_loss": ([[3, 4], LIST], F.nll_loss),
    "bce_with_logits": ([X, X, [4]], bce),
    "gather": ([[2, 4], PLACES], lambda x, i: x.gather(1, i)),
    "scatter_add": ([[2, 4], PLACES, [2, 3]], lambda x, i, s: x.scatter_add(1, i, s)),
    "scatter": ([[2, 4], PLACES, [2, 3]], lambda x, i, s: x.scatter(1, i, s)),
    "scatter_scalar": ([[2, 4], PLACES], lambda x, i: x.scatter(1, i, 2.5)),
    "take": ([X, LIST], torch.take),
    "index": ([X, LIST], lambda x, i: torch.ops.aten.index(x, [None, i])),
    "index_select": ([X, LIST], lambda x, i: x.index_select(1, i)),
    "index_add": ([X, LIST], lambda x, i: x.index_add(1, i, x)),
}


def result(operands, call, types):
    types = iter(types)
    made = [
        torch.empty(x[0], dtype=x[1], device="cuda") if isinstance(x, tuple)
        else torch.empty(x, dtype=next(types), device="cuda")
        for x in operands
    ]
    try:
        with sdpa_kernel(SDPBackend.MATH):  # The others ask which GPU there is.
            return NAMES[call(*made).dtype]
    except (RuntimeError, ValueError) as error:
        # Anything else would say nothing about types.
        assert "CUDA driver" not in str(error), error
        return "refused"


def types():
    """For each half type and operation: the types of the operands, and of the result."""
    table = {}
    for name, half in HALF.items():
        torch.set_autocast_enabled("cuda", True)
        torch.set_autocast_dtype("cuda", half)
        with FakeTensorMode(shape_env=ShapeEnv()):
            for op, (operands, call) in TABLE.items():
                count = sum(not isinstance(x, tuple) for x in operands)
                mixtures = [*itertools.product((torch.float32, half), repeat=count)]
                if count:
                    mixtures.append((torch.float64,) * count)
                for mixture in mixtures:
                    key = " ".join(NAMES[x] for x in mixture)
                    row = table.setdefault(op, {}).setdefault(name, {})
                    row[key] = result(operands, call, mixture)
        torch.set_autocast_enabled("cuda", False)
    return table


def floats(x):
    return x.double().flatten().tolist()


def network():
    """Two layers and a loss under the autocast of the CPU, whose list agrees on these calls."""
    random = torch.Generator().manual_seed(7)
    draw = lambda *shape: torch.randn(shape, generator=random)
    x, w1, b1, w2, b2 = draw(16, 12), draw(12, 24) * 0.3, draw(24) * 0.1, draw(24, 5) * 0.2, draw(5)
    targets = torch.randint(0, 5, (16,), generator=random)
    parameters = {"w1": w1, "b1": b1, "w2": w2, "b2": b2}
    given = {"x": floats(x), "targets": targets.tolist()}
    given |= {name: floats(p) for name, p in parameters.items()}
    runs = {}
    for name, half in {"f32": None, **HALF}.items():
        for p in parameters.values():
            p.requires_grad_(True).grad = None
        with torch.autocast("cpu", dtype=half or torch.bfloat16, enabled=half is not None):
            # The half type in both products, and f32 behind each.
            hidden = (x @ w1 + b1).relu()
            logits = hidden @ w2 + b2
            loss = F.cross_entropy(logits, targets)
        loss.backward()
        assert all(p.grad.dtype == torch.float32 for p in parameters.values())
        gradients = {name: floats(p.grad) for name, p in parameters.items()}
        runs[name] = {"logits": floats(logits), "loss": loss.item(), "gradients": gradients}
    return {"given": given, "runs": runs}


def main():
    # A refused call is an answer here, and no news.
    logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
    assert torch.__version__.startswith(VERSION)
    path = pathlib.Path(__file__).with_name("autocast.json")
    golden = {"torch": torch.__version__, "types": types(), "network": network()}
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
