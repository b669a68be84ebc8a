#!/usr/bin/env python3
"""Writes checkpoints/*.pt and pt.json: files of PyTorch 2.9.1, and what PyTorch reads in them.

Run it with any Python that has that version of torch:  python tests/golden/make_pt.py
Each line of pt.json is a file: its name, and what lies in it, as torch.load reads it back. A value
is {"dict": [[key, value], ...]}, {"list": [...]}, {"tensor": {dtype, shape, stride, offset,
storage, data}}, {"int": ...}, {"float": ...}, {"text": ...}, {"bytes": [...]}, {"bool": ...} or
null. Tensors with equal "storage" share one. Files that only have to be refused have no value.
`danger.pt` would create a file if anything ran it; nothing here does.
"""

import collections
import io
import json
import os
import pathlib
import pickle
import tarfile
import zipfile

import torch

VERSION = "2.9.1"
SEED = 20261203
FOLDER = pathlib.Path(__file__).parent / "checkpoints"
NAMES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8", torch.bool: "bool",
}


def number(x):
    """A float as a word, with the digits that read back as the same number."""
    return repr(x) if isinstance(x, float) else x


def tensor(x, storages):
    key = x.untyped_storage()._cdata
    place = storages.setdefault(key, len(storages))
    data = [number(value) for value in x.detach().flatten().tolist()]
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "stride": list(x.stride()),
            "offset": x.storage_offset(), "storage": place, "data": data}


def value(x, storages):
    if x is None:
        return None
    if isinstance(x, torch.Tensor):
        return {"tensor": tensor(x, storages)}
    if isinstance(x, dict):
        entries = [[value(k, storages), value(v, storages)] for k, v in x.items()]
        return {"dict": entries}
    if isinstance(x, (list, tuple, set, frozenset)):
        return {"list": [value(item, storages) for item in x]}
    for kind, name in ((bool, "bool"), (int, "int"), (str, "text")):
        if isinstance(x, kind):
            return {name: x}
    if isinstance(x, float):
        return {"float": number(x)}
    if isinstance(x, (bytes, bytearray)):
        return {"bytes": list(x)}
    return {"other": str(x)}


LINES = []


def expect(name):
    """Adds what PyTorch reads in a file."""
    # Its restricted reader lacks opcodes of protocols 3 to 5; these files are our own.
    read = torch.load(FOLDER / name, weights_only=False, map_location="cpu")
    LINES.append({"file": name, "value": value(read, {})})


def save(name, x, **options):
    torch.save(x, FOLDER / name, **options)
    expect(name)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(3, 2)
        self.head = torch.nn.Linear(2, 3, bias=False)
        self.head.weight = self.embed.weight


def all_types():
    rows = {"f64": [1e300, -0.1], "f32": [0.1, float("inf")], "f16": [0.1, 65504.0],
            "bf16": [0.1, float("nan")], "i64": [-2**63, 2**63 - 1], "i32": [-2**31, 7],
            "u8": [0, 255], "bool": [True, False]}
    types = {name: dtype for dtype, name in NAMES.items()}
    return {name: torch.tensor(row, dtype=types[name]) for name, row in rows.items()}


def views():
    base = torch.arange(24.0)
    grid = base.reshape(4, 6)
    return {"base": base, "grid": grid, "turned": grid.t(), "part": grid[1:3, ::2],
            "column": grid[:, 5], "one": grid[2, 3], "row": grid[3:], "wide": base[:1].expand(3),
            "empty_end": base[24:], "alone": torch.arange(3.0)[1:]}


def training():
    torch.manual_seed(SEED)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5])
    for _ in range(2):
        model(torch.randn(4, 3)).square().sum().backward()
        optimizer.step()
        schedule.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(), "epoch": 3, "loss": 0.25, "name": "run \u00e9",
            "rng": torch.get_rng_state()[:8].clone(), "best": None}


def containers():
    return {"int": [0, 1, 255, 256, 65535, 65536, -1, -2**31, 2**31, 2**63 - 1, -2**63],
            "float": [0.5, -0.0, float("inf"), float("nan")], "bool": [True, False, None],
            "text": ["", "\u4e2d\n", "x" * 300], "tuple": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
            "set": {5}, "bytes": [b"\x00\xff\x80", bytearray(b"ab")],
            "size": torch.Size([2, 3]), "parameter": torch.nn.Parameter(torch.ones(2)), 7: "seven",
            "many": list(range(1001))}


def deep(levels):
    x = []
    for _ in range(levels):
        x = [x]
    return x


def rewritten(source, name, change):
    """The archive of another file with its entries changed, as PyTorch itself writes archives."""
    with zipfile.ZipFile(FOLDER / source) as archive:
        entries = {entry.split("/", 1)[1]: archive.read(entry) for entry in archive.namelist()}
    change(entries)
    writer = torch._C.PyTorchFileWriter(str(FOLDER / name))
    for entry, data in entries.items():
        if entry not in ("version", ".data/serialization_id"):
            writer.write_record(entry, data, len(data))
    writer.write_end_of_file()


def on_cuda(entries):
    entries["data.pkl"] = entries["data.pkl"].replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")


def big_endian(entries):
    entries["byteorder"] = b"big"
    entries["data/0"] = torch.arange(1.0, 3.0).numpy().astype(">f4").tobytes()


def files():
    save("plain.pt", collections.OrderedDict(
        weight=torch.arange(6.0).reshape(2, 3), bias=torch.tensor([0.5, -1.5])))
    save("module.pt", torch.nn.Linear(3, 2).state_dict())
    save("tied.pt", Tied().state_dict())
    save("views.pt", views())
    save("types.pt", all_types())
    save("empty.pt", {"none": torch.zeros(0), "rows": torch.zeros(0, 3), "columns": torch.zeros(3, 0)})
    save("scalars.pt", {"f32": torch.tensor(1.5), "i64": torch.tensor(-3), "bool": torch.tensor(True)})
    save("training.pt", training())
    for protocol in (2, 3, 4, 5):
        save(f"protocol{protocol}.pt", {"w": torch.ones(2), "more": containers()},
             pickle_protocol=protocol)
    save("attributes.pt", attributes())
    torch.serialization.set_crc32_options(False)
    save("no_checksums.pt", {"w": torch.ones(3)})
    torch.serialization.set_crc32_options(True)
    rewritten("plain.pt", "cuda.pt", on_cuda)
    expect("cuda.pt")
    save("one.pt", {"w": torch.tensor([1.0, 2.0])})
    rewritten("one.pt", "big_endian.pt", big_endian)
    expect("big_endian.pt")


def attributes():
    marked, parameter = torch.ones(2), torch.nn.Parameter(torch.zeros(1))
    marked.note, parameter.note = "a", "b"
    return {"marked": marked, "parameter": parameter}


class Danger:
    def __reduce__(self):
        return os.system, ("touch this-file-must-not-be-here",)


class Config:
    def __init__(self):
        self.width = 3


def refused():
    """Files that no state dict is in. PyTorch's own reader refuses the first two as well."""
    for name, x in (("danger.pt", {"w": torch.ones(1), "x": Danger()}),
                    ("instance.pt", {"w": torch.ones(1), "config": Config()})):
        torch.save(x, FOLDER / name)
        try:
            torch.load(FOLDER / name, weights_only=True)
        except pickle.UnpicklingError:
            continue
        raise SystemExit(f"{name} was loaded")
    save_old = {"w": torch.ones(2)}
    torch.save(save_old, FOLDER / "old_format.pt", _use_new_zipfile_serialization=False)
    torch.jit.script(torch.nn.Linear(1, 1)).save(str(FOLDER / "torchscript.pt"))
    (FOLDER / "plain_pickle.pt").write_bytes(pickle.dumps({"w": [1.0]}, protocol=2))
    with tarfile.open(FOLDER / "tar.pt", "w", format=tarfile.USTAR_FORMAT) as tar:
        entry = tarfile.TarInfo("pickle")
        entry.size = 2
        tar.addfile(entry, io.BytesIO(b"N."))
    others = {"i8": torch.ones(2, dtype=torch.int8), "u16": torch.ones(2, dtype=torch.uint16),
              "c64": torch.ones(2, dtype=torch.complex64), "f32": torch.ones(2)}
    torch.save(others, FOLDER / "other_types.pt")
    torch.save({"w": torch.ones(2, dtype=torch.complex64).conj()}, FOLDER / "conjugated.pt")
    torch.save({"w": torch.ones(2).to_sparse()}, FOLDER / "sparse.pt")
    torch.save({"w": torch.ones(2), "deep": deep(150)}, FOLDER / "deep.pt")


def main():
    if torch.__version__.split("+")[0] != VERSION:
        raise SystemExit(f"needs torch {VERSION}, not {torch.__version__}")
    torch.manual_seed(SEED)
    FOLDER.mkdir(exist_ok=True)
    files()
    refused()
    lines = ",\n".join(json.dumps(line) for line in LINES)
    (FOLDER / "pt.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
