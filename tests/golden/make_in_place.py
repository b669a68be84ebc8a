#!/usr/bin/env python3
"""Writes in_place.json: small programs with views and in-place changes, as PyTorch 2.9.1 on a CPU
runs them.

Run it with any Python that has that version of torch:  python tests/golden/make_in_place.py
With a number, or a part of a classic's name, it prints that program and every tensor after each
step instead:  python tests/golden/make_in_place.py 17

A program is a list of leaves, called a, b, c and so on, and a list of steps, one operation each;
the result of step 3 is called t3. "no_grad" before a step runs it without recording. At the end
each tensor of `loss` is weighted and summed, and `backward` runs from the sum of all. Recorded:
- sums: for each step, the tensors that are new or changed by it and a weighted sum of each; every
  other tensor must be as it was. So a wrong value in any view is seen after the step.
- grads: of each leaf, null where there is none.
- error: the step that is refused, or "backward", and why (KINDS). Where more than one reason holds,
  all are listed. For a saved tensor that was changed: the operation that had saved it, and the last
  one that changed it.

PyTorch lets some operations write a tensor that shows one element in several places (with a
warning, or none); the engine refuses that, so it is recorded as "overlap". It notices only some
sources that lie partly in the target, and computes nonsense from the others; the engine refuses
all, so they are recorded as "source". The engine's rules and PyTorch's differ in nothing else.
"""

import json
import math
import pathlib
import random
import sys

import torch

from in_place_classics import CLASSICS
from in_place_run import (Refused, Run, bits, fits, indices, lies_partly_in, memory,
                          reaches_a_view_write, record, shows_twice)

VERSION = "2.9.1"
SEED = 20251203
# How many random programs of each outcome.
WANTED = {
    "through a view": 220, "other": 60, "saved": 40, "leaf": 10, "view of leaf": 20, "overlap": 20,
    "source": 15, "no_grad view": 20,
}
VIEWS = ["transpose", "permute", "narrow", "slice", "select", "unsqueeze", "squeeze", "expand",
         "view", "reshape", "unfold", "detach"]
RESULTS = ["add", "mul", "mul_scalar", "add_scalar", "exp", "sum", "sub", "div", "tanh", "neg"]
CHANGES = ["add_", "mul_", "zero_", "fill_", "copy_", "masked_fill_", "index_put_"]


class Writer:
    """Makes up a program step by step, and runs it meanwhile to see what is possible."""

    def __init__(self, rng):
        self.rng = rng
        kind = rng.choice(["f64"] * 8 + ["f32"] + ["mixed"])
        self.dtypes = ["f64", "f32"] if kind == "mixed" else [kind]
        shape = [rng.choice([1, 2, 2, 3, 3, 4]) for _ in range(rng.choice([1, 2, 2, 3]))]
        while math.prod(shape) > 12:
            shape.pop()
        self.leaves = [self.leaf(shape, rng.random() < 0.85)]
        for _ in range(rng.randrange(3)):
            self.leaves.append(self.leaf(self.smaller(shape), rng.random() < 0.5))
        self.run = Run(self.leaves)

    def leaf(self, shape, asks):
        rng = self.rng
        values = [rng.choice([-1.5, -1, -0.5, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2])
                  for _ in range(math.prod(shape))]
        return (f"{rng.choice(self.dtypes)} {','.join(map(str, shape))} "
                f"{'grad' if asks else 'const'} {','.join(map(str, values))}")

    def smaller(self, shape):
        """A shape that broadcasts to this one."""
        sizes = [size if self.rng.random() < 0.75 else 1 for size in shape]
        return sizes[self.rng.choice([0, 0, 0, 1]):] if sizes else sizes

    def pick(self, test=lambda x: True):
        """The name of a tensor, a late one rather than an early one; None if there is none."""
        names = [name for name, x in self.run.tensors.items() if test(x)]
        names += names[len(names) // 2:] * 2
        return self.rng.choice(names) if names else None

    def readable(self, name):
        return name is not None and name not in self.run.hidden

    def source(self, name):
        """The name of a tensor that can be broadcast to x, seldom one that lies in it partly."""
        x, bold = self.run.tensors[name], self.rng.random() < 0.1

        def broadcasts(y):
            if memory(y) == memory(x) and not lies_partly_in(y, x):
                # PyTorch refuses the same elements under another shape, which are no harm.
                return (y.shape, y.stride()) == (x.shape, x.stride())
            try:
                return y.expand(x.shape) is not None and (bold or not lies_partly_in(y, x))
            except RuntimeError:
                return False

        found = self.pick(broadcasts)
        return found if self.readable(found) else None

    def view(self, op):
        rng, name = self.rng, self.pick()
        shape = list(self.run.tensors[name].shape)
        if op in ("detach", "unsqueeze"):
            at = rng.randrange(-len(shape) - 1, len(shape) + 1)
            return f"detach {name}" if op == "detach" else f"unsqueeze {name} {at}"
        # Of a tensor without elements, narrow below makes a few.
        if 0 in shape or not shape:
            return None
        dim = rng.randrange(len(shape))
        size, signed = shape[dim], dim - rng.choice([0, len(shape)])
        match op:
            case "transpose":
                return f"{op} {name} {signed} {rng.randrange(len(shape))}"
            case "permute":
                order = rng.sample(range(len(shape)), len(shape))
                return f"{op} {name} {','.join(map(str, order))}"
            case "narrow":
                start = rng.randrange(size + (rng.random() < 0.05))
                length = rng.randrange(min(1, size - start), size - start + 1)
                return f"{op} {name} {signed} {start} {length}"
            case "slice":
                start, end = rng.randrange(-size, size), rng.choice([size, -1, 2**63 - 1])
                return f"{op} {name} {signed} {start} {end} {rng.choice([1, 1, 2, 3])}"
            case "select":
                return f"{op} {name} {signed} {rng.randrange(-size, size)}"
            case "squeeze":
                return f"{op} {name} {signed}" if size == 1 else None
            case "unfold":
                return f"{op} {name} {signed} {rng.randrange(1, size + 1)} {rng.choice([1, 2, 3])}"
            case "expand":
                sizes = [rng.choice([2, 3]) if s == 1 else rng.choice([s, -1]) for s in shape]
                sizes = rng.choice([[], [], [2]]) + sizes
                return f"{op} {name} {','.join(map(str, sizes))}"
        return self.reshape(op, name)

    def reshape(self, op, name):
        x, rng = self.run.tensors[name], self.rng
        left, sizes = x.numel(), []
        while left > 1 and len(sizes) < 3:
            sizes.append(rng.choice([d for d in range(1, left + 1) if left % d == 0]))
            left //= sizes[-1]
        if left != 1 or not sizes:
            return None
        sizes[rng.randrange(len(sizes))] = rng.choice([-1, sizes[0]]) if len(sizes) == 1 else -1
        try:
            x.detach().view(sizes)
        except RuntimeError:
            op = "reshape"
        return f"{op} {name} {','.join(map(str, sizes))}"

    def result(self, op):
        rng, name = self.rng, self.pick(lambda x: x.numel() > 0)
        if not self.readable(name):
            return None
        match op:
            case "add" | "sub" | "mul" | "div":
                other = self.source(name)
                values = self.run.tensors[other].detach() if other else None
                if other is None or (op == "div" and values.abs().min() < 0.2):
                    return None
                return f"{op} {name} {other}"
            case "add_scalar" | "mul_scalar":
                return f"{op} {name} {rng.choice([-1, 0.5, 2, 3])}"
            case "sum":
                rank = self.run.tensors[name].dim()
                dims = rng.sample(range(rank), rng.randrange(1, rank + 1)) if rank else []
                dims = ",".join(map(str, dims))
                return f"{op} {name} {dims} {rng.choice(['keep', 'drop'])}" if dims else None
        return f"{op} {name}"

    def change(self, op):
        rng, run = self.rng, self.run
        bold = rng.random() < 0.35
        name = self.pick(lambda x: bold or (not x.is_leaf and not shows_twice(x)) or
                         (x.is_leaf and not x.requires_grad and not shows_twice(x)))
        if name is None:
            return None
        x = run.tensors[name]
        base = x._base if x._is_view() else x
        # PyTorch lets a view of a leaf be changed unnoticed if it was made without recording.
        if name in run.hidden and base.is_leaf and base.requires_grad:
            return None
        other = self.source(name) if op in ("add_", "mul_", "copy_") else name
        # What is multiplied by itself has its own classic.
        if other is None or (op == "mul_" and memory(run.tensors[other]) == memory(x)):
            return None
        match op:
            case "add_":
                return f"{op} {name} {other} {rng.choice([1, 1, -2, 0.5])}"
            case "mul_" | "copy_":
                return f"{op} {name} {other}"
            case "fill_":
                return f"{op} {name} {rng.choice([-1, 0.5, 3])}"
            case "masked_fill_":
                return f"{op} {name} {self.mask(x)} {rng.choice([-1, 0, 2.5])}"
            case "index_put_":
                return self.index_put(name)
        return f"{op} {name}"

    def mask(self, x):
        shape = self.smaller(list(x.shape))
        places = "".join(self.rng.choice("01") for _ in range(math.prod(shape)))
        return f"{','.join(map(str, shape))}/{places}"

    def index_put(self, name):
        """Adds to places that may repeat, or sets places that do not."""
        rng, x = self.rng, self.run.tensors[name]
        if x.dim() == 0 or x.numel() == 0:
            return None
        count = rng.choice([1, 2, 2, 3])
        parts = ["_" if rng.random() < 0.3 and x.dim() > 1 else
                 ",".join(str(rng.randrange(-size, size)) for _ in range(count))
                 for size in x.shape[:rng.randrange(1, x.dim() + 1)]]
        while parts and parts[-1] == "_":
            parts.pop()
        if not parts:
            return None
        word = "/".join(parts)
        places = torch.arange(x.numel()).view(x.shape)
        places = places[tuple(slice(None) if i is None else i for i in indices(word))]

        def fits_in(y):
            if y.dtype != x.dtype or memory(y) == memory(x):
                return False
            try:
                return y.expand(places.shape) is not None
            except RuntimeError:
                return False

        values = self.pick(fits_in)
        repeats = places.unique().numel() < places.numel()
        how = "add" if repeats else rng.choice(["add", "set"])
        return f"index_put_ {name} {word} {values} {how}" if self.readable(values) else None

    def step(self):
        rng = self.rng
        kinds = [(self.change, CHANGES), (self.view, VIEWS), (self.result, RESULTS)]
        make, ops = rng.choices(kinds, [8, 7, 4])[0]
        text = make(rng.choice(ops))
        silent = rng.random() < (0.08 if make != self.result else 0.04)
        return f"no_grad {text}" if text and silent else text

    def program(self):
        """A program, or None if this one leads nowhere."""
        try:
            return self.written(self.steps())
        except RuntimeError as error:
            # What was made without recording cannot be read after a recorded change of its base.
            assert "was created in no_grad mode and its base" in str(error), error
            return None

    def steps(self):
        rng, run = self.rng, self.run
        for _ in range(60):
            text = self.step() if run.steps else self.result(rng.choice(RESULTS))
            if text is None:
                continue
            try:
                run.step(text)
            except Refused:
                if rng.random() < 0.5 and len(run.steps) > 2:
                    return run.steps + [text]
            if len(run.steps) >= 10 or (len(run.steps) >= 4 and rng.random() < 0.15):
                break
        return run.steps

    def written(self, steps):
        run = self.run
        names = [name for name, x in run.tensors.items()
                 if name not in run.hidden and x.requires_grad and x.numel() > 0]
        loss = sorted(self.rng.sample(names, min(len(names), self.rng.choice([1, 2, 3]))))
        return {"leaves": self.leaves, "steps": list(steps), "loss": loss} if loss else None


def random_programs():
    rng, found, counts = random.Random(SEED), [], dict.fromkeys(WANTED, 0)
    while counts != WANTED:
        program = Writer(rng).program()
        if program is None:
            continue
        out, run = record(program)
        # A factor of another type is saved converted by the engine, and as it is by PyTorch.
        mixed = len({leaf.split()[0] for leaf in program["leaves"]}) > 1
        if not fits(out, run) or (mixed and out.get("error", {}).get("at") == "backward"):
            continue
        if "error" in out:
            outcome = out["error"]["kinds"][0]
        elif run.writes:
            through = reaches_a_view_write(run, program["loss"])
            outcome = "through a view" if through else "other"
        else:
            continue
        if outcome in counts and counts[outcome] < WANTED[outcome]:
            counts[outcome] += 1
            found.append(out)
    return found


def main():
    assert torch.__version__.split("+")[0] == VERSION, torch.__version__
    programs = [record(program, name)[0] for name, program in CLASSICS.items()]
    programs += random_programs()
    if len(sys.argv) > 1:
        for at, out in enumerate(programs):
            if str(at) == sys.argv[1] or sys.argv[1] in out.get("name", ""):
                print(json.dumps(out, indent=1))
                record(out, show=True)
        return
    lines = ",\n".join(json.dumps(out, separators=(",", ":")) for out in programs)
    path = pathlib.Path(__file__).with_name("in_place.json")
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
