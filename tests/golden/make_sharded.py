#!/usr/bin/env python3
"""Writes sharded.json: which elements each rank holds of a model in PyTorch 2.9.1.

Run it with any Python that has that version of torch:  python tests/golden/make_sharded.py
The shards are cut by PyTorch's own code: `flat` by the FlatParamHandle of FSDP1 (without
use_orig_params) and `rows` by fully_shard of FSDP2, each in a process group of PyTorch's own kind
"fake", which knows rank and world size and talks to nobody. The elements of a model are numbered 1,
2, 3, ... through all of its parameters, so that a shard tells where it comes from and 0 is padding.

A flat shard is written as [first number, how many, zeros of padding]; a shard of FSDP2 for each
parameter as [shape, first number or null]. That the numbers of a shard follow one another is
checked here. `tied` makes the last parameter of the model the first one once more. A parameter
without dimensions is not among them: both refuse it. Nor is one of [3, 0], for whose shards FSDP2
gives the shape [0, 0], where torch.chunk gives [1, 0].
"""
import json
import pathlib
import random
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.fsdp._flat_param import FlatParamHandle, HandleShardingStrategy
from torch.testing._internal.distributed.fake_pg import FakeStore

warnings.simplefilter("ignore")
CPU = torch.device("cpu")


class Model(nn.Module):
    def __init__(self, shapes, tied):
        super().__init__()
        count = 1
        for at, shape in enumerate(shapes):
            numel = torch.Size(shape).numel()
            values = torch.arange(count, count + numel, dtype=torch.float32)
            self.register_parameter(f"p{at}", nn.Parameter(values.reshape(shape)))
            count += numel
        if tied:
            self.again = nn.Module()
            self.again.p = self.p0


def run(values):
    """First number and count; the numbers must follow one another."""
    values = [int(x) for x in values]
    assert values == list(range(values[0], values[0] + len(values))) if values else True
    return [values[0] if values else None, len(values)]


def flat(model):
    handle = FlatParamHandle(
        list(model.parameters()), model, CPU, HandleShardingStrategy.FULL_SHARD,
        False, None, None, False, dist.group.WORLD, False)
    handle.shard()
    values = handle.flat_param.detach().tolist()
    padded = handle.flat_param._shard_numel_padded
    kept = values[:len(values) - padded]
    assert all(x == 0 for x in values[len(kept):]) and all(x != 0 for x in kept)
    return [*run(kept), padded]


def rows(model, world_size):
    fully_shard(model, mesh=init_device_mesh("cpu", (world_size,)))
    shards = [param.to_local().detach() for param in model.parameters()]
    return [[list(x.shape), run(x.flatten().tolist())[0]] for x in shards]


def case(shapes, world_size, tied=False):
    ranks = []
    for rank in range(world_size):
        dist.init_process_group("fake", rank=rank, world_size=world_size, store=FakeStore())
        whole = [Model(shapes, tied) for _ in range(2)]
        ranks.append({"flat": flat(whole[0]), "rows": rows(whole[1], world_size)})
        dist.destroy_process_group()
    return {"shapes": shapes, "world_size": world_size, "tied": tied, "ranks": ranks}


def main():
    random.seed(10)
    models = [[[3, 2], [5], [1]], [[7, 3], [1, 1], [4]], [[1]], [[2, 2, 2], [9]], [[5, 1]]]
    for _ in range(6):
        shapes = [[random.randint(1, 9) for _ in range(random.randint(1, 3))]
                  for _ in range(random.randint(1, 5))]
        models.append(shapes)
    # Parameters without elements.
    models.append([[0, 3], [4, 2]])
    models.append([[5], [2, 1], [0]])
    cases = [case(shapes, world_size) for shapes in models for world_size in range(1, 9)]
    cases += [case([[5, 2], [3]], world_size, tied=True) for world_size in (1, 2, 3, 8)]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    path = pathlib.Path(__file__).with_name("sharded.json")
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
