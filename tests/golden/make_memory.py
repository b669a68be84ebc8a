"""Makes memory.json: the allocator's statistics after the calls of engine_reports.rs, by PyTorch's
rules restated here, and the table that PyTorch's memory_summary makes of them.

    /path/to/python tests/golden/make_memory.py     (needs torch 2.9.1; no GPU)
"""

import json
import pathlib

import torch

MIB = 1 << 20
METRICS = [
    "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes",
    "active_bytes", "inactive_split_bytes", "requested_bytes",
]
POOLS = ["all", "small_pool", "large_pool"]


class Allocator:
    """Segments are lists of [offset, size, requested]; requested is None for a free block."""

    def __init__(self):
        self.segments = []
        self.stats = {f"{m}.{p}.{k}": 0 for m in METRICS for p in POOLS
                      for k in ["current", "peak", "allocated", "freed"]}
        self.device_allocs = 0

    def measure(self):
        """Every current value by its definition; the changes give the other three."""
        new = {(m, p): 0 for m in METRICS for p in POOLS}
        for small, size, blocks in self.segments:
            for pool in ["all", "small_pool" if small else "large_pool"]:
                def add(metric, n):
                    new[metric, pool] += n
                add("segment", 1)
                add("reserved_bytes", size)
                for _, bytes_, requested in blocks:
                    if requested is not None:
                        for metric in ["allocation", "active"]:
                            add(metric, 1)
                        for metric in ["allocated_bytes", "active_bytes"]:
                            add(metric, bytes_)
                        add("requested_bytes", requested)
                    elif len(blocks) > 1:
                        add("inactive_split", 1)
                        add("inactive_split_bytes", bytes_)
        for (metric, pool), value in new.items():
            key = f"{metric}.{pool}."
            change = value - self.stats[key + "current"]
            self.stats[key + ("allocated" if change > 0 else "freed")] += abs(change)
            self.stats[key + "current"] = value
            self.stats[key + "peak"] = max(self.stats[key + "peak"], value)

    def alloc(self, requested):
        size = -(-requested // 512) * 512
        small = size <= MIB
        fits = [(b[1], s, b) for s, (pool, _, blocks) in enumerate(self.segments)
                for b in blocks if pool == small and b[2] is None and b[1] >= size]
        if not fits:
            if small:
                segment = 2 * MIB
            elif size < 10 * MIB:
                segment = 20 * MIB
            else:
                segment = -(-size // (2 * MIB)) * 2 * MIB
            self.segments.append((small, segment, [[0, segment, None]]))
            self.device_allocs += 1
            # A new segment is counted while it is one free block, as the allocator does.
            self.measure()
            fits = [(segment, len(self.segments) - 1, self.segments[-1][2][0])]
        _, s, block = min(fits, key=lambda fit: (fit[0], fit[1], fit[2][0]))
        blocks = self.segments[s][2]
        rest = block[1] - size
        if rest >= 512 if small else rest > MIB:
            blocks.insert(blocks.index(block) + 1, [block[0] + size, rest, None])
            block[1] = size
        block[2] = requested
        self.measure()
        return s, block

    def free(self, at):
        s, block = at
        block[2] = None
        blocks = self.segments[s][2]
        i = 0
        while i + 1 < len(blocks):
            if blocks[i][2] is None and blocks[i + 1][2] is None:
                blocks[i][1] += blocks[i + 1][1]
                del blocks[i + 1]
            else:
                i += 1
        self.measure()


allocator = Allocator()
for n in [100, 300_000, 4_000_000, 30]:
    allocator.alloc(4 * n)
for n in [2_000_000, 7, 900_000]:
    allocator.free(allocator.alloc(4 * n))
stats = allocator.stats
for name in ["oversize_allocations", "oversize_segments"]:
    stats |= {f"{name}.{key}": 0 for key in ["current", "peak", "allocated", "freed"]}
stats |= {"num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0,
          "num_device_alloc": allocator.device_allocs, "num_device_free": 0}
torch.cuda.memory.memory_stats = lambda device=None: stats
torch.cuda.memory._get_device_index = lambda device, optional: 0
summary = torch.cuda.memory.memory_summary()
out = pathlib.Path(__file__).with_name("memory.json")
out.write_text(json.dumps({"stats": stats, "summary": summary}, indent=1) + "\n")
