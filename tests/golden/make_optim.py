#!/usr/bin/env python3
"""Writes optim.json: what the optimizers, schedules, clipping and the scaler of PyTorch 2.9.1 do.

Run it with any Python that has that version of torch:  python tests/golden/make_optim.py
Every trajectory has 50 steps over the same gradients, which are drawn once and written down, so
that no difference can come from anything but the optimizer. The parameters are written down every
fifth step. All is computed in f32 on the CPU, by the optimizers that go tensor by tensor
(foreach=False), which are the ones whose order of operations the engine has. Where the order
matters, since f32 rounds after each operation:

- the running mean is m + (1 - b1) * (g - m), a lerp, and not b1 * m + (1 - b1) * g;
- the square's is b2 * v + ((1 - b2) * g) * g;
- each product that is added to something at once is not rounded before the sum (a fused
  multiply-add): in the two means, and in SGD in the decay, the buffer and the step. The product of
  a separate call (b2 * v, momentum * b) is rounded. Without this, an f32 that comes out near 0
  after a step of 0.5 is off by 1e-4 of itself;
- the root is divided by the root of its correction before eps is added;
- the step is (-(lr / correction) * m) / divisor, added to the decayed parameter;
- the corrections and 1 - lr * decay are computed in f64, as Python numbers, and rounded once.

Half types without master weights are those of PyTorch's fused step (fused=True), which computes
in f32 and rounds each number once; the steps that are not fused round after each operation.
"""
import json
import pathlib

import torch
from torch.optim import SGD, AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, SequentialLR

STEPS = 50
SHAPES = [[3], [2, 2]]
torch.manual_seed(5)
STARTS = [torch.randn(shape) for shape in SHAPES]
GRADS = [[torch.randn(shape) * 0.5 for shape in SHAPES] for _ in range(STEPS)]
# A zero now and then, and a step of the second parameter without a gradient.
for at in range(0, STEPS, 4):
    GRADS[at][0][1] = 0.0
HOLES = [step for step in range(STEPS) if step % 7 == 3]


def numbers(tensors):
    """Nine digits tell every f32 from its neighbours."""
    flat = [x for tensor in tensors for x in tensor.detach().double().flatten().tolist()]
    return [float(f"{x:.9g}") for x in flat]


def parameters(dtype=torch.float32):
    return [start.clone().to(dtype).requires_grad_() for start in STARTS]


def give(params, step, holes=False):
    for at, (param, grad) in enumerate(zip(params, GRADS[step])):
        none = holes and at == 1 and step in HOLES
        param.grad = None if none else grad.clone().to(param.dtype)


def trajectory(make, options, holes=False, dtype=torch.float32):
    params = parameters(dtype)
    optimizer = make(params, **options)
    path = []
    for step in range(STEPS):
        give(params, step, holes)
        optimizer.step()
        if step % 5 == 4:
            path.append(numbers(params))
    return path


def optimizers():
    adamw = [
        dict(lr=1e-2),
        dict(lr=1e-2, weight_decay=0.0),
        dict(lr=3e-3, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1),
        dict(lr=0.1, betas=(0.3, 0.5), weight_decay=0.3),
        dict(lr=0.5, betas=(0.0, 0.9), eps=1e-3),
    ]
    sgd = [
        dict(lr=0.1),
        dict(lr=0.1, weight_decay=0.05),
        dict(lr=0.05, momentum=0.9),
        dict(lr=0.05, momentum=0.9, weight_decay=0.05),
        dict(lr=0.05, momentum=0.9, dampening=0.4, weight_decay=0.02),
        dict(lr=0.05, momentum=0.9, nesterov=True),
        dict(lr=0.05, momentum=0.8, nesterov=True, weight_decay=0.05),
        dict(lr=0.02, maximize=True),
        dict(lr=0.02, momentum=0.9, dampening=0.1, weight_decay=0.05, maximize=True),
    ]
    every = [("AdamW", AdamW, options) for options in adamw]
    every += [("Sgd", SGD, options) for options in sgd]
    return every


def cases():
    for name, make, options in optimizers():
        for holes in [False, True]:
            path = trajectory(make, dict(options, foreach=False), holes)
            yield dict(optimizer=name, options=options, holes=holes, dtype="f32", path=path)
    for name, make, options in [optimizers()[2], optimizers()[9], optimizers()[11]]:
        for dtype, word in [(torch.bfloat16, "bf16"), (torch.float16, "f16")]:
            case = dict(optimizer=name, options=options, holes=False, dtype=word)
            path = trajectory(make, dict(options, fused=True), dtype=dtype)
            yield dict(case, master=False, path=path)
            yield dict(case, master=True, path=mastered(make, options, dtype))


def mastered(make, options, dtype):
    """An f32 optimizer on copies of half-precision parameters, which get the rounded result."""
    params = parameters(dtype)
    masters = [param.detach().float().requires_grad_() for param in params]
    optimizer = make(masters, **options, foreach=False)
    path = []
    for step in range(STEPS):
        give(params, step)
        for master, param in zip(masters, params):
            master.grad = param.grad.float()
        optimizer.step()
        with torch.no_grad():
            for master, param in zip(masters, params):
                param.copy_(master)
        if step % 5 == 4:
            path.append(numbers(params))
    return path


SCHEDULES = {
    "linear": lambda o: LinearLR(o, start_factor=0.1, end_factor=1.0, total_iters=10),
    "linear_down": lambda o: LinearLR(o, start_factor=1.0, end_factor=0.25, total_iters=30),
    "cosine": lambda o: CosineAnnealingLR(o, T_max=20, eta_min=1e-4),
    "lambda": lambda o: LambdaLR(o, lambda step: 0.95**step),
    "sequential": lambda o: SequentialLR(
        o,
        [
            LinearLR(o, start_factor=0.01, end_factor=1.0, total_iters=8),
            CosineAnnealingLR(o, T_max=30, eta_min=1e-3),
            LambdaLR(o, lambda step: 0.5**step),
        ],
        milestones=[8, 38],
    ),
}


def schedules():
    for name, make in SCHEDULES.items():
        params = parameters()
        groups = [dict(params=params[:1], lr=0.1), dict(params=params[1:], lr=0.02)]
        optimizer = SGD(groups, lr=0.1)
        schedule = make(optimizer)
        rates = []
        for _ in range(STEPS):
            rates.append([group["lr"] for group in optimizer.param_groups])
            optimizer.step()
            schedule.step()
        yield dict(schedule=name, rates=rates)


def clipped():
    for norm_type in [1.0, 2.0, 3.0, float("inf")]:
        for max_norm in [0.5, 100.0]:
            params = parameters()
            give(params, 7)
            norm = torch.nn.utils.clip_grad_norm_(params, max_norm, norm_type, foreach=False)
            grads = numbers([param.grad for param in params])
            yield dict(norm_type=str(norm_type), max_norm=max_norm, norm=norm.item(), grads=grads)


def training():
    """All together: a scaled loss, clipping, a warm-up; some gradients are not finite."""
    params = parameters()
    optimizer = AdamW(params, lr=0.02, weight_decay=0.05, foreach=False)
    schedule = SCHEDULES["sequential"](optimizer)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=5)
    bad = {6: float("inf"), 20: float("nan"), 21: float("-inf")}
    path, scales, trackers = [], [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = sum((param * grad).sum() for param, grad in zip(params, GRADS[step]))
        scaler.scale(loss).backward()
        if step in bad:
            params[0].grad[2] = bad[step]
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(params, 1.0, foreach=False)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            schedule.step()
        path.append(numbers(params))
        scales.append(scaler.get_scale())
        trackers.append(scaler.state_dict()["_growth_tracker"])
    bad = {str(step): str(value) for step, value in bad.items()}
    return dict(bad=bad, path=path, scales=scales, trackers=trackers)


def value_clipped():
    params = parameters()
    give(params, 7)
    torch.nn.utils.clip_grad_value_(params, 0.25, foreach=False)
    return numbers([param.grad for param in params])


def rows(values):
    """JSON with a case on each line."""
    return "[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]"


assert torch.__version__.startswith("2.9.1"), torch.__version__
parts = {
    "shapes": json.dumps(SHAPES),
    "starts": json.dumps(numbers(STARTS)),
    "grads": rows(numbers(grads) for grads in GRADS),
    "holes": json.dumps(HOLES),
    "cases": rows(cases()),
    "schedules": rows(schedules()),
    "clipped": rows(clipped()),
    "value_clipped": json.dumps(value_clipped()),
    "training": json.dumps(training()),
}
body = ",\n".join(f'"{name}": {text}' for name, text in parts.items())
pathlib.Path(__file__).with_name("optim.json").write_text("{\n" + body + "\n}\n")
