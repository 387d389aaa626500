"""NumPy's part of scripts/bench-peers."""
import numpy

import worker

STEPS = 100


def copy_turned(order):
    def turn(a, out=None):
        if out is None:
            return a.transpose(order).copy()
        numpy.copyto(out, a.transpose(order))
        return out

    return turn


def steps(x, y, out=None):
    for i in range(STEPS):
        x = numpy.add(x, y, out=out) if i % 2 else numpy.multiply(x, 0.5, out=out)
    return x


dtypes = {"f32": "float32", "f64": "float64", "i8": "int8"}
operations = {
    "matmul": numpy.matmul,
    "matmul_nt": lambda a, b, **to: numpy.matmul(a, b.swapaxes(-1, -2), **to),
    "matmul_tn": lambda a, b, **to: numpy.matmul(a.swapaxes(-1, -2), b, **to),
    "matmul_tt": lambda a, b, **to: numpy.matmul(a.swapaxes(-1, -2), b.swapaxes(-1, -2), **to),
    "add": numpy.add,
    "copy": copy_turned(None),
    "exp": numpy.exp,
    "tanh": numpy.tanh,
    "sum": numpy.sum,
    "sum_inner": lambda a, **to: numpy.sum(a, 1, **to),
    "sum_outer": lambda a, **to: numpy.sum(a, 0, **to),
    "transpose": copy_turned((1, 0)),
    "permute": copy_turned((0, 2, 3, 1)),
    "steps": steps,
}


def prepare(operation, dtype, arrays):
    function = operations[operation]
    inputs = [array.astype(dtypes[dtype]) for array in arrays]
    out = function(*inputs)
    return (lambda: function(*inputs, out=out)) if isinstance(out, numpy.ndarray) else (lambda: function(*inputs))


worker.serve(prepare, lambda run: run())
