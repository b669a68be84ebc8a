#!/usr/bin/env python3
"""Writes dictionary.json: what PyTorch 2.9.1 gives for the left column of chapter 00's dictionary.

Run it with any Python that has that version of torch:  python tests/golden/make_dictionary.py
The lines are run in their order, as the chapter shows them. What is a statement, and what differs
from system to system, has no result.
"""

import json
import pathlib
import re

import torch
import torch.nn.functional as F

from make import VERSION

HERE = pathlib.Path(__file__).parent
CHAPTER = HERE / "../../book/src/00-start/index.md"


def lines():
    text = CHAPTER.read_text(encoding="utf-8").split("| PyTorch | the engine |\n")[1]
    for line in text.split("\n\n")[0].splitlines()[1:]:
        yield re.findall(r"`([^`]*)`", line)[0]


def result(line, names):
    try:
        code = compile(line, "chapter", "eval")
    except SyntaxError:
        exec(line, names)
        return [], []
    value = eval(code, names)
    if value is None or "memory_allocated" in line:
        return [], []
    if isinstance(value, torch.Tensor):
        return list(value.shape), value.detach().double().flatten().tolist()
    if isinstance(value, (list, tuple)):
        return [len(value)], [float(x) for x in value]
    return [], [float(value)]


def main():
    assert torch.__version__.startswith(VERSION), torch.__version__
    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
    w, targets = torch.ones(3, 2, requires_grad=True), torch.tensor([0, 1])
    logits = x @ w
    names = {"torch": torch, "F": F, "x": x, "y": y, "w": w, "targets": targets}
    names |= {"logits": logits, "loss": F.cross_entropy(logits, targets)}
    rows = []
    for line in lines():
        shape, numbers = result(line, names)
        rows.append({"python": line, "shape": shape, "numbers": numbers})
    text = ",\n".join("  " + json.dumps(row) for row in rows)
    (HERE / "dictionary.json").write_text('{"torch": "%s", "rows": [\n%s\n]}\n' % (VERSION, text))


if __name__ == "__main__":
    main()
