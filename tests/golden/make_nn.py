#!/usr/bin/env python3
"""Writes nn.json: what PyTorch 2.9.1 on a CPU computes with the modules of torch.nn.

Run it with any Python that has that version of torch:  python tests/golden/make_nn.py
`cases` are those of make.py, for the operation `linear`. A case of `modules` holds the state of a
module by the engine's names, the input, the upstream gradient `dy`, the output, the gradient of the
input (null for integers) and of each parameter, and the buffers after the call.
"""

import json
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F

from make import CASES, RANDOM, VERSION, case, uniform, written

MODULES = []
NAMES = {"in_proj_weight": "qkv.weight", "in_proj_bias": "qkv.bias"}


def ours(name):
    """The engine's name of a parameter: attention's first product is a linear layer there."""
    for theirs, name_here in NAMES.items():
        name = name.replace(theirs, name_here)
    return name


def module(kind, built, x, call=None, randomise=True, **args):
    """Runs a module on x, with random numbers in every parameter."""
    for parameter in built.parameters() if randomise else ():
        parameter.data = uniform(*parameter.shape, low=-0.5, high=0.5)
    if getattr(built, "padding_idx", None) is not None:
        built.weight.data[built.padding_idx] = 0
    state = {ours(name): written(value) for name, value in built.state_dict().items()}
    x = x.clone().requires_grad_(x.is_floating_point())
    y = (call or built)(x)
    dy = uniform(*y.shape)
    built.zero_grad()
    y.backward(dy)
    MODULES.append({
        "module": kind,
        "args": args,
        "state": state,
        "input": written(x),
        "dy": written(dy),
        "output": written(y),
        "input_grad": written(x.grad),
        "grads": {ours(name): written(p.grad) for name, p in built.named_parameters()},
        "buffers": {name: written(value) for name, value in built.named_buffers()},
    })


def tokens(count, *shape):
    return torch.randint(0, count, shape, generator=RANDOM)


def linear():
    for shape in [(3,), (4, 3), (2, 4, 3), (2, 1, 3, 3), (0, 3), (2, 0, 3), (1, 3)]:
        case("linear", F.linear, uniform(*shape), uniform(5, 3), uniform(5))
        case("linear", F.linear, uniform(*shape), uniform(5, 3))
    case("linear", F.linear, uniform(2, 4), uniform(1, 4), uniform(1))
    case("linear", F.linear, uniform(2, 0), uniform(3, 0), uniform(3))
    case("linear", F.linear, uniform(3, 131), uniform(17, 131) / 8, uniform(17))


def simple():
    module("Linear", nn.Linear(6, 4), uniform(3, 2, 6), sizes=[6, 4], bias=True)
    module("Linear", nn.Linear(6, 4, bias=False), uniform(5, 6), sizes=[6, 4], bias=False)
    module("Embedding", nn.Embedding(7, 3), tokens(7, 2, 5), sizes=[7, 3])
    module("Embedding", nn.Embedding(4, 3, padding_idx=1), tokens(4, 3, 5), sizes=[4, 3], padding=1)
    module("Embedding", nn.Embedding(4, 2, padding_idx=-1), tokens(4, 9), sizes=[4, 2], padding=-1)
    module("LayerNorm", nn.LayerNorm(6), uniform(4, 6), sizes=[6])
    module("LayerNorm", nn.LayerNorm((2, 3), eps=0.1), uniform(4, 2, 3), sizes=[2, 3], eps=0.1)
    module("RmsNorm", nn.RMSNorm(6), uniform(4, 6), sizes=[6])
    module("RmsNorm", nn.RMSNorm((2, 3), eps=0.1), uniform(4, 2, 3), sizes=[2, 3], eps=0.1)
    # A root mean square of 0.001, at which the default epsilon counts.
    module("RmsNorm", nn.RMSNorm(4), uniform(2, 4) / 1000, sizes=[4])


def batch_norm():
    for shape in [(4, 3), (2, 3, 5)]:
        norm = nn.BatchNorm1d(3)
        module("BatchNorm1d", norm, uniform(*shape), sizes=[3], train=True)
        module("BatchNorm1d", norm, uniform(*shape), randomise=False, sizes=[3], train=True)
        module("BatchNorm1d", norm.eval(), uniform(*shape), sizes=[3], train=False)
    norm = nn.BatchNorm1d(2, eps=0.1, momentum=0.25)
    module("BatchNorm1d", norm, uniform(3, 2), sizes=[2], train=True, eps=0.1, momentum=0.25)


def block(width, heads, causal):
    """A pre-norm block of PyTorch's own, without dropout, and how to call it."""
    built = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    return built, lambda x: built(x, src_mask=mask(x.shape[1]) if causal else None)


def mask(time):
    return nn.Transformer.generate_square_subsequent_mask(time)


def attention():
    for width, heads, causal in [(8, 2, False), (8, 2, True), (6, 1, True), (6, 6, False)]:
        built = nn.MultiheadAttention(width, heads, batch_first=True)
        attend = lambda x: built(x, x, x, attn_mask=mask(5) if causal else None)[0]
        args = {"sizes": [width, heads], "causal": causal}
        module("MultiHeadAttention", built, uniform(2, 5, width), attend, **args)
        built, run = block(width, heads, causal)
        module("TransformerBlock", built, uniform(2, 5, width), run, **args)


class Gpt(nn.Module):
    """GPT-2 with a head that has no bias."""

    def __init__(self, vocab, context, width, layers, heads, tied):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(block(width, heads, True)[0] for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, x):
        time = x.shape[1]
        h = self.tokens(x) + self.positions(torch.arange(time))
        for layer in self.blocks:
            h = layer(h, src_mask=mask(time))
        return self.head(self.norm(h))


def models():
    stack = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 4), nn.GELU(), nn.LayerNorm(4),
                          nn.SiLU(), nn.Linear(4, 3, bias=False), nn.Tanh())
    module("Sequential", stack, uniform(3, 5))
    layers = [nn.Linear(5, 7), nn.Linear(7, 4), nn.Linear(4, 2)]
    built = nn.ModuleDict({"layers": nn.ModuleList(layers)})
    run = lambda x: layers[2](F.relu(layers[1](F.relu(layers[0](x)))))
    module("Mlp", built, uniform(6, 5), run, sizes=[5, 7, 4, 2])
    for tied, time in [(False, 6), (True, 4)]:
        config = {"vocab": 9, "context": 6, "width": 8, "layers": 2, "heads": 2, "tied": tied}
        module("Gpt", Gpt(**config), tokens(9, 3, time), **config)


def main():
    version = torch.__version__.split("+")[0]
    if version != VERSION:
        raise SystemExit(f"this is torch {version}; the golden values are those of {VERSION}")
    torch.set_num_threads(1)
    RANDOM.manual_seed(20260117)
    linear()
    simple()
    batch_norm()
    attention()
    models()
    path = pathlib.Path(__file__).with_name("nn.json")
    lists = {"cases": CASES, "modules": MODULES}
    dump = lambda entry: json.dumps(entry, separators=(",", ":"))
    text = ",\n".join(
        f'"{name}":[\n' + ",\n".join(map(dump, entries)) + "\n]" for name, entries in lists.items()
    )
    path.write_text("{\n" + text + "\n}\n", encoding="ascii", newline="\n")
    print(f"{len(CASES)} cases, {len(MODULES)} modules of torch {version}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
