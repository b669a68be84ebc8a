#!/usr/bin/env python3
"""Writes profiler.json: the tables that PyTorch 2.9.1 prints of events with given times, and which
steps its schedules record.

Run it with any Python that has that version of torch:  python tests/golden/make_profiler.py
No GPU is needed: the events are made by hand, and PyTorch sums and prints them.
"""

import json
import pathlib
import random
import warnings

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEvent
from torch.profiler import ProfilerAction, schedule

from make import VERSION

CALL, OP, RANGE, KERNEL = "call", "op", "range", "kernel"


def event(name, start, end, kind=OP, thread=0, cause=None, shapes=(), flops=0, memory=0, device=0):
    """Times in nanoseconds; bytes are those that it allocates without its parts."""
    return {
        "name": name, "start": start, "end": end, "kind": kind, "thread": thread, "cause": cause,
        "shapes": [list(shape) for shape in shapes], "flops": flops, "memory": memory,
        "device_memory": device,
    }


def of_torch(given):
    on_device = given["kind"] == KERNEL
    return FunctionEvent(
        id=0, name=given["name"], thread=given["thread"], start_us=given["start"] / 1000,
        end_us=given["end"] / 1000, input_shapes=given["shapes"], use_device="cuda",
        cpu_memory_usage=given["memory"], device_memory_usage=given["device_memory"],
        device_type=DeviceType.CUDA if on_device else DeviceType.CPU, flops=given["flops"],
        is_user_annotation=given["kind"] == RANGE, stack=[],
    )


def add_parts(of_event):
    for part in of_event.cpu_children:
        add_parts(part)
        of_event.cpu_memory_usage += part.cpu_memory_usage
        of_event.device_memory_usage += part.device_memory_usage


def event_list(given):
    events = [of_torch(one) for one in given]
    made = EventList(
        events, use_device="cuda", with_flops=has(given, "flops"),
        profile_memory=has(given, "memory", "device_memory"))
    made._build_tree()
    for one, at in zip(events, given):
        if one.cpu_parent is None and at["kind"] != KERNEL:
            add_parts(one)
    for one, at in zip(events, given):
        # As PyTorch does: a kernel belongs to the operation, not to the call that launches it.
        if at["cause"] is not None:
            owner, kind = events[at["cause"]], given[at["cause"]]["kind"]
            owner = owner.cpu_parent if kind == CALL else owner
            if owner is not None:
                owner.append_kernel(one.name, 0, one.time_range.elapsed_us())
    return made


def has(given, *names):
    return any(one[name] for one in given for name in names)


def tables(given, asked):
    made = event_list(given)
    for sort_by, row_limit, by_shape in asked:
        averages = made.key_averages(group_by_input_shapes=by_shape)
        text = averages.table(sort_by=sort_by, row_limit=row_limit)
        yield {"sort_by": sort_by, "row_limit": row_limit, "by_shape": by_shape, "text": text}


EIGHTH = 125


def random_events(seed):
    """Nested spans of two threads; no name inside itself, which PyTorch counts twice. Times are
    eighths of a microsecond, so that PyTorch's sums of floating-point numbers are exact."""
    rng, given = random.Random(seed), []
    names = [f"aten::{name}" for name in "add mul mm addmm relu copy_ to sum softmax view".split()]
    names.append("a range whose name is longer than the column that it stands in, by far")
    device_end = 0

    def spans(start, end, above, thread):
        nonlocal device_end
        at = start + rng.randrange(1, 40)
        while at < end - 10 and len(given) < 60:
            length = min(int(rng.lognormvariate(7, 2)) + 10, end - at)
            name = rng.choice([name for name in names if name not in above])
            small = name.startswith("a ")
            ranks = [rng.randrange(4) for _ in range(rng.randrange(3))]
            shapes = [[rng.randrange(1, 5) for _ in range(rank)] for rank in ranks]
            given.append(event(
                name, at, at + length, RANGE if small else OP, thread, None,
                () if small else shapes, rng.choice([0, 0, 10 ** rng.randrange(2, 10) + 37]),
                rng.choice([0, 0, 512, -512, 3 << 20, -(5 << 30)]), rng.choice([0, 0, 1024, -100])))
            inner = len(given)
            if length > 250 and len(above) < 3:
                spans(at, at + length, above + [name], thread)
            elif length > 100:
                given.append(event("cudaLaunchKernel", at + 10, at + 60, CALL, thread))
                begin = max(device_end, at + 70)
                device_end = begin + rng.randrange(1, 24_000)
                kernel = f"kernel_{rng.randrange(4)}"
                given.append(event(kernel, begin, device_end, KERNEL, 7, inner))
            at += length + rng.randrange(0, 300)

    spans(0, 32_000, [], 0)
    spans(8, 720_000, [], 1)
    for one in given:
        one["start"] *= EIGHTH
        one["end"] *= EIGHTH
    return given


PLAIN = [
    event("root", 0, 100_000), event("mm", 10_000, 70_000), event("pack", 15_000, 35_000),
    event("copy", 20_000, 30_000), event("add", 75_000, 95_000), event("add", 95_000, 95_001),
]
# The borders of units, and halves that are rounded.
UNITS = [
    event("999.999 us", 0, 999_999), event("1 ms", 1_000_000, 2_000_000),
    event("999.9995 ms", 10_000_000, 1_009_999_500), event("1 s", 2_000_000_000, 3_000_000_000),
    event("thrice", 3_000_000_000, 3_000_001_000), event("thrice", 3_100_000_000, 3_100_001_001),
    event("thrice", 3_200_000_000, 3_200_001_001), event("nothing", 3_300_000_000, 3_300_000_000),
    event("n" * 51, 4_000_000_000, 4_000_000_500), event("m" * 52, 5_000_000_000, 5_000_001_500),
    event("é" * 60, 6_000_000_000, 6_000_002_500),
]
SHAPES = [
    event("mm", 0, 10_000, shapes=[(2, 2), (2, 2)], flops=16),
    event("mm", 10_000, 110_000, shapes=[(3, 3), (3, 3)], flops=54),
    event("mm", 110_000, 130_000, shapes=[(2, 2), (2, 2)], flops=16),
    event("mm", 130_000, 136_000, shapes=[(4, 1), (1, 4)], flops=32),
    event("sum", 136_000, 137_000, shapes=[()], flops=0),
    event("cat", 137_000, 139_000, shapes=[(1024, 1024, 1024)] * 9),
    event("no operands", 139_000, 140_000),
]
MEMORY = [
    event("outer", 0, 50_000, memory=100, device=1 << 30),
    event("inner", 10_000, 20_000, memory=1023, device=1024),
    event("free", 30_000, 31_000, memory=-1024, device=-(3 << 20)),
    event("big", 60_000, 61_000, memory=(1 << 30) + (1 << 29), device=(1 << 20) - 1),
]
TIED = [event(name, at * 1_000, at * 1_000 + 500) for at, name in enumerate("cabdbacab")]
FLOPS = [
    event(f"op{i}", i * 1_000, i * 1_000 + 1, flops=10 ** i + 500 * (i > 3)) for i in range(3, 19)
]
TIMES = ["cpu_time_total", "self_cpu_time_total", "cpu_time", "count"]
ALL = TIMES + ["cuda_time_total", "self_cuda_time_total", "cuda_time", "cpu_memory_usage",
               "self_cpu_memory_usage", "cuda_memory_usage", "self_cuda_memory_usage", "flops"]


def scenes():
    few = [("self_cpu_time_total", 2, False), ("count", 0, False)]
    yield "plain", PLAIN, [(None, 100, False)] + few
    yield "units", UNITS, [(None, 100, False), ("cpu_time", 4, False)]
    yield "shapes", SHAPES, [(None, 100, False), (None, 100, True), ("flops", 3, True)]
    yield "memory", MEMORY, [(key, 100, False) for key in ALL[7:11]]
    yield "tied", TIED, [("count", 100, False), ("cpu_time_total", 2, False)]
    yield "flops", FLOPS, [("flops", 100, False)]
    yield "little flops", FLOPS[-3:], [(None, 100, False)]
    yield "nothing", [], [(None, 100, False)]
    yield "no time", [event("a", 5, 5)], [(None, 100, False)]
    for seed in range(6):
        asked = [(ALL[(seed * 2) % 12], 100, seed % 2 == 0), (ALL[(seed * 2 + 1) % 12], 4, False)]
        yield f"random {seed}", random_events(seed), asked


ACTIONS = {
    ProfilerAction.NONE: ".", ProfilerAction.WARMUP: "w", ProfilerAction.RECORD: "r",
    ProfilerAction.RECORD_AND_SAVE: "r",
}


def schedules():
    """Over 40 steps: nothing, warm-up, recorded."""
    rng = random.Random(7)
    for _ in range(120):
        asked = {
            "skip_first": rng.choice([0, 0, 1, 5]), "wait": rng.randrange(5),
            "warmup": rng.randrange(4), "active": rng.randrange(1, 5), "repeat": rng.randrange(4),
        }
        act = schedule(**asked)
        yield list(asked.values()) + ["".join(ACTIONS[act(step)] for step in range(40))]


def main():
    warnings.simplefilter("ignore")
    made = [
        {"name": name, "events": given, "tables": list(tables(given, asked))}
        for name, given, asked in scenes()
    ]
    assert torch.__version__.startswith(VERSION)
    path = pathlib.Path(__file__).with_name("profiler.json")
    path.write_text(
        f'{{"scenes": [\n{lines(made)}\n], "schedules": [\n{lines(schedules())}\n]}}\n')


def lines(items):
    return ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)


main()
