#!/usr/bin/env python3
"""Writes the .npz, .pt and .pth files here, as NumPy and PyTorch themselves write them and as others may.

    python3 generate.py            (NumPy 1.24, PyTorch 1.13 or newer; Debian: python3-numpy python3-torch)

tests/test_npz.c and tests/test_torch.c know their contents; tests/test_fuzz_io.c damages them.
"""
import collections
import io
import os
import pickle
import struct
import zipfile

import numpy as np
import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))
EPOCH = (1980, 1, 1, 0, 0, 0)


def count(*shape, dtype=np.float32):
    """0, 1, 2, ... in this shape."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


# ------------------------------------------------------------------------------------------------------------------ NumPy

ARRAYS = {
    "matrix": count(2, 3), "columns": np.asfortranarray(count(2, 3)), "big": count(4, dtype=">i2"),
    "half": count(3, dtype=np.float16), "number": np.int64(-7), "nothing": np.zeros((0, 4), np.uint8),
    "mask": np.array([True, False, True]),
}


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def write_zip(path, members, **more):
    with zipfile.ZipFile(path, "w") as z:
        for name, data in members.items():
            z.writestr(zipfile.ZipInfo(name, EPOCH), data, **more)


def with_zip64(path, members):
    """All that can be in zip64's fields is there, though it is small."""
    body, directory = b"", b""
    for name, data in members.items():
        name = name.encode()
        crc = zipfile.crc32(data)
        offset = len(body)
        extra = struct.pack("<HHQQ", 1, 16, len(data), len(data))
        body += struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, crc, 2**32 - 1, 2**32 - 1, len(name), len(extra)) + name + extra + data
        extra = struct.pack("<HHH", 99, 2, 7) + struct.pack("<HHQQQ", 1, 24, len(data), len(data), offset)
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", 45, 45, 0, 0, 0, 33, crc, 2**32 - 1, 2**32 - 1, len(name), len(extra),
                                 0, 0, 0, 0, 2**32 - 1) + name + extra
    end = len(body) + len(directory)
    tail = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, len(members), len(members), len(directory), len(body))
    tail += struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    tail += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 5) + b"hello"
    with open(path, "wb") as f:
        f.write(body + directory + tail)


def with_other_size(path, stated, real):
    """A deflated member whose header and directory state so many floats, and which unpacks to another number of them."""
    raw = npy(np.zeros(real, np.float32))
    raw = raw[:128].replace(b"(%d,), }" % real, b"(%d,), }" % stated).ljust(128)[:127] + b"\n" + raw[128:]
    write_zip(path, {"z.npy": raw}, compress_type=zipfile.ZIP_DEFLATED)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = data.index(b"PK\1\2") + 24
    assert struct.unpack_from("<I", data, at)[0] == 128 + 4 * real
    struct.pack_into("<I", data, at, 128 + 4 * stated)
    with open(path, "wb") as f:
        f.write(data)


def numpy_files():
    np.savez("stored.npz", **ARRAYS)
    np.savez_compressed("deflated.npz", zeros=np.zeros(20000, np.float32), ramp=count(300, dtype=np.int32))
    np.savez("empty.npz")
    write_zip("members.npz", {"plain": npy(count(2)), "a.npy": npy(count(3)), "sub/b.npy": npy(count(4)), "sub/": b"", "notes.txt": b"no array",
                              "a.npy.npy": npy(count(5))})
    with_other_size("fewer.npz", 3000, 2000)
    with_other_size("more.npz", 10, 200000)
    write_zip("no_arrays.zip", {"notes.txt": b"nothing"})
    with_zip64("zip64.npz", {"a.npy": npy(count(3)), "b.npy": npy(count(2, dtype=np.int8))})


# ---------------------------------------------------------------------------------------------------------------- PyTorch

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
          "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}


def checkpoint():
    base = torch.arange(24, dtype=torch.float32)
    model = collections.OrderedDict((name, torch.tensor([1, 0, 3], dtype=dtype)) for name, dtype in DTYPES.items())
    model["whole"] = base
    model["part"] = base[6:18].reshape(3, 4)
    model["transposed"] = base.reshape(4, 6).t()
    model["every_third"] = base[1::3]
    model["expanded"] = base[5:7].reshape(2, 1).expand(2, 3)
    model["number"] = torch.tensor(7, dtype=torch.int64)
    model["nothing"] = torch.zeros(0, 5)
    model["weight"] = torch.nn.Parameter(torch.tensor([[0.5, -2]]))
    model["tied"] = model["weight"]
    return {
        "model": model, "epoch": 3, "best": 0.25, "name": "r\u00e9sum\u00e9", "done": False, "none": None, "large": 2**80, "negative": -2**40,
        "optimizer": {"state": {0: {"step": 5, "exp_avg": torch.tensor([4.0, 5.0])}}, "param_groups": [{"lr": 0.1, "betas": (0.9, 0.99), "params": [0]}]},
        "history": [torch.tensor([8, 9], dtype=torch.uint8), (torch.tensor(True),)],
    }


def big_endian(path, source, size):
    """The file as a big-endian machine writes it: every storage has elements of so many bytes."""
    with zipfile.ZipFile(source) as z:
        members = {i.filename: z.read(i) for i in z.infolist()}
    for name in members:
        if "/data/" in name:
            members[name] = np.frombuffer(members[name], f"<u{size}").byteswap().tobytes()
    members[next(iter(members)).split("/")[0] + "/byteorder"] = b"big"
    write_zip(path, members)


class Named:
    """What is pickled as a global name of a module that is not there."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Pickler(pickle._Pickler):
    """Writes Named as it is, Call as a call, and tuples that begin with "storage" as persistent ids."""

    def persistent_id(self, obj):
        return obj.id if isinstance(obj, Storage) else None

    def save_named(self, obj):
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())

    def save_call(self, obj):
        self.save(obj.function)
        self.save(obj.arguments)
        self.write(pickle.REDUCE)

    dispatch = dict(pickle._Pickler.dispatch)
    dispatch[Named] = save_named


class Storage:
    def __init__(self, *id):
        self.id = ("storage", *id)


class Call:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments


Pickler.dispatch[Call] = Pickler.save_call


def pickled(value):
    out = io.BytesIO()
    Pickler(out, 2).dump(value)
    return out.getvalue()


def unsigned(path):
    """As PyTorch 2.3 and newer write the dtypes that have no storage type of their own."""
    tensors, members = {}, {}
    for key, size in (("0", 2), ("1", 4), ("2", 8)):
        data = np.array([0, 1, 2 ** (8 * size) - 1], f"<u{size}").tobytes()
        storage = Storage(Named("torch.storage", "UntypedStorage"), key, "cpu", len(data))
        tensors[f"u{8 * size}"] = Call(Named("torch._utils", "_rebuild_tensor_v3"), storage, 0, (3,), (1,), False,
                                       Call(Named("collections", "OrderedDict")), Named("torch", f"uint{8 * size}"))
        members[f"archive/data/{key}"] = data
    write_zip(path, {"archive/data.pkl": pickled(tensors), "archive/byteorder": b"little", **members, "archive/version": b"3\n"})


class Evil:
    def __reduce__(self):
        return os.system, ("echo this must not run",)


class Save:
    """torch.save with files that are the same each time."""

    def __init__(self, path, value, old=False, **more):
        with open(path, "wb") as f:
            torch.save(value, f, _use_new_zipfile_serialization=not old, **more)


def torch_files():
    Save("checkpoint.pt", checkpoint())
    Save("checkpoint_old.pth", checkpoint(), old=True)
    Save("protocol4.pt", checkpoint(), pickle_protocol=4)
    Save("protocol4_old.pth", {"a": torch.arange(3)}, old=True, pickle_protocol=4)
    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight[:] = torch.tensor([[1.5, -2]])
        layer.bias[:] = 4
    Save("layer.pt", layer.state_dict())
    Save("module.pt", layer)
    Save("tensor.pt", torch.arange(4, dtype=torch.int16))
    Save("complex.pt", {"z": torch.zeros(2, dtype=torch.complex64)})
    Save("source.pt", {"a": torch.tensor([1.0, -2.5]), "t": torch.arange(6, dtype=torch.int32).reshape(2, 3).t()})
    big_endian("big_endian.pt", "source.pt", 4)
    os.unlink("source.pt")
    torch.serialization.location_tag = lambda storage: "cuda:1"
    Save("gpu.pt", {"a": torch.tensor([1.0, 2.0])})
    Save("gpu_old.pth", {"a": torch.tensor([1.0, 2.0])}, old=True)
    unsigned("unsigned.pt")
    Save("evil.pt", {"a": torch.zeros(1), "b": Evil()})
    Save("evil_old.pth", {"a": Evil()}, old=True)


numpy_files()
torch_files()
