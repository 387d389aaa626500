"""JAX's part of scripts/bench-peers: every operation jitted, on its CPU device."""
import jax
from jax import nn, numpy

import worker

STEPS = 100
dtypes = {"f32": numpy.float32, "f16": numpy.float16, "bf16": numpy.bfloat16}


def steps(x, y):
    for i in range(STEPS):
        x = x + y if i % 2 else x * 0.5
    return x


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weight + bias


operations = {
    "matmul": numpy.matmul,
    "matmul_gelu": lambda a, b, c: nn.gelu(a @ b + c, approximate=False),
    "add": numpy.add,
    "chain": lambda a: a * nn.sigmoid(nn.relu(a * 2 + 1)),
    "exp": numpy.exp,
    "tanh": numpy.tanh,
    "erf": jax.scipy.special.erf,
    "sum": numpy.sum,
    "sum_inner": lambda a: a.sum(1),
    "sum_outer": lambda a: a.sum(0),
    "softmax": lambda a: nn.softmax(a, -1),
    "layer_norm": layer_norm,
    "steps": steps,
}


def prepare(operation, dtype, arrays):
    function = jax.jit(operations[operation])
    inputs = [numpy.asarray(array, dtypes[dtype]) for array in arrays]
    return lambda: function(*inputs).block_until_ready()


worker.serve(prepare, lambda run: run())
