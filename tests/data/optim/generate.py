#!/usr/bin/python3
"""Writes optim.safetensors: what PyTorch's optimizers, schedules and clipping make of the same gradients.

    /usr/bin/python3 tests/data/optim/generate.py

start.I, grad.I          parameter I at first, and its gradient of each step
OPTIMIZER.NAME/lr, /option.NAME, /dtype.NAME, /param.I, /state.I.NAME
                         a case: its numbers, parameter I after each step, its state after the last
schedule.NAME            learning rates of both groups (0.1 and 0.02 at first) for t = 0, 1, …
momentum.NAME            and the momentum of the first
clip.NAME/max, /p, /total, /grad.I
                         the gradients of the first step, clipped

Made with PyTorch 1.13."""

import json
import os
import struct

import numpy as np
import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
STEPS = 20
SHAPES = [(3, 4), (5,), (), (1,)]
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16"}
tensors = {}


def put(name, x):
    assert name not in tensors, name
    tensors[name] = torch.as_tensor(x).detach().clone().contiguous()


def number(name, value):
    put(name, torch.tensor(float(value), dtype=torch.float64))


torch.manual_seed(1)
START = [torch.randn(s) for s in SHAPES]
GRAD = [torch.randn((STEPS,) + s) * 10.0 ** torch.randint(-3, 2, (STEPS,) + (1,) * len(s)).float() for s in SHAPES]
for i in range(len(SHAPES)):
    GRAD[i].view(STEPS, -1)[4, 0] = 0
    put("start.%d" % i, START[i])
    put("grad.%d" % i, GRAD[i])

# ---- optimizers ----

TYPES = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def arguments(options):
    given = {k: v for k, v in options.items() if k not in ("beta1", "beta2", "epsilon")}
    if "beta1" in options:
        given["betas"] = (options["beta1"], options["beta2"])
    if "epsilon" in options:
        given["eps"] = options["epsilon"]
    return given


def optimizer(name, lr, dtype=torch.float32, **options):
    """16-bit parameters are roundings of 32-bit ones, which are what is trained."""
    wide = dtype if dtype == torch.float64 else torch.float32
    parameters = [x.to(dtype).to(wide).clone().requires_grad_() for x in START]
    given = arguments(options)
    if name.startswith("adamw"):
        given.setdefault("weight_decay", 0.0)
    o = TYPES[name.split(".")[0]](parameters, lr=lr, foreach=False, **given)
    after = [[] for _ in parameters]
    for step in range(STEPS):
        for p, g in zip(parameters, GRAD):
            p.grad = g[step].to(dtype).to(wide).clone()
        o.step()
        for k, p in zip(after, parameters):
            k.append(p.detach().to(dtype).clone())
    number(name + "/lr", lr)
    number(name + "/dtype." + NAMES[dtype].lower(), 0)
    for k, v in options.items():
        number(name + "/option." + k, v)
    for i, p in enumerate(parameters):
        put("%s/param.%d" % (name, i), torch.stack(after[i]))
        for k, v in o.state[p].items():
            if v is not None and k != "step":
                put("%s/state.%d.%s" % (name, i, k), v)


optimizer("sgd.plain", 0.1)
optimizer("sgd.decay", 0.1, weight_decay=0.05)
optimizer("sgd.momentum", 0.1, momentum=0.9)
optimizer("sgd.dampened", 0.1, momentum=0.9, dampening=0.5, weight_decay=0.01)
optimizer("sgd.nesterov", 0.05, momentum=0.9, nesterov=True)
optimizer("sgd.nesterov_decay", 0.05, momentum=0.8, nesterov=True, weight_decay=0.1)
optimizer("sgd.maximize", 0.01, momentum=0.5, weight_decay=0.1, maximize=True)
optimizer("sgd.f64", 0.1, torch.float64, momentum=0.9)
optimizer("sgd.f16", 0.1, torch.float16, momentum=0.9)
optimizer("adam.plain", 0.01)
optimizer("adam.betas", 0.1, beta1=0.7, beta2=0.95, epsilon=1e-3)
optimizer("adam.decay", 0.01, weight_decay=0.1)
optimizer("adam.amsgrad", 0.01, amsgrad=True)
optimizer("adam.maximize", 0.01, weight_decay=0.1, maximize=True)
optimizer("adam.f64", 0.01, torch.float64, amsgrad=True)
optimizer("adam.f16", 0.01, torch.float16)
optimizer("adam.bf16", 0.01, torch.bfloat16, weight_decay=0.1)
optimizer("adamw.plain", 0.01)
optimizer("adamw.decay", 0.01, weight_decay=0.1)
optimizer("adamw.amsgrad", 0.02, weight_decay=0.01, amsgrad=True, maximize=True)

# ---- schedules ----

S = torch.optim.lr_scheduler
METRICS = [5, 4, 4, 4.5, 4.2, 4.1, 3.99999, 3, 3, 3, 3, 3, 3, 3, 3, float("nan"), 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5]


def schedule(name, steps, make, metrics=None, momentum=None):
    a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    kind = torch.optim.Adam if momentum == "betas" else torch.optim.SGD
    o = kind([{"params": [a], "lr": 0.1}, {"params": [b], "lr": 0.02}], **({} if momentum == "betas" else {"lr": 1, "momentum": 0.9}))
    s = make(o)
    rates, momenta = [], []
    for t in range(steps + 1):
        rates.append([g["lr"] for g in o.param_groups])
        g = o.param_groups[0]
        momenta.append(g["betas"][0] if momentum == "betas" else g["momentum"])
        o.step()
        if t < steps:
            s.step(metrics[t]) if metrics else s.step()
    put("schedule." + name, torch.tensor(rates, dtype=torch.float64))
    if momentum:
        put("momentum." + name, torch.tensor(momenta, dtype=torch.float64))


schedule("step", 12, lambda o: S.StepLR(o, 4, 0.5))
schedule("multi_step", 12, lambda o: S.MultiStepLR(o, [2, 5, 5, 9], 0.3))
schedule("exponential", 12, lambda o: S.ExponentialLR(o, 0.9))
schedule("cosine", 25, lambda o: S.CosineAnnealingLR(o, 10, 0.001))
schedule("restarts", 30, lambda o: S.CosineAnnealingWarmRestarts(o, 4, 2, 0.001))
schedule("restarts_even", 12, lambda o: S.CosineAnnealingWarmRestarts(o, 5))
schedule("linear", 8, lambda o: S.LinearLR(o, 0.25, 1.0, 5))
schedule("cycle", 20, lambda o: S.OneCycleLR(o, 0.5, total_steps=20), momentum="momentum")
schedule("cycle_adam", 15, lambda o: S.OneCycleLR(o, 0.5, total_steps=15, pct_start=0.4, anneal_strategy="linear", div_factor=10.0,
                                                  final_div_factor=100.0, base_momentum=0.8, max_momentum=0.9), momentum="betas")
schedule("cycle_three", 20, lambda o: S.OneCycleLR(o, 0.5, total_steps=20, three_phase=True), momentum="momentum")
schedule("plateau", 25, lambda o: S.ReduceLROnPlateau(o, patience=2), METRICS)
schedule("plateau_high", 25, lambda o: S.ReduceLROnPlateau(o, "max", factor=0.5, patience=0, threshold=0.1, threshold_mode="abs",
                                                           cooldown=2, min_lr=0.01), METRICS)
schedule("sequence", 15, lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 4), S.CosineAnnealingLR(o, 10)], [4]))

# ---- clipping ----


def clip(name, limit, p, factor=1.0):
    parameters = [x.clone().requires_grad_() for x in START]
    for x, g in zip(parameters, GRAD):
        x.grad = g[0].clone() * factor
    number("clip.%s/max" % name, limit)
    number("clip.%s/p" % name, p)
    number("clip.%s/factor" % name, factor)
    put("clip.%s/total" % name, torch.nn.utils.clip_grad_norm_(parameters, limit, p))
    for i, x in enumerate(parameters):
        put("clip.%s/grad.%d" % (name, i), x.grad)


clip("two", 0.5, 2.0)
clip("one", 0.5, 1.0)
clip("three", 0.5, 3.0)
clip("most", 0.5, float("inf"))
clip("none", 1e6, 2.0)
clip("zero", 0.0, 2.0)
clip("infinite", 1.0, 2.0, 1e30)
clip("nan", 1.0, 2.0, float("nan"))


def write(path):
    header, place = {}, 0
    data = b""
    for name in sorted(tensors, key=lambda n: -tensors[n].element_size()):
        x = tensors[name]
        bits = x.view(torch.int16) if x.dtype == torch.bfloat16 else x
        raw = np.asarray(bits.numpy()).tobytes()
        header[name] = {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data_offsets": [place, place + len(raw)]}
        data += raw
        place += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


write(os.path.join(FOLDER, "optim.safetensors"))
