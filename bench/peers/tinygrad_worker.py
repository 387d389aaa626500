"""tinygrad's part of scripts/bench-peers: every operation jitted, on its OpenCL device or whatever DEV says."""
from tinygrad import Device, Tensor, TinyJit, dtypes

import worker

names = {"f32": dtypes.float32, "f16": dtypes.float16}
operations = {
    "matmul": lambda a, b: a @ b,
    "add": lambda a, b: a + b,
    "copy": lambda a: a.contiguous().clone(),
    "cast_f16": lambda a: a.cast(dtypes.float16),
    "chain": lambda a: a * (a * 2 + 1).relu().sigmoid(),
    "sum": lambda a: a.sum(),
    "sum_inner": lambda a: a.sum(1),
    "sum_outer": lambda a: a.sum(0),
    "softmax": lambda a: a.softmax(-1),
    "layer_norm": lambda a, w, b: a.layernorm() * w + b,
    "transpose": lambda a: a.T.contiguous(),
    "permute": lambda a: a.permute(0, 2, 3, 1).contiguous(),
}


def prepare(operation, dtype, arrays):
    function = TinyJit(lambda *inputs: operations[operation](*inputs).realize())
    inputs = [Tensor(array).cast(names[dtype]).contiguous().realize() for array in arrays]

    def run():
        out = function(*inputs)
        Device[out.device].synchronize()
        return out

    return run


worker.serve(prepare, lambda run: run().numpy())
