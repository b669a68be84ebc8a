#!/usr/bin/env python3
"""Writes indexing.json: what PyTorch 2.9.1 on a CPU computes for what joins, cuts and selects.

Run it as make.py beside it:  python tests/golden/make_indexing.py
"""

import json
import pathlib

import torch

from make import CASES, RANDOM, VERSION, case, uniform


def joins():
    for shapes, dim in [(((2, 3), (2, 1)), 1), (((2, 3), (4, 3)), 0), (((0, 3), (2, 3)), 0), (((3,), (0,)), 0), (((2, 2, 1), (2, 2, 2)), -1)]:
        case("cat", lambda *x: torch.cat(x, dim), *(uniform(*s) for s in shapes), dim=dim)
    for shape, dim in [((2, 3), 0), ((2, 3), -1), ((2, 3), 1), ((), 0), ((0, 2), 1)]:
        case("stack", lambda *x: torch.stack(x, dim), uniform(*shape), uniform(*shape), dim=dim)
    for sizes, which in [((1, 2, 0), 1), ((3,), 0), ((0, 3), 1)]:
        case("split", lambda x: x.split(sizes, 1)[which], uniform(2, 3), sizes=list(sizes), which=which)
    for count, which in [(2, 0), (2, 1), (4, 3), (5, 2)]:
        case("chunk", lambda x: x.chunk(count, 1)[which], uniform(2, 7), count=count, which=which)


def repeats():
    for shape, counts in [((2, 3), (2, 1)), ((2, 3), (2, 1, 3)), ((3,), (0,)), ((), (2,)), ((2,), (1,))]:
        case("repeat", lambda x: x.repeat(counts), uniform(*shape), counts=list(counts))
    for shape, count, dim in [((2, 3), 2, 1), ((2, 3), 3, 0), ((2, 3), 0, 0), ((2, 3), 1, -1)]:
        case(
            "repeat_interleave", lambda x: x.repeat_interleave(count, dim), uniform(*shape),
            count=count, dim=dim,
        )
    for shape, start, end in [((2, 3, 4), 0, -1), ((2, 3, 4), 1, 2), ((2, 3), 1, 1), ((), 0, 0)]:
        case("flatten", lambda x: x.flatten(start, end), uniform(*shape), start=start, end=end)
    for shape, shift, dim in [((5,), 2, 0), ((2, 3), -1, 1), ((2, 3), 7, 0), ((0, 2), 1, 0)]:
        case("roll", lambda x: x.roll(shift, dim), uniform(*shape), shift=shift, dim=dim)
    for shape in [(3,), (3, 2), (2, 3), (0,)]:
        case("diag", lambda x: x.diag(), uniform(*shape))
    for shape in [(3, 3), (2, 4), (2, 3, 2), (0, 2)]:
        for k in (-1, 0, 2):
            case("tril", lambda x: x.tril(k), uniform(*shape), diagonal=k)
            case("triu", lambda x: x.triu(k), uniform(*shape), diagonal=k)


def selections():
    for shape, count, dim, largest in [((2, 5), 3, 1, True), ((4, 2), 2, 0, False), ((3,), 0, 0, True)]:
        x = uniform(*shape)
        case("topk", lambda x: x.topk(count, dim, largest).values, x, count=count, dim=dim, largest=largest)
        case("topk_index", lambda x: x.topk(count, dim, largest).indices, x, count=count, dim=dim, largest=largest)
    x = torch.tensor([[0.0, 2.0, -0.0], [float("nan"), 0.0, 1.0]])
    case("nonzero", lambda x: x.nonzero(), x)
    case("nonzero", lambda x: x.nonzero(), uniform(2, 0))
    held = torch.tensor([[True, False, True], [False, False, True]])
    case("masked_select", lambda x, m: x.masked_select(m), uniform(2, 3), held)
    case("masked_select", lambda x, m: x.masked_select(m), uniform(2, 3), ~held & held)
    repeated = torch.tensor([[3, 1, 3], [2, 1, 1]])
    for which, name in enumerate(("unique", "unique_inverse", "unique_counts")):
        case(name, lambda x: torch.unique(x, return_inverse=True, return_counts=True)[which], repeated)
    case("bincount", lambda x: x.bincount(minlength=6), torch.tensor([1, 1, 4, 0]), least=6)
    case("bincount", lambda x: x.bincount(), torch.tensor([1, 1, 4, 0]), least=0)
    labels = torch.tensor([[2, 0], [1, 2]])
    case("one_hot", lambda x: torch.nn.functional.one_hot(x, 4), labels, classes=4)
    index = torch.tensor([[3, 0, 2], [1, 3, 0]])
    case("scatter", lambda x, i, s: x.scatter(1, i, s), uniform(2, 4), index, uniform(2, 3), dim=1)
    down = torch.tensor([[1, 0, 1]])
    case("scatter", lambda x, i, s: x.scatter(0, i, s), uniform(2, 4), down, uniform(1, 3), dim=0)
    case("scatter_scalar", lambda x, i: x.scatter(1, i, 2.5), uniform(2, 4), index, dim=1, value=2.5)
    listed = torch.tensor([2, 0, 2])
    case("index_add", lambda x, i, s: x.index_add(1, i, s), uniform(2, 4), listed, uniform(2, 3), dim=1)
    case("argsort", lambda x: torch.argsort(x, dim=1, stable=True), uniform(2, 5), dim=1)


def main():
    version = torch.__version__.split("+")[0]
    if version != VERSION:
        raise SystemExit(f"this is torch {version}; the golden values are those of {VERSION}")
    torch.set_num_threads(1)
    RANDOM.manual_seed(20261202)
    for family in (joins, repeats, selections):
        family()
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES)
    path = pathlib.Path(__file__).with_name("indexing.json")
    path.write_text(f"[\n{lines}\n]\n", encoding="ascii", newline="\n")
    print(f"{len(CASES)} cases of torch {version}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
