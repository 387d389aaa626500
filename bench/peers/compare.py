"""Compares Tenon with its peers, a row of works.txt after the other; scripts/bench-peers starts it.

    compare.py --build FOLDER [--device NAME] [--works REGEX] [--quick] [--results FILE]

Every peer is a process of its own that answers as worker.h says. The results of a work are compared first; then all who do it run in
turn, in short bursts, until the time is over. Prints a table, and writes FILE, a JSON object a line; with --works those lines only."""
import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import numpy

HERE = pathlib.Path(__file__).parent
POOL = (1 << 24) + (1 << 16)  # floats: as many as the largest work reads
BURST_MS, PAUSE = 4, 0.01  # how long one runs before the next one's turn; between them the threads that spin go to sleep
PATIENCE, BETTER = 4, 0.98  # so many times as long while shorter times are still found: shorter by 2 %
TOLERANCE = {"f32": 5e-5, "f64": 1e-12, "f16": 4e-3, "bf16": 3e-2, "i8": 0}  # of the largest value
THREADS = 2
RAISED = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "67108864"}


class Row:
    """A work and what it is compared with."""

    def __init__(self, line):
        self.name, self.operation, self.dtype, self.shapes, *peers = line.split()
        self.peers = [Peer(self, text) for text in peers]
        self.ours = Peer(self, "tenon")


class Peer:
    """Who does a work: NAME[:OPERATION][/DTYPE][=RATIO]"""

    def __init__(self, row, text):
        self.label, _, needed = text.partition("=")
        self.needed = float(needed) if needed else None
        name, _, self.dtype = self.label.partition("/")
        self.name, _, self.operation = name.partition(":")
        self.operation = self.operation or row.operation
        self.dtype = self.dtype or row.dtype


class Worker:
    """A process that does works."""

    def __init__(self, name, options):
        python, torch = [sys.executable], str(HERE / "torch_worker.py")
        commands = {
            "tenon": [f"{options.build}/bench/tenon", options.device],
            "torch": python + [torch, "best", str(THREADS)],
            "torch-plain": python + [torch, "plain", str(THREADS)],
            "torch-compiled": python + [torch, "compiled", str(THREADS)],
            "openblas": [f"{options.build}/bench/openblas"],
            "clblast": [f"{options.build}/bench/clblast", options.device],
            "onnx": python + [str(HERE / "onnx_worker.py"), str(THREADS)],
        }
        command = commands.get(name, python + [str(HERE / f"{name}_worker.py")])
        environment = dict(os.environ, POCL_MAX_PTHREAD_COUNT=str(THREADS), OMP_NUM_THREADS=str(THREADS))
        environment.update(OPENBLAS_NUM_THREADS=str(THREADS), PYTHONPATH=str(HERE))
        if name in ("torch", "torch-compiled"):
            environment.update(RAISED)
        self.log = tempfile.TemporaryFile("w+")
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.log, text=True, env=environment)
        except OSError:
            self.process = None

    def ask(self, *words):
        """The answer's words; LookupError says why there is none."""
        if not self.process:
            raise LookupError("not there")
        try:
            print(*words, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline().split(maxsplit=1)
        except BrokenPipeError:
            answer = []
        if not answer:
            self.log.seek(0)
            last = self.log.read().strip().splitlines()[-1:] or ["it stopped"]
            missing = "No module named" in last[0]
            raise LookupError("not there" if missing else last[0])
        if answer[0] == "cannot":
            raise LookupError(answer[1].strip())
        return " ".join(answer).split()

    def close(self):
        if self.process:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
            self.process.wait()


class Contender:
    """A worker at one work: its times."""

    def __init__(self, worker, peer):
        self.worker, self.peer, self.times, self.trouble, self.launches, self.burst = worker, peer, [], None, 0, 1
        self.shortest = self.median = self.found = 0

    def prepare(self, dtype, shapes, folder):
        pool = folder / ("whole" if dtype == "i8" else "normal")
        try:
            if self.peer.operation == "copy":
                shapes = shapes.split(",")[0]
            self.worker.ask("prepare", self.peer.operation, self.peer.dtype, shapes, pool)
            self.run(2)
            once = min(self.run(1))
            self.burst = max(1, min(200, round(BURST_MS / max(once, 1e-3))))
            self.worker.ask("result", folder / "result")
            return numpy.fromfile(folder / "result", "float64" if self.peer.dtype == "f64" else "float32")
        except LookupError as why:
            self.trouble = str(why)
            return None

    def run(self, count):
        launches, *times = self.worker.ask("run", count)
        self.launches = int(launches)
        return [float(ms) for ms in times]

    def turn(self, number):
        times = self.run(self.burst)
        if not self.times or min(times) < BETTER * self.shortest:
            self.shortest, self.found = min(times), number
        self.times += times
        time.sleep(PAUSE)

    def settled(self, rounds):
        """On a busy machine the shortest times come late: none was found in the last third of the rounds."""
        return 3 * self.found <= 2 * rounds


def same(ours, theirs, dtype):
    """Why the results differ, or None."""
    if ours.size != theirs.size:
        return f"{ours.size} results for {theirs.size}"
    largest = float(numpy.abs(theirs).max()) if theirs.size else 0
    off = float(numpy.abs(ours - theirs).max()) if theirs.size else 0
    return None if off <= TOLERANCE[dtype] * largest else f"wrong result: off by {off:.3g} where {largest:.3g} is the largest"


def random_shapes(text):
    """random_COUNT_MOST: as many products, each "MxK,KxN"; always the same."""
    _, count, most = text.split("_")
    numbers = random.Random(1)
    for _ in range(int(count)):
        m, n, k = (numbers.randint(1, int(most)) for _ in range(3))
        yield f"{m}x{k},{k}x{n}"


def median(times):
    return float(numpy.median(times))


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


class Comparison:
    """Workers, and what they were found to take."""

    def __init__(self, options, folder):
        self.options, self.folder, self.workers = options, folder, {}
        numbers = numpy.random.default_rng(1).standard_normal(POOL, "float32")
        numbers.tofile(folder / "normal")
        numpy.round(4 * numbers).astype("float32").tofile(folder / "whole")

    def contenders(self, peers):
        """Each with a process of its own; those of the same name have the first, the second, … of that name."""
        seen = []
        for peer in peers:
            seen.append(peer.name)
            key = (peer.name, seen.count(peer.name))
            if key not in self.workers:
                self.workers[key] = Worker(peer.name, self.options)
            yield Contender(self.workers[key], peer)

    def expand(self, row):
        """The peers to run: each, and what the virtual ones stand for."""
        peers = [p for p in row.peers if p.name != "copy"]
        if len(peers) < len(row.peers):
            peers += [Peer(row, text) for text in ("tenon:copy", "torch:copy", "numpy:copy") if text != f"tenon:{row.operation}"]
        if any(p.name == "torch" for p in peers) and not any(p.name == "torch-plain" for p in peers):
            peers.append(Peer(row, next(p.label for p in peers if p.name == "torch").replace("torch", "torch-plain", 1)))
        return peers

    def contend(self, row, shapes, seconds):
        """All who do the work, ours first, with their times."""
        ours, *others = self.contenders([row.ours] + self.expand(row))
        result = ours.prepare(row.dtype, shapes, self.folder)
        for other in others:
            theirs = other.prepare(row.dtype, shapes, self.folder)
            if result is not None and theirs is not None and other.peer.operation == row.operation:
                other.trouble = same(result, theirs, row.dtype)
        running = [c for c in [ours] + others if not c.trouble]
        begin, rounds, share = time.monotonic(), 0, 0
        while running and (rounds < 5 or share < 1 or (share < PATIENCE and not all(c.settled(rounds) for c in running))):
            for contender in running:
                if rounds < 3 or sum(contender.times) < 2e3 * seconds:
                    contender.turn(rounds)
            rounds += 1
            share = (time.monotonic() - begin) / (seconds * len(running))
        for contender in running:
            contender.shortest, contender.median = min(contender.times), median(contender.times)
        return [ours] + others

    def lines(self, row):
        """What is to be printed: for each peer of the row a Line."""
        seconds = 0.4 if self.options.quick else 1.5
        if row.shapes.startswith("random"):
            all_shapes = list(random_shapes(row.shapes))[: 20 if self.options.quick else None]
            each = [self.contend(row, shapes, 0.15) for shapes in all_shapes]
            contenders = [merge(list(same_peer)) for same_peer in zip(*each)]
        else:
            contenders = self.contend(row, row.shapes, seconds)
        ours, others = contenders[0], {c.peer.label: c for c in contenders[1:]}
        plain = others.get("torch-plain") or next((c for c in others.values() if c.peer.name == "torch-plain"), None)
        for peer in row.peers:
            theirs = fastest_copy(row, ours, others) if peer.name == "copy" else others[peer.label]
            yield Line(row, peer, ours, theirs, plain if peer.name == "torch" else None, self.options)


def merge(contenders):
    """One for many works: its times are the geometric means of the shortest and of the medians."""
    trouble = next((c.trouble for c in contenders if c.trouble), None)
    whole = Contender(contenders[0].worker, contenders[0].peer)
    whole.trouble, whole.launches = trouble, max(c.launches for c in contenders)
    if not trouble:
        whole.shortest = geometric([c.shortest for c in contenders])
        whole.median = geometric([c.median for c in contenders])
    return whole


def copied_bytes(row, operation):
    sizes = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1}
    counts = [math.prod(int(n) for n in shape.split("x")) for shape in row.shapes.split(",")]
    size = sizes[row.dtype]
    return {"add": 3 * size, "copy": 2 * size, "cast_f16": size + 2}[operation] * counts[0]


def fastest_copy(row, ours, others):
    """The copy of most bytes a second, as one that moves as many bytes as the work does."""
    copies = [c for c in [ours, *others.values()] if c.peer.operation == "copy" and not c.trouble]
    share = copied_bytes(row, row.operation) / copied_bytes(row, "copy")
    best = min(copies, key=lambda c: c.shortest)
    copy = Contender(best.worker, best.peer)
    copy.shortest, copy.median = share * best.shortest, share * min(c.median for c in copies)
    return copy


class Line:
    """What is said of a work and a peer."""

    def __init__(self, row, peer, ours, theirs, plain, options):
        self.row, self.peer, self.trouble, self.launches = row, peer, ours.trouble or theirs.trouble, ours.launches
        self.device, self.needed = options.device, peer.needed
        if self.needed and options.narrow and row.operation.startswith("matmul") and peer.name != "tenon":
            self.needed = max(0, round(self.needed - 0.2, 3))
        if not self.trouble:
            self.ours, self.ours_median = ours.shortest, ours.median
            self.theirs, self.theirs_median = theirs.shortest, theirs.median
            self.ratio = theirs.shortest / ours.shortest
            self.of_medians = theirs.median / ours.median
        self.plain = plain.shortest / ours.shortest if plain and not plain.trouble and not self.trouble else None

    def verdict(self):
        if self.trouble:
            return self.trouble
        if not self.needed:
            return ""
        if self.ratio < self.needed:
            return "SHORT"
        return "ok"

    def text(self):
        head = f"{self.row.name:18} {self.device:7} {self.peer.label:22}"
        if self.trouble:
            return f"{head} {self.trouble}"
        needed = f"{self.needed:6.2f}" if self.needed else f"{'':6}"
        medians = f"{self.of_medians:7.2f}"
        plain = f"{self.plain:7.2f}" if self.plain else f"{'':7}"
        return (
            f"{head} {self.ours:10.4f} {self.theirs:10.4f} {self.ratio:7.2f} {medians} {plain} {needed} {self.launches:8} {self.verdict()}"
        )

    def json(self):
        return json.dumps(
            {
                "work": self.row.name,
                "device": self.device,
                "peer": self.peer.label,
                "tenon_ms": round(self.ours, 5),
                "tenon_median_ms": round(self.ours_median, 5),
                "peer_ms": round(self.theirs, 5),
                "peer_median_ms": round(self.theirs_median, 5),
                "ratio": round(self.ratio, 3),
            }
        )


HEADING = (
    f"{'work':18} {'device':7} {'peer':22} {'ours ms':>10} {'peer ms':>10} {'ratio':>7} {'medians':>7} {'plain':>7} {'needed':>6} {'launches':>8}"
)


def read_rows(pattern):
    for line in (HERE / "works.txt").read_text().splitlines():
        if line and not line.startswith("#") and re.search(pattern, line.split()[0]):
            yield Row(line)


def vector_width(options):
    devices = json.loads(subprocess.run([f"{options.build}/tenon", "devices", "--json"], capture_output=True, text=True).stdout)
    return next((d["vector_width"] for d in devices if d["name"] == options.device), 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--device", default="cpu:0")
    parser.add_argument("--works", default="")
    parser.add_argument("--peers", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", default="")
    options = parser.parse_args()
    options.narrow = vector_width(options) <= 8
    if options.narrow:
        print("This device computes with 8 floats at a time: what matmul needs is 0.2 lower.")
    print(HEADING, flush=True)
    lines = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        comparison = Comparison(options, pathlib.Path(folder))
        for row in read_rows(options.works):
            row.peers = [p for p in row.peers if re.search(options.peers, p.label)]
            for line in comparison.lines(row):
                print(line.text(), flush=True)
                lines.append(line)
        for worker in comparison.workers.values():
            worker.close()
    if options.results:
        with open(options.results, "w") as file:
            file.writelines(line.json() + "\n" for line in lines if not line.trouble)


if __name__ == "__main__":
    main()
