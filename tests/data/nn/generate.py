#!/usr/bin/env python3
"""Writes nn.safetensors: layers and losses as PyTorch computes them, forwards and backwards, in f64.

    python3 generate.py            (PyTorch 1.13 or newer; Debian: python3-torch)

A case is a few tensors, named loss/NAME/NUMBER/… or layer/NAME/NUMBER/…:
  x, b, c    operands of a loss, inputs of a layer; weight, positive: a loss's options
  settings   numbers, in the order in which tests/test_losses.c and tests/test_layers.c read them
  out, u     the result, and the gradient it is given
  gx, gb     the gradients of x and b
  state.NAME, after.NAME, grad.NAME   of a layer: parameters and buffers before and after, gradients of parameters
"""
import json
import os
import struct

import torch
import torch.nn.functional as F

torch.manual_seed(20240301)
torch.set_default_dtype(torch.float64)
DTYPES = {torch.float64: "F64", torch.int64: "I64"}
entries, blobs, counts = {}, [], {}
REDUCTIONS = ["none", "mean", "sum"]
inf, nan = float("inf"), float("nan")


def put(name, x):
    data = x.detach().contiguous().numpy().tobytes()
    begin = sum(map(len, blobs))
    entries[name] = {"dtype": DTYPES[x.dtype], "shape": list(x.shape), "data_offsets": [begin, begin + len(data)]}
    blobs.append(data)


def start(kind, name):
    counts[name] = counts.get(name, 0) + 1
    return f"{kind}/{name}/{counts[name]}"


def floats(*shape):
    """Few digits, so that the file's numbers are exact in f32 as well."""
    return torch.round(torch.randn(shape) * 64) / 64


def case_of(title, inputs, settings, out, **more):
    u = floats(*out.shape)
    inputs = {k: v for k, v in inputs.items() if v is not None}
    wanted = [k for k, v in inputs.items() if v.requires_grad]
    grads = torch.autograd.grad(out, [inputs[k] for k in wanted], u, allow_unused=True) if wanted else []
    for k, v in {**inputs, "settings": torch.tensor([float(s) for s in settings]), "out": out, "u": u, **more}.items():
        put(f"{title}/{k}", v)
    for k, g in zip(wanted, grads):
        put(f"{title}/g{k}", torch.zeros_like(inputs[k]) if g is None else g)


def loss(name, function, x, b, settings, weight=None, positive=None, c=None, wanted="xb"):
    """function(x, b, reduction) for every reduction."""
    for r, reduction in enumerate(REDUCTIONS):
        inputs = {"x": x, "b": b, "c": c}
        inputs = {k: v.clone().requires_grad_(k in wanted and v.is_floating_point()) for k, v in inputs.items() if v is not None}
        out = function(*inputs.values(), reduction)
        more = {k: v for k, v in {"weight": weight, "positive": positive}.items() if v is not None}
        case_of(start("loss", name), inputs, [r, *settings], out, **more)


# ---- losses: numbers

def numbers(name, function, settings, zero=True):
    for shape in [(4, 3), (5,), (), (0, 3), (2, 3, 4)]:
        loss(name, function, floats(*shape), floats(*shape), settings)
    x = torch.tensor([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 1e3, inf, -inf])[0 if zero else 1 :]
    loss(name, function, x, torch.zeros_like(x), settings)
    # PyTorch's gradient of |nan| is 0, ours nan: the value only
    loss(name, function, torch.tensor([nan, 1.0]), torch.zeros(2), settings, wanted="")
    loss(name, function, floats(4, 3), floats(3), settings)


numbers("mse_loss", lambda x, b, r: F.mse_loss(x, b, reduction=r), [])
numbers("l1_loss", lambda x, b, r: F.l1_loss(x, b, reduction=r), [])
for delta in [1.0, 0.5]:
    numbers("huber_loss", lambda x, b, r: F.huber_loss(x, b, delta=delta, reduction=r), [delta])
for beta in [1.0, 0.25, 0.0]:  # at a difference of 0 PyTorch's gradient for beta 0 is -1, that of l1_loss 0
    numbers("smooth_l1_loss", lambda x, b, r: F.smooth_l1_loss(x, b, beta=beta, reduction=r), [beta], zero=beta > 0)

# ---- losses: probabilities

for shape in [(4, 3), (6,), (), (0, 2)]:
    x, b = torch.sigmoid(floats(*shape)), torch.sigmoid(floats(*shape))
    loss("bce_loss", lambda x, b, r: F.binary_cross_entropy(x, b, reduction=r), x, b, [])
w = torch.sigmoid(floats(3))
loss("bce_loss", lambda x, b, r: F.binary_cross_entropy(x, b, weight=w, reduction=r), torch.sigmoid(floats(4, 3)),
     torch.sigmoid(floats(4, 3)), [], weight=w)
# at 0 and 1 PyTorch's gradient is 1e12 of the sign, ours 0: values only
loss("bce_loss", lambda x, b, r: F.binary_cross_entropy(x, b, reduction=r), torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5]),
     torch.tensor([0.0, 1.0, 1.0, 0.0, 0.25]), [], wanted="")
for shape in [(4, 3), (6,), (), (0, 2)]:
    loss("bce_with_logits", lambda x, b, r: F.binary_cross_entropy_with_logits(x, b, reduction=r), floats(*shape),
         torch.sigmoid(floats(*shape)), [])
p = torch.exp(floats(3))
loss("bce_with_logits", lambda x, b, r: F.binary_cross_entropy_with_logits(x, b, weight=w, pos_weight=p, reduction=r), floats(4, 3),
     torch.sigmoid(floats(4, 3)), [], weight=w, positive=p)
loss("bce_with_logits", lambda x, b, r: F.binary_cross_entropy_with_logits(x, b, reduction=r),
     torch.tensor([100.0, -100.0, 1000.0, -1000.0, 0.0, 50.0, -50.0]), torch.tensor([1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 0.0]), [])
for shape in [(4, 3), (6,), (0, 2)]:
    loss("kl_div", lambda x, b, r: F.kl_div(x, b, reduction=r), floats(*shape), torch.sigmoid(floats(*shape)), [0])
    loss("kl_div", lambda x, b, r: F.kl_div(x, b, reduction=r, log_target=True), floats(*shape), floats(*shape), [1])
loss("kl_div", lambda x, b, r: F.kl_div(x, b, reduction=r), floats(3), torch.tensor([0.0, 0.5, 0.0]), [0], wanted="x")

# ---- losses: distances

y = torch.tensor([1, -1, -1, 1])
for margin in [0.0, 0.5]:
    loss("cosine_embedding_loss", lambda x, b, c, r: F.cosine_embedding_loss(x, b, c, margin=margin, reduction=r), floats(4, 3),
         floats(4, 3), [margin], c=y)
loss("cosine_embedding_loss", lambda x, b, c, r: F.cosine_embedding_loss(x, b, c, reduction=r), floats(5), floats(5), [0.0],
     c=torch.tensor(1))
# the gradient at 0 is that of PyTorch's 1e-12, which is an f32
loss("cosine_embedding_loss", lambda x, b, c, r: F.cosine_embedding_loss(x, b, c, reduction=r), torch.zeros(4, 3), floats(4, 3), [0.0], c=y,
     wanted="")
for margin in [1.0, 0.25]:
    loss("hinge_embedding_loss", lambda x, b, r: F.hinge_embedding_loss(x, b, margin=margin, reduction=r), floats(4), y, [margin])
loss("hinge_embedding_loss", lambda x, b, r: F.hinge_embedding_loss(x, b, reduction=r), floats(3, 4), y, [1.0])
for p_norm, swap in [(2, 0), (2, 1), (1, 0), (3, 1)]:
    loss("triplet_margin_loss", lambda x, b, c, r: F.triplet_margin_loss(x, b, c, margin=1.0, p=p_norm, swap=bool(swap), reduction=r),
         floats(4, 3), floats(4, 3), [1.0, p_norm, 1e-6, swap], c=floats(4, 3), wanted="xbc")
loss("triplet_margin_loss", lambda x, b, c, r: F.triplet_margin_loss(x, b, c, margin=0.25, reduction=r), floats(5), floats(5),
     [0.25, 2, 1e-6, 0], c=floats(5), wanted="xbc")

# ---- losses: classes

W = torch.exp(floats(5))


def classes(x, b, weight=None, smoothing=0.0, ignored=-100, plain=True):
    settings = [smoothing, ignored]
    loss("cross_entropy", lambda x, b, r: F.cross_entropy(x, b, weight=weight, label_smoothing=smoothing, ignore_index=ignored,
                                                          reduction=r), x, b, settings, weight=weight)
    if not b.is_floating_point() and smoothing == 0 and plain:
        loss("nll_loss", lambda x, b, r: F.nll_loss(x, b, weight=weight, ignore_index=ignored, reduction=r), torch.log_softmax(x, min(1, x.ndim - 1)),
             b, settings, weight=weight)


for weight in [None, W]:
    for smoothing in [0.0, 0.1, 1.0]:
        labels = torch.tensor([0, 4, 2, 2])
        classes(floats(4, 5), labels, weight, smoothing)
        classes(floats(4, 5), torch.tensor([0, -100, 2, -100]), weight, smoothing)
        classes(floats(4, 5), labels, weight, smoothing, ignored=2)
        classes(floats(2, 5, 3), torch.randint(0, 5, (2, 3)), weight, smoothing)
        classes(floats(4, 5), torch.softmax(floats(4, 5), 1), weight, smoothing)
classes(floats(2, 5, 2, 3), torch.randint(0, 5, (2, 2, 3)), W, 0.1)
classes(floats(2, 5, 3), torch.softmax(floats(2, 5, 3), 1), W, 0.1)
classes(floats(5), torch.tensor(3))
classes(floats(5), torch.tensor(3), W, 0.1)
classes(floats(5), torch.softmax(floats(5), 0))
classes(floats(3, 5), torch.tensor([-100, -100, -100]))
classes(floats(3, 5), torch.tensor([-1, 1, -1]), ignored=-1)
classes(floats(0, 5), torch.zeros(0, dtype=torch.int64))
classes(torch.tensor([[-431.0, 279.0, 427.0, 0.0, 1.0]]), torch.tensor([0]), plain=False)
classes(torch.tensor([[1000.0, -1000.0, 0.0, 1.0, -inf]]), torch.tensor([3]), plain=False)
classes(floats(2, 1), torch.tensor([0, 0]))

# ---- layers


def layer(name, module, settings, x, b=None, training=True):
    """settings behind training."""
    title = start("layer", name)
    module.train(training)
    for q in module.parameters():
        q.data = floats(*q.shape)
    inputs = {k: v.clone().requires_grad_(v.is_floating_point()) for k, v in {"x": x, "b": b}.items() if v is not None}
    state = {"state." + k: v.clone() for k, v in module.state_dict().items()}
    out = module(*inputs.values())
    u = floats(*out.shape)
    for k, v in {**inputs, **state, "settings": torch.tensor([float(training), *map(float, settings)]), "out": out, "u": u}.items():
        put(f"{title}/{k}", v)
    wanted = {"g" + k: v for k, v in inputs.items() if v.requires_grad}
    wanted.update({"grad." + k: v for k, v in module.named_parameters()})
    if wanted:
        for k, g in zip(wanted, torch.autograd.grad(out, list(wanted.values()), u)):
            put(f"{title}/{k}", g)
    for k, v in module.named_buffers():
        put(f"{title}/after.{k}", v)


nn = torch.nn
for bias in [True, False]:
    for shape in [(3, 4), (4,), (2, 3, 4), (0, 4)]:
        layer("linear", nn.Linear(4, 5, bias), [4, 5, bias], floats(*shape))
    for shape in [(3,), (), (2, 2), (0,)]:
        layer("bilinear", nn.Bilinear(4, 3, 2, bias), [4, 3, 2, bias], floats(*shape, 4), floats(*shape, 3))
layer("linear", nn.Linear(1, 1), [1, 1, 1], floats(2, 1))
for padding in [-1, 2]:
    for index in [torch.tensor([0, 2, 5, 2]), torch.tensor([[1, 2], [4, 0]]), torch.tensor(3), torch.zeros(0, dtype=torch.int64)]:
        layer("embedding", nn.Embedding(6, 3, padding_idx=None if padding < 0 else padding), [6, 3, padding], index)
for eps in [1e-5, 0.5]:
    for affine in [True, False]:
        layer("layer_norm", nn.LayerNorm(4, eps, affine), [eps, not affine, 4], floats(3, 4) + 3)
        layer("layer_norm", nn.LayerNorm((3, 4), eps, affine), [eps, not affine, 3, 4], floats(2, 3, 4))
        layer("layer_norm", nn.LayerNorm((3, 4), eps, affine), [eps, not affine, 3, 4], floats(0, 3, 4))
        layer("group_norm", nn.GroupNorm(2, 4, eps, affine), [eps, not affine, 2, 4], floats(3, 4))
        layer("group_norm", nn.GroupNorm(2, 4, eps, affine), [eps, not affine, 2, 4], floats(3, 4, 5) - 2)
        layer("group_norm", nn.GroupNorm(4, 4, eps, affine), [eps, not affine, 4, 4], floats(2, 4, 3, 2))
for training in [True, False]:
    for affine, tracked, momentum in [(True, True, 0.1), (False, True, 0.5), (True, False, 0.1), (True, True, None)]:
        for shape in [(5, 3), (2, 3, 4)]:
            module = nn.BatchNorm1d(3, 1e-5, momentum, affine, tracked)
            if tracked:
                module.running_mean, module.running_var = floats(3), torch.exp(floats(3))
                module.num_batches_tracked = torch.tensor(7)
            layer("batch_norm1d", module, [1e-5, momentum or 0, not affine, not tracked, momentum is None, 3], floats(*shape) * 2 + 1,
                  training=training)


class RMSNorm(nn.Module):
    """As PyTorch has it from 2.4 on."""

    def __init__(self, shape, eps):
        super().__init__()
        self.weight, self.eps, self.axes = nn.Parameter(torch.ones(shape)), eps, tuple(range(-len(shape), 0))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(self.axes, keepdim=True) + self.eps) * self.weight


layer("rms_norm", RMSNorm((4,), 1e-6), [1e-6, 0, 4], floats(3, 4))
layer("rms_norm", RMSNorm((3, 4), 0.5), [0.5, 0, 3, 4], floats(2, 3, 4))

header = json.dumps({"__metadata__": {"cases": str(sum(counts.values()))}, **entries}, separators=(",", ":")).encode()
header += b" " * (-len(header) % 8)
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nn.safetensors")
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + b"".join(blobs))
print(sum(counts.values()), "cases", os.path.getsize(path), "bytes")
