"""New processes, for scripts/bench-peers: examples/digits with full caches (warm) and with empty ones (cold), to its first result, and
one kernel that the driver alone builds with an empty cache and runs (build).   first_worker.py BUILD DEVICE"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import worker

ROOT = pathlib.Path(__file__).parent.parent.parent
build, device = pathlib.Path(sys.argv[1]), sys.argv[2]
commands = {"build": [build / "bench" / "build_once", device]}
commands["warm"] = commands["cold"] = [build / "examples" / "digits", "--device", device, "--data", ROOT / "examples" / "data"]


def first_ms(operation, caches):
    """What the program says that it took from its start to its first result."""
    environment = {**os.environ, "POCL_CACHE_DIR": f"{caches}/pocl", "TENON_CACHE_DIR": f"{caches}/tenon"}
    for folder in ("pocl", "tenon"):
        os.makedirs(f"{caches}/{folder}", exist_ok=True)
    text = subprocess.run(commands[operation], env=environment, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"([0-9.]+) ms after the program's start", text)[1])


def prepare(operation, dtype, inputs):
    kept = tempfile.TemporaryDirectory()

    def run():
        if operation == "warm":
            return first_ms(operation, kept.name)
        with tempfile.TemporaryDirectory() as empty:
            return first_ms(operation, empty)

    return run


worker.serve(prepare, lambda run: [], lambda run: run())
