"""Programs that do works, and answer as worker.h says."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

HERE = pathlib.Path(__file__).parent
THREADS = 2
BURST_MS, PAUSE = 8, 0.02  # how long one runs before the next one's turn; what spins between its runs goes to sleep before that
LONG_MS, MOST_RUNS = 4000, 200
BETTER = 0.98  # a shorter time that counts
ENVIRONMENT = {
    "POCL_MAX_PTHREAD_COUNT": THREADS,
    "OMP_NUM_THREADS": THREADS,
    "OPENBLAS_NUM_THREADS": THREADS,
    "OPENBLAS_THREAD_TIMEOUT": 22,  # 2^22 cycles: its threads would spin through the turns of others
    "DEV": "CL",  # tinygrad's device
    "PYTHONPATH": HERE,
}
# No page is given back between runs. malloc takes no more than half a heap for the first.
RAISED = {"MALLOC_MMAP_THRESHOLD_": 1 << 32, "MALLOC_TRIM_THRESHOLD_": 1 << 34, "MALLOC_TOP_PAD_": 1 << 26}


def command(name, build, device):
    """How a worker is started."""
    kind, _, mode = name.partition("-")
    program = pathlib.Path(build, "bench", kind)
    if kind in ("tenon", "openblas", "clblast", "launches"):
        return [program, device]
    if kind == "torch":
        return [sys.executable, HERE / "torch_worker.py", mode or "best", str(THREADS)]
    if kind == "first":
        return [sys.executable, HERE / "first_worker.py", build, device]
    return [sys.executable, HERE / f"{kind}_worker.py", str(THREADS)]


class Worker:
    """A program in a process of its own."""

    def __init__(self, name, build, device):
        environment = {**os.environ, **{key: str(value) for key, value in ENVIRONMENT.items()}}
        if name in ("torch", "torch-compiled"):
            environment.update({key: str(value) for key, value in RAISED.items()})
        self.log, pipe = tempfile.TemporaryFile("w+"), subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command(name, build, device), stdin=pipe, stdout=pipe, stderr=self.log, text=True, env=environment
            )
        except OSError:
            self.process = None

    def ask(self, *words):
        """The answer; LookupError says why there is none."""
        answer = ""
        if self.process:
            try:
                print(*words, file=self.process.stdin, flush=True)
                answer = self.process.stdout.readline()
            except BrokenPipeError:
                pass
        if not answer:
            raise LookupError(self.last_words())
        if answer.startswith("cannot"):
            raise LookupError(answer.partition(" ")[2].strip())
        return answer.split()

    def last_words(self):
        if not self.process:
            return "not there"
        self.log.seek(0)
        last = self.log.read().strip().splitlines()[-1:] or ["it stopped"]
        return "not there" if "No module named" in last[0] else last[0]

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


class Contender:
    """A worker at one work, and its times."""

    def __init__(self, worker, peer):
        self.worker, self.peer = worker, peer
        self.times, self.trouble, self.launches, self.burst, self.found = [], None, 0, 1, 0
        self.shortest = self.median = 0

    def prepare(self, shapes, pool, file):
        """What comes out of the second run. The first is not counted, but of what is so long that it hardly matters."""
        try:
            self.worker.ask("prepare", self.peer.operation, self.peer.dtype, shapes, pool)
            self.times = self.run(1)
            self.worker.ask("result", file)
            if self.times[0] < LONG_MS:
                self.times = []
            return numpy.fromfile(file, "float64" if self.peer.dtype == "f64" else "float32")
        except LookupError as why:
            self.trouble = str(why)
            return None

    def run(self, count):
        launches, *times = self.worker.ask("run", count)
        self.launches = int(launches)
        return [float(ms) + self.peer.more_ms for ms in times]

    def turn(self, number):
        try:
            times = self.run(self.burst)
        except LookupError as why:
            self.trouble = str(why)
            return
        if not self.shortest or min(times) < BETTER * self.shortest:
            self.found = number
        self.times += times
        self.shortest, self.median = min(self.times), float(numpy.median(self.times))
        self.burst = max(1, min(MOST_RUNS, round(BURST_MS / self.shortest)))
        time.sleep(PAUSE)

    def settled(self, rounds):
        """On a busy machine the shortest times come late: none was found in the last third of the rounds."""
        return 3 * self.found <= 2 * rounds
