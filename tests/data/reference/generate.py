#!/usr/bin/env python3
"""Writes reference.safetensors, sort.safetensors and backward.safetensors: operands and results of operations as NumPy and PyTorch compute them.

    python3 generate.py            (NumPy 1.24, PyTorch 1.13 or newer; Debian: python3-numpy python3-torch)

Each case is a few tensors, named KIND/OPERATION/DTYPE/NUMBER[/AXES/KEEPDIM]/{a,b,c,out}; with indices in `at`; of gradients u is the
upstream one, p, q and r are the operands'. Floats are computed in f64 and
rounded once to the dtype, as the contract has it; tests/test_reference.c runs the cases on host.
"""
import json
import math
import os
import struct

import numpy as np
import torch

np.seterr(all="ignore")
rng = np.random.default_rng(20240229)
FLOATS = ["f16", "bf16", "f32", "f64"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}
SAFE = {"f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64", "u8": "U8",
        "u16": "U16", "u32": "U32", "u64": "U64", "bool": "BOOL"}
SIZE = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


def bf16_bits(x):
    """f64 to bf16 by one rounding to nearest even."""
    x = np.asarray(x, np.float64)
    f = x.astype(np.float32)
    up = np.abs(f.astype(np.float64)) > np.abs(x)
    f = np.where(up, np.nextafter(f, np.float32(0)), f)
    inexact = np.isfinite(x) & (f.astype(np.float64) != x)
    bits = f.astype(np.float32).view(np.uint32) | inexact.astype(np.uint32)  # rounded to odd
    bits = np.where(np.isinf(x), np.float32(np.inf) * np.sign(x).astype(np.float32), bits.view(np.float32)).astype(np.float32).view(np.uint32)
    rounded = (bits.astype(np.int64) + 0x7FFF + ((bits.astype(np.int64) >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)


def store(x, dtype):
    """f64, or an integer array of the dtype, as bytes."""
    x = np.asarray(x)
    return bf16_bits(x).tobytes() if dtype == "bf16" else x.astype(NUMPY[dtype]).tobytes()


def through(x, dtype):
    """f64 values that the dtype has."""
    if dtype == "bf16":
        return (bf16_bits(x).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.asarray(x, np.float64).astype(NUMPY[dtype]).astype(np.float64)


def float_edges(dtype):
    largest = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": float(np.finfo(np.float32).max), "f64": float(np.finfo(np.float64).max)}[dtype]
    least = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}[dtype]
    return [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, -2.5, 3.0, 100.0, -7.25, largest, -largest, least, -least / 4]


def integer_edges(dtype):
    info = np.iinfo(NUMPY[dtype])
    few = [0, 1, 2, 3, 7, 100, int(info.max), int(info.max) - 1, int(info.min)]
    return few + ([-1, -2, -7, int(info.min) + 1] if info.min < 0 else [255, 128])


def values(dtype, low, high, count):
    if dtype in FLOATS:
        return through(rng.uniform(low, high, count), dtype)
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(np.bool_)
    info = np.iinfo(NUMPY[dtype])
    return rng.integers(max(low, info.min), min(high, info.max) + 1, count).astype(NUMPY[dtype])


def edges(dtype):
    if dtype in FLOATS:
        return through(float_edges(dtype), dtype)
    return np.array([False, True]) if dtype == "bool" else np.array(integer_edges(dtype), NUMPY[dtype])


def operands(dtype, arity, low, high):
    """Edges, for two operands in pairs, and ordinary values behind them."""
    e = edges(dtype)
    if arity == 1:
        lists = [e]
    else:
        k = e if len(e) <= 8 else e[rng.permutation(len(e))[:8]]
        lists = [np.repeat(k, len(k)), np.tile(k, len(k))] + [rng.permutation(np.resize(k, len(k) ** 2)) for _ in range(arity - 2)]
    return [np.concatenate([x, values(dtype, low, high, 16).astype(x.dtype)]) for x in lists]


entries, blobs, offset = {}, [], 0


def put(name, x, dtype):
    global offset
    data = store(x, dtype)
    entries[name] = {"dtype": SAFE[dtype], "shape": list(np.shape(x)), "data_offsets": [offset, offset + len(data)]}
    blobs.append(data)
    offset += len(data)


cases = 0


def case(name, inputs, dtype, out, result):
    global cases
    for letter, x in zip("abc", inputs):
        put(f"{name}/{letter}", x, dtype)
    put(f"{name}/out", out, result)
    cases += 1


# ---- elementwise rows: name -> (arity, function on f64, function on integers, function on bool, low, high, result) ----

t = torch.tensor
F = torch.nn.functional


PI = np.longdouble("3.14159265358979323846264338327950288")


def exact(f):
    """f in long double: where NumPy's and PyTorch's own formulas lose digits."""
    return lambda x: f(np.asarray(x, np.longdouble)).astype(np.float64)


def sinc(x):
    turns = x - 2 * np.rint(x / 2)
    nearest = np.where(np.abs(turns) > 0.5, np.copysign(1, turns) - turns, turns)
    return np.where(x == 0, 1, np.sin(PI * nearest) / (PI * x))


def truncated(a, b):
    """C's division; 0 for a zero divisor."""
    with_sign = np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b))).astype(a.dtype)
    return with_sign + ((np.remainder(a, np.where(b == 0, 1, b)) != 0) & ((a < 0) != (b < 0))).astype(a.dtype) * (b != 0)


BERNOULLI = [np.longdouble(a) / b for a, b in [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]]


def digamma(x):
    """By its recurrence up to 40 and its asymptotic series, reflected below 0."""
    left, z, total = x < 0, np.where(x < 0, 1 - x, x), 0
    for _ in range(40):
        total = np.where(z < 40, total - 1 / z, total)
        z = np.where(z < 40, z + 1, z)
    total = total + np.log(z) - 1 / (2 * z) - sum(b / ((2 * k + 2) * z ** (2 * k + 2)) for k, b in enumerate(BERNOULLI))
    turn = x - np.rint(x)
    return np.where(left, np.where(turn == 0, np.nan, total - PI / np.tan(PI * turn)), total)


def trigamma(x):
    left, z, total = x < 0, np.where(x < 0, 1 - x, x), 0
    for _ in range(40):
        total = np.where(z < 40, total + 1 / z**2, total)
        z = np.where(z < 40, z + 1, z)
    total = total + 1 / z + 1 / (2 * z**2) + sum(b / z ** (2 * k + 3) for k, b in enumerate(BERNOULLI))
    return np.where(left, (PI / np.sin(PI * (x - np.rint(x)))) ** 2 - total, total)


def whole(f):
    """f of Python's integers, wrapped to the dtype."""
    def wrapped(a, b):
        a, b = np.broadcast_arrays(a, b)
        size = a.dtype.itemsize
        low = [f(int(x), int(y)) % 2 ** (8 * size) for x, y in zip(a.ravel(), b.ravel())]
        return np.array(low, f"u{size}").reshape(a.shape).astype(a.dtype)
    return wrapped


def nextafter(dtype):
    """In the dtype itself."""
    if dtype == "bf16":
        return lambda a, b: torch.nextafter(t(a).bfloat16(), t(b).bfloat16()).double().numpy()
    return lambda a, b: np.nextafter(a.astype(NUMPY[dtype]), b.astype(NUMPY[dtype])).astype(np.float64)


special = lambda f: lambda *x: f(*[t(np.asarray(v, np.float64)) for v in x]).numpy()
NONE = None
ROWS = {
    "add": (2, np.add, np.add, np.logical_or, -50, 50, "same"),
    "sub": (2, np.subtract, np.subtract, NONE, -50, 50, "same"),
    "mul": (2, np.multiply, np.multiply, np.logical_and, -50, 50, "same"),
    "floor_divide": (2, np.floor_divide, np.floor_divide, NONE, -50, 50, "same"),
    "remainder": (2, np.remainder, np.remainder, NONE, -50, 50, "same"),
    "div": (2, np.divide, NONE, NONE, -50, 50, "same"),
    "pow": (2, special(torch.pow), NONE, NONE, 0.5, 3, "same"),
    "neg": (1, np.negative, np.negative, NONE, -50, 50, "same"),
    "abs": (1, np.abs, np.abs, lambda x: x, -50, 50, "same"),
    "sign": (1, np.sign, np.sign, NONE, -50, 50, "same"),
    "floor": (1, np.floor, lambda x: x, NONE, -50, 50, "same"),
    "maximum": (2, np.maximum, np.maximum, np.logical_or, -50, 50, "same"),
    "minimum": (2, np.minimum, np.minimum, np.logical_and, -50, 50, "same"),
    "clamp": (3, lambda x, a, b: np.minimum(np.maximum(x, a), b), lambda x, a, b: np.minimum(np.maximum(x, a), b), NONE, -50, 50, "same"),
    "eq": (2, np.equal, np.equal, np.equal, -3, 3, "bool"),
    "ne": (2, np.not_equal, np.not_equal, np.not_equal, -3, 3, "bool"),
    "lt": (2, np.less, np.less, np.less, -3, 3, "bool"),
    "le": (2, np.less_equal, np.less_equal, np.less_equal, -3, 3, "bool"),
    "gt": (2, np.greater, np.greater, np.greater, -3, 3, "bool"),
    "ge": (2, np.greater_equal, np.greater_equal, np.greater_equal, -3, 3, "bool"),
    "isnan": (1, np.isnan, lambda x: np.zeros(x.shape, bool), lambda x: np.zeros(x.shape, bool), -3, 3, "bool"),
    "logical_and": (2, np.logical_and, np.logical_and, np.logical_and, -2, 2, "bool"),
    "logical_or": (2, np.logical_or, np.logical_or, np.logical_or, -2, 2, "bool"),
    "logical_not": (1, np.logical_not, np.logical_not, np.logical_not, -2, 2, "bool"),
    "bitwise_and": (2, NONE, np.bitwise_and, np.logical_and, -99, 99, "same"),
    "bitwise_or": (2, NONE, np.bitwise_or, np.logical_or, -99, 99, "same"),
    "bitwise_xor": (2, NONE, np.bitwise_xor, np.logical_xor, -99, 99, "same"),
    "left_shift": (2, NONE, np.left_shift, NONE, -3, 70, "same"),
    "right_shift": (2, NONE, np.right_shift, NONE, -3, 70, "same"),
    "exp": (1, np.exp, NONE, NONE, -4, 4, "same"),
    "log": (1, np.log, NONE, NONE, 0.25, 9, "same"),
    "sqrt": (1, np.sqrt, NONE, NONE, 0, 9, "same"),
    "tanh": (1, np.tanh, NONE, NONE, -3, 3, "same"),
    "erf": (1, special(torch.erf), NONE, NONE, -3, 3, "same"),
    "relu": (1, special(torch.relu), lambda x: np.maximum(x, x.dtype.type(0)), NONE, -4, 4, "same"),
    "sigmoid": (1, special(torch.sigmoid), NONE, NONE, -4, 4, "same"),
    "gelu": (1, special(lambda x: 0.5 * x * torch.erfc(-x / 2**0.5)), NONE, NONE, -3, 3, "same"),
    "trunc_divide": (2, lambda a, b: np.where(b == 0, a / b, np.trunc(a / b)), truncated, NONE, -50, 50, "same"),
    "fmod": (2, np.fmod, np.fmod, NONE, -50, 50, "same"),
    "square": (1, np.square, np.square, NONE, -50, 50, "same"),
    "reciprocal": (1, np.reciprocal, NONE, NONE, 0.1, 9, "same"),
    "rsqrt": (1, special(torch.rsqrt), NONE, NONE, 0.1, 9, "same"),
    "ceil": (1, np.ceil, lambda x: x, NONE, -50, 50, "same"),
    "trunc": (1, np.trunc, lambda x: x, NONE, -50, 50, "same"),
    "round": (1, np.rint, lambda x: x, NONE, -50, 50, "same"),
    "fmax": (2, np.fmax, np.fmax, np.logical_or, -50, 50, "same"),
    "fmin": (2, np.fmin, np.fmin, np.logical_and, -50, 50, "same"),
    "hypot": (2, np.hypot, NONE, NONE, -50, 50, "same"),
    "copysign": (2, np.copysign, NONE, NONE, -50, 50, "same"),
    "heaviside": (2, special(torch.heaviside), NONE, NONE, -3, 3, "same"),
    "deg2rad": (1, np.deg2rad, NONE, NONE, -360, 360, "same"),
    "rad2deg": (1, np.rad2deg, NONE, NONE, -7, 7, "same"),
    "isinf": (1, np.isinf, lambda x: np.zeros(x.shape, bool), lambda x: np.zeros(x.shape, bool), -3, 3, "bool"),
    "isfinite": (1, np.isfinite, lambda x: np.ones(x.shape, bool), lambda x: np.ones(x.shape, bool), -3, 3, "bool"),
    "logical_xor": (2, np.logical_xor, np.logical_xor, np.logical_xor, -2, 2, "bool"),
    "bitwise_not": (1, NONE, np.invert, np.logical_not, -99, 99, "same"),
    "xlogy": (2, special(torch.special.xlogy), NONE, NONE, 0.1, 9, "same"),
    "exp2": (1, np.exp2, NONE, NONE, -9, 9, "same"),
    "expm1": (1, np.expm1, NONE, NONE, -4, 4, "same"),
    "log2": (1, np.log2, NONE, NONE, 0.25, 9, "same"),
    "log10": (1, np.log10, NONE, NONE, 0.25, 9, "same"),
    "log1p": (1, np.log1p, NONE, NONE, -0.9, 9, "same"),
    "sin": (1, np.sin, NONE, NONE, -9, 9, "same"),
    "cos": (1, np.cos, NONE, NONE, -9, 9, "same"),
    "tan": (1, np.tan, NONE, NONE, -1.5, 1.5, "same"),
    "asin": (1, np.arcsin, NONE, NONE, -1, 1, "same"),
    "acos": (1, np.arccos, NONE, NONE, -1, 1, "same"),
    "atan": (1, np.arctan, NONE, NONE, -9, 9, "same"),
    "atan2": (2, np.arctan2, NONE, NONE, -9, 9, "same"),
    "sinh": (1, np.sinh, NONE, NONE, -4, 4, "same"),
    "cosh": (1, np.cosh, NONE, NONE, -4, 4, "same"),
    "asinh": (1, np.arcsinh, NONE, NONE, -9, 9, "same"),
    "acosh": (1, np.arccosh, NONE, NONE, 1.1, 9, "same"),
    "atanh": (1, np.arctanh, NONE, NONE, -0.9, 0.9, "same"),
    "cbrt": (1, np.cbrt, NONE, NONE, -9, 9, "same"),
    "erfc": (1, special(torch.erfc), NONE, NONE, -3, 3, "same"),
    "sinc": (1, exact(sinc), NONE, NONE, -3, 3, "same"),
    "logaddexp": (2, np.logaddexp, NONE, NONE, -9, 9, "same"),
    "logit": (1, special(torch.logit), NONE, NONE, 0.05, 0.95, "same"),
    "relu6": (1, special(F.relu6), lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(6)), NONE, -4, 9, "same"),
    "selu": (1, exact(lambda x: 1.0507009873554804934193349852946 * np.where(x > 0, x, 1.6732632423543772848170429916717 * np.expm1(x))), NONE, NONE, -4, 4, "same"),
    "gelu_tanh": (1, exact(lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / PI) * (x + np.longdouble("0.044715") * x**3)))), NONE, NONE, -3, 3, "same"),
    "hardsigmoid": (1, special(F.hardsigmoid), NONE, NONE, -4, 4, "same"),
    "hardswish": (1, lambda x: x * (np.clip(x + 3, 0, 6) / 6), NONE, NONE, -4, 4, "same"),
    "silu": (1, special(F.silu), NONE, NONE, -4, 4, "same"),
    "mish": (1, special(F.mish), NONE, NONE, -4, 4, "same"),
    "softplus": (1, exact(lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))), NONE, NONE, -4, 4, "same"),
    "logsigmoid": (1, special(F.logsigmoid), NONE, NONE, -4, 4, "same"),
    "softsign": (1, special(F.softsign), NONE, NONE, -4, 4, "same"),
    "tanhshrink": (1, exact(lambda x: x - np.tanh(x)), NONE, NONE, -4, 4, "same"),
    "prelu": (2, lambda x, w: np.where(x > 0, x, x * w), NONE, NONE, -4, 4, "same"),
    "leaky_relu": (1, special(lambda x: F.leaky_relu(x, 0.25)), NONE, NONE, -4, 4, "same"),
    "elu": (1, exact(lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))), NONE, NONE, -4, 4, "same"),
    "celu": (1, exact(lambda x: np.where(x > 0, x, 0.5 * np.expm1(x / 0.5))), NONE, NONE, -4, 4, "same"),
    "hardtanh": (1, special(lambda x: F.hardtanh(x, -2, 3)), NONE, NONE, -4, 4, "same"),
    "softshrink": (1, lambda x: np.where(np.isnan(x), x, special(lambda v: F.softshrink(v, 0.5))(x)), NONE, NONE, -4, 4, "same"),
    "hardshrink": (1, special(lambda x: F.hardshrink(x, 0.5)), NONE, NONE, -4, 4, "same"),
    "threshold": (1, special(lambda x: F.threshold(x, 1, -3)), NONE, NONE, -4, 4, "same"),
    "positive": (1, np.positive, np.positive, NONE, -50, 50, "same"),
    "frac": (1, special(torch.frac), NONE, NONE, -50, 50, "same"),
    "gcd": (2, NONE, whole(math.gcd), NONE, -99, 99, "same"),
    "lcm": (2, NONE, whole(math.lcm), NONE, -99, 99, "same"),
    "nextafter": (2, nextafter, NONE, NONE, -4, 4, "same"),
    "frexp_mantissa": (1, lambda x: np.frexp(x)[0], NONE, NONE, -50, 50, "same"),
    "frexp_exponent": (1, lambda x: np.frexp(x)[1], NONE, NONE, -50, 50, "same"),
    "isposinf": (1, np.isposinf, lambda x: np.zeros(x.shape, bool), lambda x: np.zeros(x.shape, bool), -3, 3, "bool"),
    "isneginf": (1, np.isneginf, lambda x: np.zeros(x.shape, bool), lambda x: np.zeros(x.shape, bool), -3, 3, "bool"),
    "logaddexp2": (2, np.logaddexp2, NONE, NONE, -9, 9, "same"),
    "xlog1py": (2, special(torch.special.xlog1py), NONE, NONE, 0.1, 9, "same"),
    "entr": (1, special(torch.special.entr), NONE, NONE, 0.1, 9, "same"),
    "lgamma": (1, special(torch.lgamma), NONE, NONE, -6, 20, "same"),
    "digamma": (1, exact(digamma), NONE, NONE, -6, 20, "same"),
    "trigamma": (1, exact(trigamma), NONE, NONE, -6, 20, "same"),
    "erfinv": (1, special(torch.erfinv), NONE, NONE, -1, 1, "same"),
    "erfcx": (1, special(torch.special.erfcx), NONE, NONE, -4, 9, "same"),
    "ndtr": (1, special(lambda x: torch.erfc(-x / 2**0.5) / 2), NONE, NONE, -4, 4, "same"),
    "ndtri": (1, special(torch.special.ndtri), NONE, NONE, 0, 1, "same"),
    "log_ndtr": (1, special(torch.special.log_ndtr), NONE, NONE, -9, 4, "same"),
    "i0": (1, special(torch.special.i0), NONE, NONE, -20, 20, "same"),
    "i0e": (1, special(torch.special.i0e), NONE, NONE, -20, 20, "same"),
    "i1": (1, special(torch.special.i1), NONE, NONE, -20, 20, "same"),
    "i1e": (1, special(torch.special.i1e), NONE, NONE, -20, 20, "same"),
}


def rows():
    for name, (arity, on_floats, on_integers, on_bool, low, high, result) in ROWS.items():
        for dtype in FLOATS + INTEGERS + ["bool"]:
            f = on_floats if dtype in FLOATS else on_bool if dtype == "bool" else on_integers
            if f is None:
                continue
            if f is nextafter:
                f = nextafter(dtype)
            x = operands(dtype, arity, low, high)
            case(f"row/{name}/{dtype}/0", x, dtype, f(*x), "bool" if result == "bool" else dtype)
            grid = [values(dtype, low, high, n).reshape(s) for n, s in [(6, (2, 3)), (3, (3,)), (2, (2, 1))][:arity]]
            case(f"row/{name}/{dtype}/1", grid, dtype, f(*grid), "bool" if result == "bool" else dtype)
            one = [values(dtype, low, high, 1).reshape(()) for _ in range(arity)]
            case(f"row/{name}/{dtype}/2", one, dtype, f(*one), "bool" if result == "bool" else dtype)
            none = [values(dtype, low, high, 0).reshape((2, 0)) for _ in range(arity)]
            case(f"row/{name}/{dtype}/3", none, dtype, np.zeros((2, 0)), "bool" if result == "bool" else dtype)


# ---- gradients: name -> (function, low, high), by PyTorch's autograd ----

GRADIENTS = {
    "remainder": (torch.remainder, -9, 9), "fmod": (torch.fmod, -9, 9),
    "mul": (torch.mul, -4, 4), "div": (torch.div, 0.5, 4), "pow": (torch.pow, 0.5, 3), "abs": (torch.abs, -4, 4), "square": (torch.square, -4, 4),
    "reciprocal": (torch.reciprocal, 0.5, 4), "rsqrt": (torch.rsqrt, 0.25, 9), "fmax": (torch.fmax, -4, 4), "fmin": (torch.fmin, -4, 4),
    "hypot": (torch.hypot, -4, 4), "copysign": (torch.copysign, -4, 4), "maximum": (torch.maximum, -4, 4), "minimum": (torch.minimum, -4, 4),
    "deg2rad": (torch.deg2rad, -180, 180), "rad2deg": (torch.rad2deg, -4, 4), "frac": (torch.frac, -4, 4), "positive": (torch.positive, -4, 4),
    "frexp_mantissa": (lambda x: torch.frexp(x)[0], -4, 4), "ldexp": (lambda a, b: a * torch.pow(2.0, b), -4, 4), "lerp": (torch.lerp, -2, 2),
    "exp": (torch.exp, -4, 4), "exp2": (torch.exp2, -4, 4), "expm1": (torch.expm1, -4, 4), "log": (torch.log, 0.25, 9), "log2": (torch.log2, 0.25, 9),
    "log10": (torch.log10, 0.25, 9), "log1p": (torch.log1p, -0.75, 9), "xlogy": (torch.special.xlogy, 0.25, 4), "xlog1py": (torch.special.xlog1py, 0.25, 4),
    "entr": (torch.special.entr, 0.25, 4), "logaddexp": (torch.logaddexp, -4, 4), "logaddexp2": (torch.logaddexp2, -4, 4), "logit": (torch.logit, 0.05, 0.95),
    "sqrt": (torch.sqrt, 0.25, 9), "sin": (torch.sin, -9, 9), "cos": (torch.cos, -9, 9), "tan": (torch.tan, -1.4, 1.4), "asin": (torch.asin, -0.95, 0.95),
    "acos": (torch.acos, -0.95, 0.95), "atan": (torch.atan, -9, 9), "atan2": (torch.atan2, -4, 4), "sinh": (torch.sinh, -4, 4), "cosh": (torch.cosh, -4, 4),
    "tanh": (torch.tanh, -3, 3), "asinh": (torch.asinh, -9, 9), "acosh": (torch.acosh, 1.1, 9), "atanh": (torch.atanh, -0.95, 0.95), "sinc": (torch.sinc, -3, 3),
    "erf": (torch.erf, -3, 3), "erfc": (torch.erfc, -3, 3), "erfinv": (torch.erfinv, -0.95, 0.95), "erfcx": (torch.special.erfcx, -3, 3),
    "lgamma": (torch.lgamma, -4, 12), "ndtr": (torch.special.ndtr, -3, 3), "ndtri": (torch.special.ndtri, 0.05, 0.95),
    "log_ndtr": (torch.special.log_ndtr, -9, 3), "i0": (torch.special.i0, -9, 9), "i0e": (torch.special.i0e, -9, 9), "i1": (torch.special.i1, -9, 9),
    "i1e": (torch.special.i1e, -9, 9), "relu": (torch.relu, -4, 4), "sigmoid": (torch.sigmoid, -4, 4), "gelu": (F.gelu, -3, 3), "relu6": (F.relu6, -4, 9),
    "selu": (F.selu, -4, 4), "hardswish": (F.hardswish, -4, 4), "silu": (F.silu, -4, 4), "mish": (F.mish, -4, 4),
    "softplus": (F.softplus, -4, 4), "logsigmoid": (F.logsigmoid, -4, 4), "softsign": (F.softsign, -4, 4), "tanhshrink": (F.tanhshrink, -4, 4),
}


def gradients():
    for name, (f, low, high) in GRADIENTS.items():
        arity = ROWS[name][0] if name in ROWS else 3 if name == "lerp" else 2
        x = [t(values("f64", low, high, 8)).requires_grad_() for _ in range(arity)]
        up = t(values("f64", -1, 1, 8))
        out = f(*x)
        for letter, g in zip("pqr", torch.autograd.grad(out, x, up)):
            put(f"gradient/{name}/f64/0/{letter}", g.numpy(), "f64")
        put(f"gradient/{name}/f64/0/u", up.numpy(), "f64")
        case(f"gradient/{name}/f64/0", [v.detach().numpy() for v in x], "f64", out.detach().numpy(), "f64")


# ---- reductions: name -> (function(x, axis, keepdims), dtypes, result of an integer and of a float) ----

def wide(dtype):
    return dtype if dtype in FLOATS else "u64" if dtype in UNSIGNED else "i64"


def first_nan_argmax(x, axis, keepdims):
    return np.argmax(x, axis=axis, keepdims=keepdims)  # NumPy takes the first NaN, too


REDUCTIONS = {
    "sum": (lambda x, a, k, d: np.sum(x, axis=a, keepdims=k, dtype=np.float64 if d in FLOATS else NUMPY[wide(d)]), FLOATS + INTEGERS + ["bool"], wide),
    "mean": (lambda x, a, k, d: np.mean(x, axis=a, keepdims=k), FLOATS, lambda d: d),
    "max": (lambda x, a, k, d: np.max(x, axis=a, keepdims=k), FLOATS + INTEGERS + ["bool"], lambda d: d),
    "argmax": (lambda x, a, k, d: first_nan_argmax(x, a, k), FLOATS + INTEGERS + ["bool"], lambda d: "i64"),
}
SHAPES = [((5,), [0]), ((3, 4), [0, 1, None]), ((2, 3, 4), [1, (0, 2), None]), ((1, 7, 1), [1, 0]), ((), [None])]


def reductions():
    for name, (f, dtypes, result) in REDUCTIONS.items():
        for dtype in dtypes:
            for number, (shape, axes) in enumerate(SHAPES):
                for axis in axes:
                    if name == "argmax" and isinstance(axis, tuple):
                        continue
                    x = values(dtype, -50, 50, int(np.prod(shape))).reshape(shape)
                    if number == 1 and dtype in FLOATS:
                        x[1, 2] = np.nan
                    text = "all" if axis is None else ",".join(str(a) for a in (axis if isinstance(axis, tuple) else (axis,)))
                    for keep in (False, True):
                        case(f"reduce/{name}/{dtype}/{number}/{text}/{int(keep)}", [x], dtype, f(x, axis, keep, dtype), result(dtype))


# ---- along an axis ----

def softmaxes():
    for name, f in [("softmax", torch.softmax), ("log_softmax", torch.log_softmax)]:
        for dtype in FLOATS:
            for number, (shape, axis) in enumerate([((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((1, 33), 1), ((6, 1), 1)]):
                x = values(dtype, -9, 9, int(np.prod(shape))).reshape(shape)
                if number == 1:
                    x[:, 1] = -np.inf
                    x[0, 2] = np.nan
                    x[1, 3] = np.inf
                case(f"axis/{name}/{dtype}/{number}/{axis}", [x], dtype, f(t(x), axis).numpy(), dtype)


# ---- casts ----

def cast(x, dtype):
    if dtype in FLOATS:
        return np.asarray(x, np.float64)
    if dtype == "bool":
        return x != 0
    if x.dtype.kind != "f":
        return x.astype(NUMPY[dtype])
    info = np.iinfo(NUMPY[dtype])
    exact = [0 if np.isnan(v) else int(info.max) if v >= info.max else int(info.min) if v <= info.min else int(v) for v in x]
    return np.array(exact, NUMPY[dtype])


def casts():
    for source in FLOATS + INTEGERS + ["bool"]:
        for to in FLOATS + INTEGERS + ["bool"]:
            if to in ("f16", "bf16", "f32") and source in ("i64", "u64"):
                continue  # not exact in f64 first: tests/test_sweep.c has those
            x = np.concatenate([edges(source), values(source, -300, 70000, 16).astype(edges(source).dtype)])
            put(f"cast/{source}/{to}/a", x, source)
            put(f"cast/{source}/{to}/out", cast(x, to), to)
            global cases
            cases += 1


# ---- products: einsum's equations, and calls on f32, f64 and i32 ----

EINSUMS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]),
    ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("iij->j", [(2, 2, 3)]), ("i,i->", [(5,), (5,)]), ("i,j->ij", [(2,), (3,)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bij,bjk->ik", [(2, 3, 4), (2, 4, 5)]), ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
    ("...i->...", [(2, 3, 4)]), ("i...->...i", [(2, 3, 4)]), ("ij,ij->ij", [(2, 3), (2, 3)]), ("ij,ij->i", [(2, 3), (2, 3)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("ij,ik,jk->i", [(2, 3), (2, 4), (3, 4)]), ("a,b,c->abc", [(2,), (3,), (4,)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), ("zB,Bz->", [(2, 3), (3, 2)]), ("ba", [(2, 3)]), ("->", [()]), (",i->i", [(), (3,)]),
    ("ij,jk->ki", [(2, 3), (3, 4)]), ("i j , j k -> i k", [(2, 3), (3, 4)]), ("ij,kj->ik", [(1, 3), (4, 1)]), ("ij,jk->ik", [(2, 0), (0, 3)]),
    ("abcde,edcba->ace", [(2, 1, 3, 2, 2), (2, 2, 3, 1, 2)]), ("ijk,jil->kl", [(3, 4, 5), (4, 3, 2)]), ("i,i->i", [(0,), (0,)]),
]


def products():
    for number, (equation, shapes) in enumerate(EINSUMS):
        for dtype in ("f32", "f64", "i32", "i64"):
            x = [values(dtype, -9, 9, int(np.prod(s))).reshape(s) for s in shapes]
            case(f"einsum/{equation}/{dtype}/{number}", x, dtype, np.einsum(equation.replace(" ", ""), *x), dtype)


CALLS = [
    ("dot", np.dot, [(5,), (5,)]), ("inner", np.inner, [(2, 3), (4, 3)]), ("inner", np.inner, [(2, 3, 4), (5, 4)]), ("inner", np.inner, [(), (3,)]),
    ("inner", np.inner, [(3,), (3,)]), ("outer", np.outer, [(2,), (3,)]), ("mv", np.matmul, [(2, 3), (3,)]), ("mm", np.matmul, [(2, 3), (3, 4)]),
    ("bmm", np.matmul, [(2, 3, 4), (2, 4, 5)]), ("addmm", lambda c, a, b: 2 * c + 3 * (a @ b), [(4,), (2, 3), (3, 4)]),
    ("baddbmm", lambda c, a, b: 2 * c + 3 * (a @ b), [(2, 3, 5), (2, 3, 4), (2, 4, 5)]), ("matrix_power3", lambda x: np.linalg.matrix_power(x, 3), [(3, 3)]),
    ("matrix_power0", lambda x: np.linalg.matrix_power(x, 0), [(2, 3, 3)]), ("matrix_power5", lambda x: np.linalg.matrix_power(x, 5), [(2, 3, 3)]),
    ("tensordot", lambda a, b: np.tensordot(a, b, ([0, 1], [1, 0])), [(3, 4, 5), (4, 3, 2)]), ("kron", np.kron, [(2, 3), (3, 2)]),
    ("kron", np.kron, [(3,), (2, 2)]), ("kron", np.kron, [(), (2,)]), ("cross", np.cross, [(4, 3), (4, 3)]), ("cross", np.cross, [(3,), (2, 3)]),
    ("triu", np.triu, [(3, 4)]), ("tril", np.tril, [(2, 3, 3)]),
]


def calls():
    for number, (name, f, shapes) in enumerate(CALLS):
        for dtype in ("f32", "f64", "i32"):
            x = [values(dtype, -4, 4, int(np.prod(s))).reshape(s) for s in shapes]
            case(f"call/{name}/{dtype}/{number}", x, dtype, f(*x), dtype)
    for number, p in enumerate((0.0, 1.0, 1.5, 2.0, np.inf)):
        for dtype in ("f32", "f64"):
            a, b = values(dtype, -4, 4, 12).reshape(4, 3), values(dtype, -4, 4, 15).reshape(5, 3)
            case(f"call/cdist{p}/{dtype}/{number}", [a, b], dtype, torch.cdist(t(a), t(b), p).numpy(), dtype)


# ---- sorting: sort/OPERATION/DTYPE/NUMBER/AXES/ARGUMENT ----

SORTED = [((7,), 0), ((33,), -1), ((4, 5), 0), ((3, 2, 6), 1), ((2, 9), 1), ((2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 4), 3), ((), 0)]


def tied(dtype, shape):
    """Few different values, so that there are ties; NaN and infinities among those of floats."""
    few = edges(dtype)
    pool = np.concatenate([few, few[:3], values(dtype, -3, 3, 4).astype(few.dtype)])
    return pool[rng.integers(0, len(pool), int(np.prod(shape)))].reshape(shape)


def in_order(x, axis, descending):
    """Places of a stable sort, NaN as the greatest."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


def same(a, b):
    assert np.array_equal(a, np.asarray(b), equal_nan=a.dtype.kind == "f"), (a, b)


def sort_case(name, x, dtype, value, place):
    global cases
    put(f"sort/{name}/a", x, dtype)
    put(f"sort/{name}/out", value, dtype)
    if place is not None:
        put(f"sort/{name}/at", place, "i64")
    cases += 1


def ranked(dtype, number, x, axis):
    """sort, topk, kthvalue, median and mode of one operand; PyTorch has the last word on values where it knows the dtype."""
    line, a = (x.reshape(1), 0) if x.ndim == 0 else (x, axis % x.ndim)
    n = line.shape[a]
    known = dtype in ("f32", "f64", "i8", "i16", "i32", "i64", "u8")
    shape = lambda y: y.reshape(x.shape) if x.ndim == 0 else y
    part = lambda y, first, count: np.take(y, range(first, first + count), a)
    gone = lambda y: np.squeeze(y, a)
    for descending in (False, True):
        place = in_order(line, a, descending)
        value = np.take_along_axis(line, place, a)
        if known:
            same(value, torch.sort(t(line), a, descending)[0])
        sort_case(f"sort/{dtype}/{number}/{axis}/{int(descending)}", x, dtype, shape(value), shape(place))
        k = (n + 1) // 2
        sort_case(f"topk/{dtype}/{number}/{axis}/{k if descending else -k}", x, dtype, shape(part(value, 0, k)), shape(part(place, 0, k)))
        if known:
            same(part(value, 0, k), torch.topk(t(line), k, a, descending)[0])
        if not descending:
            sort_case(f"kthvalue/{dtype}/{number}/{axis}/{k}", x, dtype, gone(part(value, k - 1, 1)), gone(part(place, k - 1, 1)))
            if known:
                same(gone(part(value, k - 1, 1)), torch.kthvalue(t(line), k, a)[0])
            medians(dtype, number, x, axis, a, value, place, known and t(line))


def medians(dtype, number, x, axis, a, value, place, given):
    there = np.sum(value == value, a, keepdims=True)
    n = value.shape[a]
    for name, middle, f in (("median", np.where(there < n, there, (n - 1) // 2), torch.median),
                            ("nanmedian", (np.maximum(there, 1) - 1) // 2, torch.nanmedian)):
        v, at = (np.squeeze(np.take_along_axis(y, middle, a), a) for y in (value, place))
        if given is not False:
            same(v, f(given, a)[0])
        sort_case(f"{name}/{dtype}/{number}/{axis}/0", x, dtype, v, at)


def extremes(dtype, number, x, axis):
    """PyTorch's own indices; its f64 and i64 stand for the other dtypes but u64."""
    y = t(x.astype(np.float64 if x.dtype.kind == "f" else np.int64))
    for name, f in (("max_with_index", torch.max), ("min_with_index", torch.min), ("cummax_with_index", torch.cummax),
                    ("cummin_with_index", torch.cummin), ("mode", torch.mode)):
        v, at = f(y, axis)
        if name == "mode" and x.dtype.kind == "f" and np.isnan(x).any():
            continue  # PyTorch's choice among NaN depends on how it sorts
        if name == "mode" and x.ndim:  # the last occurrence: PyTorch's own sort is not stable beyond 16 elements
            a = axis % x.ndim
            at = t(x.shape[a] - 1 - np.argmax(np.flip(x == np.expand_dims(v.numpy(), a), a), a))
        sort_case(f"{name}/{dtype}/{number}/{axis}/0", x, dtype, v.numpy(), at.numpy())


def quantiles(dtype):
    for number, (shape, axis) in enumerate([((9,), 0), ((3, 10), 1), ((6, 4), 0)]):
        x = values(dtype, -9, 9, int(np.prod(shape))).reshape(shape)
        for nan in (False, True):
            if nan:
                x = x.copy()
                x.flat[:: 4] = np.nan
            for mode in ("linear", "lower", "higher", "midpoint", "nearest"):
                for q in (0.0, 0.25, 0.4, 1.0):
                    for name, f in (("quantile", torch.quantile), ("nanquantile", torch.nanquantile)):
                        y = f(t(x), q, axis, interpolation=mode).numpy()
                        sort_case(f"{name}/{dtype}/{number * 2 + nan}/{axis}/{mode}{q}", x, dtype, y, None)


def sorts():
    for dtype in FLOATS + INTEGERS + ["bool"]:
        for number, (shape, axis) in enumerate(SORTED):
            x = tied(dtype, shape)
            ranked(dtype, number, x, axis)
            if dtype != "u64":
                extremes(dtype, number, x, axis)
    for dtype in FLOATS:
        quantiles(dtype)


# ---- gradients of whole calls: backward/NAME/VARIANT, operands a, b, …, their gradients p, q, …; tests/support/torch.def has the calls ----

INF, NAN = math.inf, math.nan
LETTERS, OF_GRADIENTS = "abcd", "pqrs"


def spread(shape):
    """Different numbers, none of them 0."""
    n = int(np.prod(shape))
    return (rng.permutation(n) + rng.uniform(0.2, 0.8, n)).reshape(shape) * (3.0 / max(n, 1)) * rng.choice([-1, 1], n).reshape(shape)


def few(shape):
    """Ties and zeros."""
    return rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], int(np.prod(shape))).reshape(shape)


def holes(shape):
    """Some NaN."""
    x = spread(shape).reshape(-1)
    x[:: 3] = NAN
    return x.reshape(shape)


def positive(shape):
    return np.abs(spread(shape)) + 0.1


def definite(shape):
    x = spread(shape)
    return x @ np.swapaxes(x, -1, -2) + 3 * np.eye(shape[-1])


def strong(shape):
    return spread(shape) + 6 * np.eye(shape[-1])


def lower(shape):
    return np.tril(spread(shape)) + 4 * np.eye(shape[-1])


def given(*numbers):
    return lambda shape: np.array(numbers, np.float64).reshape(shape)


def whole(*numbers):
    return lambda shape: np.array(numbers, np.int64).reshape(shape)


def truth(*numbers):
    return lambda shape: np.array(numbers, np.bool_).reshape(shape)


PLAIN, TIES, HOLES = "plain", "ties", "nan"
KINDS = {PLAIN: spread, TIES: few, HOLES: holes}
ALL = (PLAIN, TIES, HOLES)
BUT_NAN = (PLAIN, TIES)

# Left out, where the contract and PyTorch 1.13 differ or PyTorch has no choice of its own:
#   ties of median over all axes (PyTorch shares them, here the index takes all), of topk, kthvalue, mode and of sorting in
#   descending order or beyond 16 elements (PyTorch's sort is not stable), of cdist for inf (PyTorch does not share them)
#   scatter, index_copy, index_fill and put with two updates of an element (PyTorch gives the gradient to all of them, the contract
#   to the last, which stays); scatter_reduce for amax and amin without itself (PyTorch lets an equal element of x share)
#   NaN under amax, amin, norms and maximum (PyTorch: 0/0 or nothing at all, from function to function)
#   logsumexp and logcumsumexp of -inf (PyTorch: NaN; here 0 where exp(-inf) is), hypot at (0, 0) (PyTorch: NaN; here 0, as of a norm)
#   abs and sign of NaN (PyTorch's sign is 0 there, the contract's NaN), clamp of NaN (PyTorch: 0, but hardtanh lets the gradient through)
#   det of a singular matrix (PyTorch disturbs the factors), the half of a factor that cholesky_solve does not read (PyTorch: not 0)
# name: (function, operands, variants); an operand is a shape, which the variant fills, or a shape and who fills it


def where_0(a, b):
    return torch.where(b == 0, torch.zeros((), dtype=a.dtype), a / b)


def reduced(how, self_too):
    return lambda x, i, s: torch.scatter_reduce(x, 1, i, s, how, include_self=self_too)


def by_index(how, self_too):
    return lambda x, i, s: torch.index_reduce(x, 0, i, s, how, include_self=self_too)


PLACES = ((2, 4), whole(0, 2, 0, 0, 1, 1, 2, 1))
APART = ((2, 3), whole(0, 3, 1, 1, 2, 0))
ROWS_AT = ((3,), whole(2, 2, 0))
MASK = ((2, 3), truth(1, 0, 1, 0, 1, 0))
norms = {"1": 1, "2": 2, "3": 3, "half": 0.5, "1_5": 1.5, "inf": INF, "minf": -INF, "m2": -2}

BACKWARD = {
    # elementwise, broadcast
    "add": (torch.add, [(2, 3), (3,)], ALL), "sub": (torch.sub, [(2, 1), (1, 3)], ALL), "mul": (torch.mul, [(2, 3), ()], ALL),
    "div": (torch.div, [(2, 3), (2, 1)], ALL), "pow": (torch.pow, [((2, 3), positive), ((3,), spread)], None),
    "pow_0": (torch.pow, [((4,), given(0, 0, 0, 2)), ((4,), given(0, 1, 2, 0))], None),
    "maximum": (torch.maximum, [(2, 3), (3,)], BUT_NAN), "minimum": (torch.minimum, [(2, 3), (2, 1)], BUT_NAN),
    "fmax": (torch.fmax, [(2, 3), (3,)], (PLAIN,)), "fmin": (torch.fmin, [(2, 3), (3,)], (PLAIN,)),
    "abs": (torch.abs, [(2, 3)], BUT_NAN), "relu": (torch.relu, [(2, 3)], ALL), "sqrt": (torch.sqrt, [(4,)], ALL),
    "square": (torch.square, [(2, 3)], ALL), "exp": (torch.exp, [(2, 3)], ALL), "sign_mul": (lambda a: torch.sign(a) * a, [(2, 3)], BUT_NAN),
    "where": (lambda a, b: torch.where(torch.tensor([True, False, True]), a, b), [(2, 3), (3,)], ALL),
    "where_0": (where_0, [(3,), (3,)], ALL), "clamp": (lambda a: torch.clamp(a, -1, 1), [(2, 4)], BUT_NAN),
    "clamp_low": (lambda a: torch.clamp_min(a, 0.5), [(2, 4)], BUT_NAN),
    "xlogy": (torch.special.xlogy, [((2, 3), positive), ((3,), positive)], None), "atan2": (torch.atan2, [(2, 3), (3,)], (PLAIN, HOLES)),
    "hypot": (torch.hypot, [(2, 3), (3,)], (PLAIN, HOLES)), "logaddexp": (torch.logaddexp, [(2, 3), (2, 1)], BUT_NAN),
    "lerp": (lambda a, b: torch.lerp(a, b, 0.3), [(2, 3), (2, 3)], ALL), "addcmul": (lambda a, b, c: torch.addcmul(a, b, c, value=0.5), [(2, 3), (3,), (2, 1)], ALL),
    "addcdiv": (lambda a, b, c: torch.addcdiv(a, b, c, value=-2), [(2, 3), (3,), (2, 1)], (PLAIN, HOLES)),
    "nan_to_num": (lambda a: torch.nan_to_num(a, 1, 2, 3), [(2, 3)], ALL), "frexp": (lambda a: torch.frexp(a)[0], [(2, 3)], (PLAIN,)),
    "float_power": (lambda a: torch.float_power(a, 3), [(2, 3)], ALL), "gelu": (F.gelu, [(2, 3)], ALL),
    "leaky_relu": (lambda a: F.leaky_relu(a, 0.25), [(2, 3)], ALL), "hardtanh": (lambda a: F.hardtanh(a), [(2, 3)], (PLAIN, HOLES)),
    "softplus": (F.softplus, [(2, 3)], BUT_NAN), "elu": (F.elu, [(2, 3)], BUT_NAN),
    # views and movement
    "transpose": (lambda a: torch.transpose(a, 0, 2), [(2, 3, 2)], ALL), "permute": (lambda a: a.permute(2, 0, 1), [(2, 3, 2)], (PLAIN,)),
    "movedim": (lambda a: torch.movedim(a, (0, 1), (-1, 0)), [(2, 3, 4)], (PLAIN,)), "slice": (lambda a: a[1::2], [(5, 3)], ALL),
    "select": (lambda a: a.select(1, -2), [(3, 4)], ALL), "expand": (lambda a: a.expand(2, 3, 4), [(3, 1)], ALL),
    "flip": (lambda a: torch.flip(a, (0, 1)), [(2, 3)], (PLAIN,)), "diagonal": (lambda a: torch.diagonal(a, 1), [(3, 4)], ALL),
    "unfold": (lambda a: a.unfold(0, 3, 2), [(7, 2)], ALL), "as_strided": (lambda a: torch.as_strided(a, (2, 3), (3, 2), 1), [(3, 4)], ALL),
    "rot90": (torch.rot90, [(2, 3)], (PLAIN,)), "reshape": (lambda a: a.transpose(0, 2).reshape(-1), [(3, 2, 2)], (PLAIN,)),
    "diag": (lambda a: torch.diag(a, 1), [(3,)], (PLAIN,)), "diag_2": (lambda a: torch.diag(a, -1), [(3, 4)], (PLAIN,)),
    "diag_embed": (lambda a: torch.diag_embed(a, 1, 0, -1), [(2, 3)], (PLAIN,)), "triu": (lambda a: torch.triu(a, 1), [(2, 3, 3)], ALL),
    "tril": (lambda a: torch.tril(a, -1), [(3, 4)], ALL), "tile": (lambda a: torch.tile(a, (2, 1, 2)), [(2, 3)], ALL),
    "repeat": (lambda a: a.repeat(2, 3, 1), [(2, 3)], (PLAIN,)), "repeat_interleave": (lambda a: torch.repeat_interleave(a, 3, 0), [(2, 3)], (PLAIN,)),
    "roll": (lambda a: torch.roll(a, (1, -2), (0, 1)), [(3, 4)], ALL), "roll_all": (lambda a: torch.roll(a, 5), [(3, 4)], (PLAIN,)),
    "pad": (lambda a: F.pad(a, (0, 2, 1, 0)), [(2, 3)], ALL), "pad_off": (lambda a: F.pad(a, (2, -2, -1, 1), value=3), [(4, 3)], (PLAIN,)),
    "pad_reflect": (lambda a: F.pad(a, (2, 3), "reflect"), [(2, 4)], ALL), "pad_replicate": (lambda a: F.pad(a, (2, 3), "replicate"), [(2, 4)], ALL),
    "pad_circular": (lambda a: F.pad(a[None], (2, 3), "circular")[0], [(2, 4)], ALL),
    # joining
    "cat": (lambda a, b, c: torch.cat((a, b, c)), [(2, 3), (1, 3), (2, 3)], ALL), "cat_twice": (lambda a, b: torch.cat((a, b, a), -1), [(2, 1), (2, 3)], ALL),
    "stack": (lambda a, b: torch.stack((a, b), 1), [(2, 3), (2, 3)], ALL), "hstack": (lambda a, b: torch.hstack((a, b)), [(3,), (2,)], (PLAIN,)),
    "vstack": (lambda a, b: torch.vstack((a, b)), [(3,), (2, 3)], (PLAIN,)), "dstack": (lambda a, b: torch.dstack((a, b)), [(2, 3), (2, 3)], (PLAIN,)),
    "block_diag": (torch.block_diag, [(2, 3), (), (2,)], (PLAIN,)),
    # reductions
    "sum": (lambda a: torch.sum(a, (0, 2), True), [(2, 3, 2)], ALL), "mean": (lambda a: torch.mean(a, -1), [(2, 3)], ALL),
    "prod": (lambda a: torch.prod(a, 1), [(3, 4)], ALL), "prod_all": (torch.prod, [(4,)], ALL),
    "prod_0": (torch.prod, [((3,), given(0, 2, 3))], None), "prod_00": (torch.prod, [((3,), given(0, 2, 0))], None),
    "amax": (lambda a: torch.amax(a, (0, 2)), [(2, 3, 2)], BUT_NAN), "amin": (lambda a: torch.amin(a, 1, True), [(2, 5)], BUT_NAN),
    "max_all": (torch.max, [(2, 3)], BUT_NAN), "max": (lambda a: torch.max(a, 1)[0], [(3, 4)], ALL), "min": (lambda a: torch.min(a, 0)[0], [(3, 4)], ALL),
    "var": (lambda a: torch.var(a, 1), [(2, 4)], ALL), "var_0": (lambda a: torch.var(a, (0, 1), unbiased=False), [(2, 4)], ALL),
    "std": (lambda a: torch.std(a, 1), [(2, 4)], ALL), "std_0": (lambda a: torch.std(a, 0), [((3, 2), given(1, 1, 1, 2, 1, 3))], None),
    "logsumexp": (lambda a: torch.logsumexp(a, 1), [(2, 3)], ALL), "nansum": (lambda a: torch.nansum(a, 1), [(2, 3)], ALL),
    "nanmean": (lambda a: torch.nanmean(a, 1), [(2, 4)], ALL), "cov": (torch.cov, [(2, 4)], ALL), "corrcoef": (torch.corrcoef, [(3, 5)], (PLAIN, HOLES)),
    # along an axis
    "softmax": (lambda a: torch.softmax(a, 1), [(3, 4)], ALL), "log_softmax": (lambda a: torch.log_softmax(a, 0), [(3, 4)], ALL),
    "cumsum": (lambda a: torch.cumsum(a, 0), [(3, 4)], ALL), "cumprod": (lambda a: torch.cumprod(a, 1), [(3, 4)], ALL),
    "cumprod_0": (lambda a: torch.cumprod(a, 0), [((4,), given(3, 0, 2, 5))], None), "cumprod_00": (lambda a: torch.cumprod(a, 0), [((5,), given(3, 0, 2, 0, 4))], None),
    "cummax": (lambda a: torch.cummax(a, 1)[0], [(2, 5)], ALL), "cummin": (lambda a: torch.cummin(a, 0)[0], [(5, 2)], ALL),
    "logcumsumexp": (lambda a: torch.logcumsumexp(a, 1), [(2, 4)], BUT_NAN), "diff": (lambda a: torch.diff(a, 2), [(3, 4)], ALL),
    "trapezoid": (torch.trapezoid, [(3, 4), (4,)], ALL), "cumulative_trapezoid": (lambda a: torch.cumulative_trapezoid(a, dx=0.5), [(3, 4)], ALL),
    "normalize": (lambda a: F.normalize(a, dim=1), [(3, 4)], BUT_NAN), "cosine_similarity": (lambda a, b: F.cosine_similarity(a, b, 1), [(3, 4), (3, 4)], (PLAIN,)),
    # sorting
    "sort": (lambda a: torch.sort(a, 1)[0], [(3, 4)], ALL), "sort_down": (lambda a: torch.sort(a, 0, True)[0], [(5, 2)], (PLAIN,)),
    "msort": (torch.msort, [(5, 2)], (PLAIN,)), "topk": (lambda a: torch.topk(a, 2, 1)[0], [(3, 4)], (PLAIN,)),
    "kthvalue": (lambda a: torch.kthvalue(a, 2, 1)[0], [(3, 4)], (PLAIN,)), "median": (lambda a: torch.median(a, 1)[0], [(3, 4)], (PLAIN,)),
    "median_all": (torch.median, [(3, 3)], (PLAIN,)), "nanmedian": (lambda a: torch.nanmedian(a, 1)[0], [(3, 5)], (PLAIN, HOLES)),
    "mode": (lambda a: torch.mode(a, 1)[0], [(3, 4)], (PLAIN,)), "quantile": (lambda a: torch.quantile(a, 0.3, 1), [(3, 5)], ALL),
    "quantile_mid": (lambda a: torch.quantile(a, 0.3, 1, interpolation="midpoint"), [(3, 5)], (PLAIN,)),
    "quantile_low": (lambda a: torch.quantile(a, 0.3, 1, interpolation="lower"), [(3, 5)], (PLAIN,)),
    "nanquantile": (lambda a: torch.nanquantile(a, 0.3, 1), [(3, 7)], (PLAIN, HOLES)),
    # index
    "gather": (lambda a, i: torch.gather(a, 1, i), [((3, 4), spread), ((2, 3), whole(0, 2, 2, 1, 0, 0))], None),
    "take_along": (lambda a, i: torch.take_along_dim(a, i, 1), [((3, 4), spread), ((1, 3), whole(0, 2, 2))], None),
    "index_select": (lambda a, i: torch.index_select(a, 0, i), [((3, 4), spread), ROWS_AT], None),
    "take": (torch.take, [((3, 4), spread), ((2, 3), whole(0, 11, 11, 1, 0, 5))], None),
    "masked_fill": (lambda a, m, v: torch.masked_fill(a, m, v), [((2, 3), spread), MASK, ((), spread)], None),
    "masked_select": (torch.masked_select, [((2, 3), spread), MASK], None), "masked_select_wide": (torch.masked_select, [((2, 1), spread), ((3,), truth(1, 0, 1))], None),
    "masked_scatter": (lambda a, m, s: a.masked_scatter(m, s), [((2, 3), spread), MASK, ((4,), spread)], None),
    "scatter": (lambda x, i, s: torch.scatter(x, 1, i, s), [((2, 4), spread), ((2, 3), whole(0, 3, 1, 1, 2, 0)), ((2, 3), spread)], None),
    "scatter_add": (lambda x, i, s: torch.scatter_add(x, 1, i, s), [((2, 3), spread), PLACES, ((2, 4), spread)], None),
    "index_add": (lambda x, i, s: torch.index_add(x, 0, i, s), [((3, 2), spread), ROWS_AT, ((3, 2), spread)], None),
    "index_copy": (lambda x, i, s: torch.index_copy(x, 0, i, s), [((4, 2), spread), ((2,), whole(3, 0)), ((2, 2), spread)], None),
    "index_fill": (lambda x, i, v: torch.index_fill(x, 1, i, v), [((2, 4), spread), ((2,), whole(3, 0)), ((), spread)], None),
    "put": (lambda x, i, s: x.put(i, s, accumulate=True), [((3, 4), spread), ((3,), whole(3, 11, 3)), ((3,), spread)], None),
    "put_over": (lambda x, i, s: x.put(i, s), [((3, 4), spread), ((3,), whole(3, 11, 5)), ((3,), spread)], None),
    # matrices
    "matmul": (torch.matmul, [(2, 3), (3, 4)], ALL), "matmul_batch": (torch.matmul, [(2, 1, 3, 2), (4, 2, 3)], BUT_NAN),
    "matmul_vector": (torch.matmul, [(3,), (2, 3, 4)], BUT_NAN), "matmul_shared": (torch.matmul, [(2, 5, 3), (3, 2)], BUT_NAN),
    "dot": (torch.dot, [(5,), (5,)], BUT_NAN), "inner": (torch.inner, [(2, 3), (4, 3)], BUT_NAN), "outer": (torch.outer, [(2,), (3,)], BUT_NAN),
    "mv": (torch.mv, [(2, 3), (3,)], BUT_NAN), "bmm": (torch.bmm, [(2, 2, 3), (2, 3, 2)], BUT_NAN),
    "addmm": (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), [(2,), (2, 3), (3, 2)], BUT_NAN),
    "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, beta=-1, alpha=3), [(2, 2, 2), (2, 2, 3), (2, 3, 2)], BUT_NAN),
    "matrix_power": (lambda a: torch.matrix_power(a, 5), [(3, 3)], BUT_NAN), "matrix_power_m2": (lambda a: torch.matrix_power(a, -2), [((3, 3), strong)], None),
    "tensordot": (lambda a, b: torch.tensordot(a, b, ([1, 2], [1, 0])), [(2, 3, 4), (4, 3, 2)], BUT_NAN),
    "einsum_ij": (lambda a, b: torch.einsum("ij,jk->ki", a, b), [(2, 3), (3, 4)], BUT_NAN), "einsum_ii": (lambda a: torch.einsum("ii->i", a), [(3, 3)], BUT_NAN),
    "einsum_3": (lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c), [(2, 3), (3, 2), (2, 2)], BUT_NAN),
    "einsum_dots": (lambda a, b: torch.einsum("...ij,...jk->...ik", a, b), [(2, 1, 3, 4), (5, 4, 2)], (PLAIN,)),
    "kron": (torch.kron, [(2, 2), (3,)], BUT_NAN), "trace": (torch.trace, [(3, 4)], ALL),
    "cross": (lambda a, b: torch.linalg.cross(a, b, dim=-1), [(2, 3), (1, 3)], BUT_NAN), "cdist_2": (lambda a, b: torch.cdist(a, b), [(3, 2), (4, 2)], BUT_NAN),
    "cdist_1": (lambda a, b: torch.cdist(a, b, 1), [(3, 2), (4, 2)], BUT_NAN), "cdist_3": (lambda a, b: torch.cdist(a, b, 3), [(3, 2), (2, 2)], BUT_NAN),
    "cdist_inf": (lambda a, b: torch.cdist(a, b, INF), [(3, 2), (2, 2)], (PLAIN,)),
    "cholesky": (torch.linalg.cholesky, [((3, 3), definite)], None), "cholesky_upper": (lambda a: torch.linalg.cholesky(a, upper=True), [((2, 2, 2), definite)], None),
    "cholesky_solve": (lambda b, a: torch.cholesky_solve(b, torch.tril(a)), [((3, 2), spread), ((3, 3), lower)], None),
    "triangular_solve": (lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), [((3, 3), lower), ((3, 2), spread)], None),
    "triangular_unit": (lambda a, b: torch.linalg.solve_triangular(a, b, upper=True, unitriangular=True), [((2, 3, 3), strong), ((3, 1), spread)], None),
    "det": (torch.det, [((3, 3), strong)], None), "det_batch": (torch.det, [((2, 2, 2), strong)], None), "slogdet": (lambda a: torch.slogdet(a)[1], [((3, 3), strong)], None),
    "logdet": (torch.logdet, [((3, 3), definite)], None), "inv": (torch.linalg.inv, [((2, 3, 3), strong)], None),
    "solve": (torch.linalg.solve, [((3, 3), strong), ((3, 2), spread)], None), "solve_vector": (torch.linalg.solve, [((3, 3), strong), ((3,), spread)], None),
}
for name_, p_ in norms.items():
    BACKWARD["norm_" + name_] = (lambda a, p=p_: torch.linalg.vector_norm(a, p, 1), [(3, 4)], (PLAIN,) if p_ < 0 and p_ > -INF else BUT_NAN)
for how_, of_index in (("sum", None), ("prod", "prod"), ("mean", "mean"), ("amax", "amax"), ("amin", "amin")):
    for self_ in (True, False):
        if self_ or how_ not in ("amax", "amin"):
            BACKWARD[f"scatter_{how_}_{int(self_)}"] = (reduced(how_, self_), [(2, 3), PLACES, (2, 4)], BUT_NAN)
            if of_index:
                BACKWARD[f"index_{how_}_{int(self_)}"] = (by_index(how_, self_), [(3, 2), ROWS_AT, (3, 2)], BUT_NAN)


def backward_case(name, f, x):
    global cases
    x = [torch.from_numpy(np.array(v, order="C")) for v in x]
    for v in x:
        v.requires_grad_(v.dtype.is_floating_point)
    y = f(*x)
    up = t(values("f64", -1, 1, int(np.prod(y.shape))).reshape(y.shape))
    wanted = [v for v in x if v.requires_grad]
    found = iter(torch.autograd.grad(y, wanted, up))
    for letter, of_gradient, v in zip(LETTERS, OF_GRADIENTS, x):
        put(f"backward/{name}/{letter}", v.detach().numpy(), {torch.float64: "f64", torch.int64: "i64", torch.bool: "bool"}[v.dtype])
        if v.requires_grad:
            put(f"backward/{name}/{of_gradient}", next(found).numpy(), "f64")
    put(f"backward/{name}/u", up.numpy(), "f64")
    put(f"backward/{name}/out", y.detach().numpy(), "f64")
    cases += 1


def backwards():
    for name, (f, operands, variants) in BACKWARD.items():
        for variant in variants or ("given",):
            given_too = [o if len(o) == 2 and callable(o[1]) else (o, KINDS[variant]) for o in operands]
            backward_case(f"{name}/{variant}", f, [make(shape) for shape, make in given_too])


def start():
    """A new file, whose numbers do not depend on the one before."""
    global entries, blobs, offset, cases, rng
    entries, blobs, offset, cases, rng = {}, [], 0, 0, np.random.default_rng(20240229)


def write(path):
    header = json.dumps({"__metadata__": {"cases": str(cases)}, **entries}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for blob in blobs:
            file.write(blob)
    print(f"{path}: {cases} cases, {len(entries)} tensors, {8 + len(header) + offset} bytes; NumPy {np.__version__}, PyTorch {torch.__version__}")


rows()
reductions()
softmaxes()
casts()
products()
calls()
gradients()
FOLDER = os.path.dirname(os.path.abspath(__file__))
write(os.path.join(FOLDER, "reference.safetensors"))
start()
sorts()
write(os.path.join(FOLDER, "sort.safetensors"))
start()
backwards()
write(os.path.join(FOLDER, "backward.safetensors"))
