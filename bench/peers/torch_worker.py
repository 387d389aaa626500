"""PyTorch's part of scripts/bench-peers.   torch_worker.py best|plain|compiled

best: inference mode, and what it makes goes into a tensor that is there already where PyTorch can take one; compare.py starts it with
malloc's thresholds raised. plain: as most would write it. compiled: the plain function through torch.compile, in inference mode."""
import sys

import numpy
import torch
from torch.nn import functional

import worker

STEPS = 100
mode = sys.argv[1]
torch.set_num_threads(int(sys.argv[2]))
dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}


def repeat(step):
    def loop(x, *more):
        for i in range(STEPS):
            x = step(i, x, *more)
        return x

    return loop


def halve_or_add(i, x, y):
    return x + y if i % 2 else x * 0.5


def chain_in_place(x, out):
    torch.mul(x, 2, out=out).add_(1).relu_().sigmoid_()
    return torch.mul(x, out, out=out)


# As one writes it, and with a place for what comes out.
operations = {
    "matmul": (lambda a, b: a @ b, lambda a, b, out: torch.matmul(a, b, out=out)),
    "matmul_nt": (lambda a, b: a @ b.mT, lambda a, b, out: torch.matmul(a, b.mT, out=out)),
    "matmul_tn": (lambda a, b: a.mT @ b, lambda a, b, out: torch.matmul(a.mT, b, out=out)),
    "matmul_tt": (lambda a, b: a.mT @ b.mT, lambda a, b, out: torch.matmul(a.mT, b.mT, out=out)),
    "linear": (lambda a, b: functional.linear(a, b), None),
    "matmul_gelu": (lambda a, b, c: functional.gelu(torch.addmm(c, a, b)), None),
    "add": (lambda a, b: a + b, lambda a, b, out: torch.add(a, b, out=out)),
    "copy": (lambda a: a.clone(), lambda a, out: out.copy_(a)),
    "cast_f16": (lambda a: a.half(), lambda a, out: out.copy_(a)),
    "chain": (lambda a: a * torch.sigmoid(torch.relu(a * 2 + 1)), None),
    "chain_in_place": (lambda a: a * torch.sigmoid(torch.relu(a * 2 + 1)), chain_in_place),
    "exp": (torch.exp, torch.exp),
    "tanh": (torch.tanh, torch.tanh),
    "erf": (torch.erf, torch.erf),
    "sum": (torch.sum, None),
    "sum_inner": (lambda a: a.sum(1), lambda a, out: torch.sum(a, 1, out=out)),
    "sum_outer": (lambda a: a.sum(0), lambda a, out: torch.sum(a, 0, out=out)),
    "softmax": (lambda a: torch.softmax(a, -1), lambda a, out: torch.softmax(a, -1, out=out)),
    "layer_norm": (lambda a, w, b: functional.layer_norm(a, a.shape[-1:], w, b), None),
    "transpose": (lambda a: a.mT.contiguous(), lambda a, out: out.copy_(a.mT)),
    "permute": (lambda a: a.permute(0, 2, 3, 1).contiguous(), lambda a, out: out.copy_(a.permute(0, 2, 3, 1))),
    "softmaxes": (repeat(lambda i, x: torch.softmax(x, -1)), None),
    "steps": (repeat(halve_or_add), None),
}


def training(inputs, fused):
    layers = []
    for weight in inputs[1:]:
        layers += [torch.nn.Linear(weight.shape[1], weight.shape[0]), torch.nn.ReLU()]
        with torch.no_grad():
            layers[-2].weight.copy_(weight * 0.05)
            layers[-2].bias.zero_()
    net = torch.nn.Sequential(*layers[:-1])
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True) if fused else torch.optim.Adam(net.parameters(), lr=1e-3)
    labels = torch.arange(len(inputs[0])) % inputs[-1].shape[0]

    def step():
        loss = functional.cross_entropy(net(inputs[0]), labels)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        return loss.detach()

    return step


def prepare(operation, dtype, arrays):
    inputs = [torch.from_numpy(array).to(dtypes[dtype]) for array in arrays]
    if operation in ("train", "train_fused"):
        return training(inputs, operation == "train_fused")
    plain, into = operations[operation]
    if mode == "compiled":
        torch._dynamo.reset()
        plain = torch.compile(plain)
    if mode != "best" or not into:
        return lambda: plain(*inputs)
    out = plain(*inputs)
    return lambda: into(*inputs, out=out)


def inference(operation, dtype, arrays):
    if operation.startswith("train"):
        return prepare(operation, dtype, arrays)
    with torch.inference_mode():
        run = prepare(operation, dtype, arrays)
    return torch.inference_mode()(run)


worker.serve(prepare if mode == "plain" else inference, lambda run: run().to(torch.float64).numpy())
