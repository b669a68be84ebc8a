"""Runs a program of in_place.json in PyTorch and records what comes: see make_in_place.py."""

import math
import warnings

import torch

DTYPES = {"f64": torch.float64, "f32": torch.float32}
KINDS = {
    "a view of a leaf Variable that requires grad": "view of leaf",
    "a leaf Variable that requires grad is being used": "leaf",
    "view was created in no_grad mode and is being": "no_grad view",
    "a view of a view which was created in no_grad mode": "no_grad view",
    "more than one element of the written-to tensor": "overlap",
    "modified by an inplace operation": "saved",
}


class Refused(Exception):
    """A program that PyTorch, or the engine by its rules, refuses."""

    def __init__(self, kinds, at, **more):
        self.record = {"at": at, "kinds": kinds, **more}


def kind_of(error):
    return next((kind for words, kind in KINDS.items() if words in str(error)), None)


def positions(x):
    """Where each element lies in the storage."""
    shape, steps = x.shape, x.stride()
    at = torch.full(shape, x.storage_offset())
    for dim, (size, step) in enumerate(zip(shape, steps)):
        ones = [1] * len(shape)
        ones[dim] = size
        at = at + (torch.arange(size) * step).view(ones)
    return at.flatten().tolist()


def memory(x):
    """One number per storage; those without a byte are told apart too."""
    return x.untyped_storage()._cdata


def shows_twice(x):
    at = positions(x)
    return len(set(at)) < len(at)


def lies_partly_in(source, target):
    if memory(source) != memory(target):
        return False
    # A source element may be what it is combined with, and nothing else.
    try:
        source = source.expand(target.shape)
    except RuntimeError:
        pass
    own, other = positions(target), positions(source)
    return own != other and bool(set(own) & set(other))


def weights(x):
    """Of the loss: some negative, none 0."""
    return ((torch.arange(x.numel()) * 3) % 7 - 2.5).to(x.dtype).view(x.shape)


def checksum(x):
    x = x.detach().to(torch.float64).flatten()
    return float((x * torch.arange(1, x.numel() + 1)).sum())


def ints(word):
    return [int(part) for part in word.split(",") if part]


def bits(word):
    """A mask: `2,3/010110`."""
    shape, values = word.split("/")
    return torch.tensor([c == "1" for c in values], dtype=torch.bool).view(ints(shape))


def indices(word):
    """Of index_put_: `0,-1/_/2,1` for dimensions 0, 1 (all of it) and 2."""
    return [None if part == "_" else torch.tensor(ints(part)) for part in word.split("/")]


def new(op, x, args, get):
    """An operation that returns a tensor."""
    number = [int(arg) for arg in args if arg.lstrip("-").isdigit()]
    match op:
        case "transpose" | "unfold" | "narrow" | "select" | "unsqueeze" | "squeeze":
            return getattr(x, op)(*number)
        case "slice":
            return torch.ops.aten.slice.Tensor(x, *number)
        case "permute" | "expand" | "view" | "reshape":
            return getattr(x, op)(ints(args[0]))
        case "sum":
            return x.sum(ints(args[0]), keepdim=args[1] == "keep")
        case "add" | "sub" | "mul" | "div":
            return getattr(x, op)(get(args[0]))
        case "add_scalar" | "mul_scalar":
            return getattr(x, op[:3])(float(args[0]))
        case "exp" | "tanh" | "neg" | "detach":
            return getattr(x, op)()
    raise ValueError(op)


def change(op, x, args, get):
    """An operation that changes x."""
    match op:
        case "add_":
            x.add_(get(args[0]), alpha=float(args[1]))
        case "mul_" | "copy_":
            getattr(x, op)(get(args[0]))
        case "zero_":
            x.zero_()
        case "fill_":
            x.fill_(float(args[0]))
        case "masked_fill_":
            x.masked_fill_(bits(args[0]), float(args[1]))
        case "index_put_":
            values = get(args[1])
            # PyTorch takes no values that lie in x. The engine takes x's own, as if copied first.
            values = values.clone() if memory(values) == memory(x) else values
            torch.ops.aten.index_put_(x, indices(args[0]), values, args[2] == "add")
        case _:
            raise ValueError(op)


class Run:
    """A program while it runs."""

    def __init__(self, leaves):
        self.tensors, self.leaves, self.steps, self.sums = {}, list(leaves), [], []
        self.before, self.writes = {}, []
        for name, leaf in zip("abcdefgh", leaves):
            dtype, shape, asks, *data = leaf.split(" ")
            values = [float(x) for x in data[0].split(",")] if data and data[0] else []
            x = torch.tensor(values, dtype=DTYPES[dtype]).view(ints(shape)).clone()
            self.tensors[name] = x.requires_grad_(asks == "grad")
        # Views of these were made without recording: what reads them is not recorded either.
        self.hidden = set()
        self.note()

    def note(self):
        """What is new or changed."""
        now = {name: checksum(x) for name, x in self.tensors.items()}
        entry = [[name, total] for name, total in now.items() if self.before.get(name) != total]
        self.before = now
        return [part for pair in entry for part in pair]

    def step(self, text):
        """Runs one step, under its own name in tracebacks."""
        number = len(self.steps)
        scope = {"run": self, "text": text, "number": number}
        exec(compile("run.perform(text, number)", f"<step {number}>", "exec"), scope)
        self.steps.append(text)
        self.sums.append(self.note())

    def perform(self, text, number):
        silent = text.startswith("no_grad ")
        op, name, *args = text.removeprefix("no_grad ").split(" ")
        x, get = self.tensors[name], self.tensors.__getitem__
        with torch.set_grad_enabled(not silent):
            if op.endswith("_"):
                self.change(op, name, args, not silent, number)
                return
            y = new(op, x, args, get)
        self.tensors[f"t{number}"] = y
        is_view = op != "detach" and memory(x) == memory(y)
        if is_view and (silent or name in self.hidden):
            self.hidden.add(f"t{number}")

    def change(self, op, name, args, recording, number):
        x, get = self.tensors[name], self.tensors.__getitem__
        base = x._base if x._is_view() else x
        of_leaf = recording and base.is_leaf and base.requires_grad
        kinds = ["overlap"] if shows_twice(x) else []
        if any(lies_partly_in(get(arg), x) for arg in args if arg in self.tensors):
            kinds.append("source")
        if kinds:
            raise Refused(kinds + (["leaf", "view of leaf"] if of_leaf else []), number)
        if name not in self.hidden:
            # If this is a view of a constant that has become part of the graph since, PyTorch takes
            # it for a leaf and refuses to change it, unless somebody has looked at its grad_fn.
            _ = x.grad_fn
        try:
            change(op, x, args, get)
        except RuntimeError as error:
            if kind_of(error) is None:
                raise
            raise Refused([kind_of(error)], number) from error
        self.writes.append((number, op, memory(x)))

    def backward(self, loss):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with torch.autograd.set_detect_anomaly(True, check_nan=False):
                    sum((x * weights(x)).sum() for x in map(self.tensors.get, loss)).backward()
            except RuntimeError as error:
                if kind_of(error) != "saved":
                    raise
                told = " ".join(str(warning.message) for warning in caught)
                raise self.saved(int(told.split('File "<step ')[-1].split(">")[0])) from error

    def saved(self, number):
        """The refusal for a tensor that step `number` had saved, and who changed it last."""
        op, *names = self.steps[number].removeprefix("no_grad ").split(" ")
        names = [name for name in [*names, f"t{number}"] if name in self.tensors]
        touched = {memory(self.tensors[name]) for name in names}
        by = {}
        for at, writer, where in self.writes:
            if where in touched and at > number:
                by[where] = writer
        # Nobody else: it has changed what it saved.
        return Refused(["saved"], "backward", op=op, by=sorted(set(by.values())) or [op])


def grads(run):
    leaves = [run.tensors[name] for name in "abcdefgh"[:len(run.leaves)]]
    found = [x.grad if x.is_leaf else None for x in leaves]
    return [dx if dx is None else [number(v) for v in dx.flatten().tolist()] for dx in found]


def number(x):
    """Twelve digits: more than the tolerance of the test needs."""
    x = float(f"{x:.12g}") + 0.0
    return int(x) if x.is_integer() else x


def record(program, name=None, show=False):
    """Runs a program from its text and returns what is written for it."""
    out = {"name": name} if name else {}
    out |= {"leaves": program["leaves"], "steps": program["steps"], "loss": program["loss"]}
    run, error = Run(program["leaves"]), None
    try:
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            for text in program["steps"]:
                run.step(text)
                if show:
                    print(text, *(f"\n  {k} = {v.detach().tolist()}"
                                  for k, v in run.tensors.items()))
        run.backward(program["loss"])
    except Refused as refused:
        error = refused.record
    out["sums"] = [[number(x) if isinstance(x, float) else x for x in entry] for entry in run.sums]
    out |= {"error": error} if error else {"grads": grads(run)}
    return out, run


def reaches_a_view_write(run, loss):
    """Whether a gradient came back through an in-place change of a view."""
    todo, seen = [run.tensors[name].grad_fn for name in loss], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        if "CopySlices" in node.name():
            return True
        seen.add(node)
        todo.extend(next_node for next_node, _ in node.next_functions)
    return False


def fits(out, run):
    """Values of a size that a tolerance makes sense for, and something to compare."""
    numbers = [x for entry in out["sums"] for x in entry if not isinstance(x, str)]
    numbers += [x for dx in out.get("grads", []) for x in dx or []]
    limit = 100 if any(leaf.startswith("f32") for leaf in run.leaves) else 10000
    if not all(math.isfinite(x) and abs(x) < limit for x in numbers):
        return False
    return "error" in out or any(x for dx in out["grads"] for x in dx or [])
