"""PyTorch's part of scripts/bench-training: see train_mnist.c.   python3 train_mnist.py FOLDER THREADS"""
import sys
import time

import numpy
import torch

folder = sys.argv[1]
torch.set_num_threads(int(sys.argv[2]))
net = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
net.load_state_dict({name: torch.from_numpy(numpy.load(f"{folder}/{name}.npy")) for name in net.state_dict()})
images = torch.from_numpy(numpy.load(f"{folder}/images.npy"))
labels = torch.from_numpy(numpy.load(f"{folder}/labels.npy"))
try:
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
except (RuntimeError, TypeError):  # only newer ones fuse it on a CPU
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in sys.stdin:
    begin, total = time.perf_counter(), torch.zeros(())
    for first in range(0, len(labels), 50):
        x, y = images[first : first + 50], labels[first : first + 50]
        loss = torch.nn.functional.cross_entropy(net(x), y)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        total += loss.detach() * len(y)
    total = total.item() / len(labels)
    print(f"{1e3 * (time.perf_counter() - begin):.3f} {total:.6f}", flush=True)
