#!/usr/bin/env python3
"""Writes digits.safetensors: how PyTorch trains the network of examples/03_train_digits.c, for tests/test_training.c.

    python3 digits.py              (PyTorch 1.13 or newer; Debian: python3-torch)

  0.weight, 0.bias, 2.weight, …    where it begins, f32
  losses                           of 20 steps of Adam over the first 1,000 training images in their order, 50 at a time, f64
"""
import json
import os
import struct

import numpy
import torch

here = os.path.dirname(os.path.abspath(__file__))
data = os.path.join(here, "../../../examples/data")
torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
tensors = {name: value.detach().numpy().copy() for name, value in net.state_dict().items()}
images = torch.from_numpy(numpy.load(f"{data}/digits_train_images.npy").reshape(-1, 64).astype("float32") / 16)
labels = torch.from_numpy(numpy.load(f"{data}/digits_train_labels.npy").astype("int64"))
adam = torch.optim.Adam(net.parameters(), lr=5e-3)
losses = []
for step in range(20):
    part = slice(50 * step, 50 * step + 50)
    adam.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(images[part]), labels[part])
    loss.backward()
    adam.step()
    losses.append(loss.item())
tensors["losses"] = numpy.array(losses)
header, blob = {}, b""
for name, value in tensors.items():
    dtype = {"float32": "F32", "float64": "F64"}[value.dtype.name]
    header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [len(blob), len(blob) + value.nbytes]}
    blob += value.tobytes()
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(here, "digits.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + blob)
print([round(loss, 5) for loss in losses])
