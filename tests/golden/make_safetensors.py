#!/usr/bin/env python3
"""Writes checkpoints/: what Python's safetensors 0.8.0 with PyTorch 2.9.1 saves.

Run it with a Python that has both:
    python tests/golden/make_safetensors.py           writes the files of Python
    python tests/golden/make_safetensors.py --check   reads the files of the engine

`python.safetensors` has a tensor of each type that the engine knows, `python.json` their bytes.
`python_tied.safetensors` is a tied model, saved by `save_model`. `python_sharded` is in files with an
index, as `huggingface_hub` 1.x splits and names them. What the engine saves is in `engine`: its tests
compare the bytes, and `--check` shows that Python reads them.
"""

import json
import math
import pathlib
import sys

import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

HERE = pathlib.Path(__file__).parent / "checkpoints"
ENGINE = HERE / "engine"
NAMES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8", torch.bool: "bool",
}
ODD = [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan]


def tensors():
    """One of each type, and the shapes that are easy to get wrong."""
    floats = {NAMES[t]: torch.tensor(ODD, dtype=t) for t in
              (torch.float64, torch.float32, torch.float16, torch.bfloat16)}
    return floats | {
        "i64": torch.tensor([[-2**63, 2**63 - 1], [0, -1]]),
        "i32": torch.tensor([-2**31, 2**31 - 1, 7], dtype=torch.int32),
        "u8": torch.tensor([0, 1, 255], dtype=torch.uint8),
        "bool": torch.tensor([[True], [False], [True]]),
        "scalar": torch.tensor(0.1),
        "i64 scalar": torch.tensor(-5),
        "empty": torch.zeros(3, 0),
        "empty i64": torch.zeros(0, dtype=torch.int64),
        "matrix": torch.arange(6.0).reshape(2, 3),
    }


def raw(x):
    return x.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes().hex() if x.numel() else ""


def written(x):
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "bytes": raw(x)}


class Pair(torch.nn.Module):
    """Two layers; tied, they are one weight under two names."""

    def __init__(self, tied):
        super().__init__()
        self.a = torch.nn.Linear(2, 2, bias=False)
        self.b = torch.nn.Linear(2, 2, bias=False)
        if tied:
            self.b.weight = self.a.weight


def split(state, limit):
    """As split_torch_state_dict_into_shards."""
    shards, shard, size = [], {}, 0
    for name, x in state.items():
        bytes_of = x.numel() * x.element_size()
        if bytes_of > limit:
            shards.append({name: x})
            continue
        if size + bytes_of > limit:
            shards.append(shard)
            shard, size = {}, 0
        shard[name] = x
        size += bytes_of
    return shards + [shard] if shard else shards


def make():
    HERE.mkdir(exist_ok=True)
    state = tensors()
    save_file(state, HERE / "python.safetensors", metadata={"format": "pt"})
    lines = [f"{json.dumps(name)}: {json.dumps(written(x))}" for name, x in state.items()]
    (HERE / "python.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    tied = Pair(tied=True)
    tied.a.weight.data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    save_model(tied, HERE / "python_tied.safetensors", metadata={"format": "pt"})
    folder = HERE / "python_sharded"
    folder.mkdir(exist_ok=True)
    shards = split(state, 40)
    weight_map = {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file(shard, folder / file, metadata={"format": "pt"})
        weight_map |= {name: file for name in shard}
    total = sum(x.numel() * x.element_size() for x in state.values())
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    text = json.dumps(index, indent=2, sort_keys=True) + "\n"
    (folder / "model.safetensors.index.json").write_text(text)


def same(what, found, want):
    assert list(found.keys()) == list(want.keys()) or found.keys() == want.keys(), (what, found.keys())
    for name, x in want.items():
        assert written(found[name]) == written(x), (what, name)


def check():
    """Reads what the engine has saved."""
    state = tensors()
    matrix = state["matrix"]
    want = state | {"turned": matrix.T.contiguous(), "column": matrix[:, 1].contiguous(),
                    'a"b': torch.tensor([1], dtype=torch.uint8), "c\\d": torch.tensor(2.0),
                    "e\nf": torch.tensor(3.0), "": torch.tensor(4.0), "\u00e9\u4e2d": torch.tensor(5.0)}
    same("mixed", load_file(ENGINE / "mixed.safetensors"), want)
    with safe_open(ENGINE / "mixed.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}, file.metadata()

    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    same("tied", load_file(ENGINE / "tied.safetensors"), {"a.weight": weight})
    model = Pair(tied=True)
    assert load_model(model, ENGINE / "tied.safetensors") == (set(), [])
    assert model.b.weight is model.a.weight and torch.equal(model.b.weight.data, weight)

    folder = ENGINE / "sharded"
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    files = sorted(set(index["weight_map"].values()))
    count = len(files)
    assert files == [f"model-{n:05}-of-{count:05}.safetensors" for n in range(1, count + 1)], files
    found = {}
    for name, file in index["weight_map"].items():
        with safe_open(folder / file, "pt") as shard:
            found[name] = shard.get_tensor(name)
    same("sharded", found, state)
    total = sum(x.numel() * x.element_size() for x in state.values())
    assert index["metadata"] == {"total_size": total}
    shards = [set(shard) for shard in split(state, 40)]
    ours = [{name for name, file in index["weight_map"].items() if file == it} for it in files]
    assert ours == shards, (ours, shards)
    print(f"Python reads all {2 + count} files of the engine")


if __name__ == "__main__":
    check() if "--check" in sys.argv else make()
