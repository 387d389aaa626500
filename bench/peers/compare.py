"""Compares Tenon with its peers, a row of works.txt after the other; scripts/bench-peers starts it and explains the options.

Every peer is a process of its own. The results of a work are compared first; then all who do it run in turn, in short bursts, until
the time is over and nobody finds shorter times."""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

import report
import works
from contenders import Contender, Worker

POOL = (1 << 24) + (1 << 16)  # numbers that the inputs are made of: as many as the largest holds, and a little more
TOLERANCE = {"f32": 5e-5, "f64": 1e-12, "f16": 4e-3, "bf16": 3e-2, "i8": 0}  # of the largest value
COPIES = ("tenon:copy", "torch:copy", "numpy:copy")


class Pace:
    def __init__(self, quick):
        self.seconds = 0.15 if quick else 1.0  # for each who does a work
        self.rounds = 3 if quick else 5  # at least
        self.patience = 1 if quick else 2  # times as long, while shorter times are found
        self.products = 10 if quick else None  # of random extents


class Comparison:
    def __init__(self, options, folder):
        self.options, self.folder, self.pace, self.workers = options, folder, Pace(options.quick), {}
        self.narrow = narrow(options.build, options.device)
        normal = numpy.random.default_rng(1).standard_normal(POOL, "float32")
        normal.tofile(folder / "normal")
        numpy.round(4 * normal).tofile(folder / "whole")

    def contenders(self, peers):
        """Each with a process of its own, kept from work to work: the first, the second … of its name."""
        seen = []
        for peer in peers:
            seen.append(peer.name)
            key = (peer.name, seen.count(peer.name))
            if key not in self.workers:
                self.workers[key] = Worker(peer.name, self.options.build, self.options.device)
            yield Contender(self.workers[key], peer)

    def doers(self, row):
        """Who is to run beside us: the peers, with what "copy" stands for, and PyTorch's plain run."""
        peers = [p for p in row.peers if p.name not in ("copy", "limit")]
        if len(peers) < len(row.peers) and any(p.name == "copy" for p in row.peers):
            peers += [works.Peer(row, text) for text in COPIES if text != f"tenon:{row.operation}"]
        torch = [p for p in row.peers if p.name == "torch" and p.needed]
        if not self.options.quick:
            plain = [works.Peer(row, p.named("torch-plain")) for p in torch]
            peers += [p for p in plain if p.label not in [other.label for other in peers]]
        return peers

    def contend(self, row, shapes, seconds):
        """All who do the work, ours first, with their times; and how many numbers come out."""
        ours, *others = self.contenders([row.ours] + self.doers(row))
        pool, file = self.folder / ("whole" if row.dtype == "i8" else "normal"), self.folder / "result"
        result = ours.prepare(shapes, pool, file)
        for other in others:
            copy = other.peer.operation == "copy"
            theirs = other.prepare(shapes.split(",")[0] if copy else shapes, pool, file)
            if not other.trouble and not copy and result is not None and other.peer.name != "tenon":
                other.trouble = difference(result, theirs, row.dtype)
        self.run_in_turn([c for c in [ours] + others if not c.trouble], seconds)
        return [ours] + others, result.size if result is not None else 0

    def run_in_turn(self, running, seconds):
        begin, rounds, share = time.monotonic(), 0, 0
        while running and (
            rounds < self.pace.rounds or share < 1 or (share < self.pace.patience and not all(c.settled(rounds) for c in running))
        ):
            for contender in running:
                if rounds < 3 or sum(contender.times) < 2e3 * seconds:
                    contender.turn(rounds)
            running = [c for c in running if not c.trouble]
            rounds += 1
            share = (time.monotonic() - begin) / (seconds * max(len(running), 1))

    def results(self, row):
        """For each peer what report.result makes, or why there is nothing."""
        many = row.all_shapes(self.pace.products)
        each = [self.contend(row, shapes, self.pace.seconds / len(many) ** 0.5) for shapes in many]
        ours, *others = [merge(same) for same in zip(*(contenders for contenders, _ in each))]
        moved = sum(works.moved_bytes(row, shapes, count) for shapes, (_, count) in zip(many, each)) // len(many)
        flops = sum(works.flops(row, shapes, count) for shapes, (_, count) in zip(many, each)) // len(many)
        for peer in row.peers + [c.peer for c in others if c.peer.name == "torch-plain" and c.peer not in row.peers]:
            theirs = find(peer, row, [ours] + others, moved)
            trouble = ours.trouble or theirs.trouble
            needed = row.needed(peer, self.narrow)
            yield peer, trouble or report.result(row, peer, needed, self.options.device, ours, theirs, moved, flops)


def difference(ours, theirs, dtype):
    """Why the results differ, or None. A peer that only takes time has none."""
    if not theirs.size:
        return None
    if ours.size != theirs.size:
        return f"wrong: {ours.size} results, not {theirs.size}"
    largest = float(numpy.abs(theirs).max(initial=0))
    off = float(numpy.abs(ours - theirs).max(initial=0))
    return None if off <= TOLERANCE[dtype] * largest else f"wrong: off by {off:.3g} where the largest value is {largest:.3g}"


def merge(contenders):
    """One for many works: its times are the geometric means of theirs."""
    first, *more = contenders
    if not more:
        return first
    whole = Contender(first.worker, first.peer)
    whole.trouble = next((c.trouble for c in contenders if c.trouble), None)
    whole.launches = max(c.launches for c in contenders)
    if not whole.trouble:
        whole.shortest = math.exp(sum(math.log(c.shortest) for c in contenders) / len(contenders))
        whole.median = math.exp(sum(math.log(c.median) for c in contenders) / len(contenders))
    return whole


def find(peer, row, contenders, moved):
    """The peer's times. "copy" is the fastest copy, as long as it would take for the work's bytes; "limit" takes no time but its own."""
    if peer.name not in ("copy", "limit"):
        return next(c for c in contenders[1:] if c.peer.label == peer.label)
    virtual = Contender(contenders[0].worker, peer)
    virtual.shortest = virtual.median = peer.more_ms
    copies = [c for c in contenders if c.peer.operation == "copy" and not c.trouble]
    if peer.name == "copy" and copies:
        share = moved / (2 * works.SIZES[row.dtype] * math.prod(works.shapes_of(row.shapes)[0]))
        virtual.shortest = share * min(c.shortest for c in copies)
        virtual.median = share * min(c.median for c in copies)
    return virtual


def narrow(build, device):
    """Does the device compute with at most 8 floats at a time?"""
    answer = subprocess.run([f"{build}/tenon", "devices", "--json"], capture_output=True, text=True, check=True).stdout
    return any(d["name"] == device and d["vector_width"] <= 8 for d in json.loads(answer))


def choose(options):
    rows = works.read(options.works)
    for row in rows:
        row.peers = [p for p in row.peers if re.search(options.peers, p.label) and (p.needed or not options.quick)]
    return [row for row in rows if row.peers]


class Progress:
    """On a terminal, from two seconds on: what is being measured."""

    def __init__(self):
        self.begin = time.monotonic()

    def show(self, text):
        if sys.stderr.isatty() and time.monotonic() - self.begin > 2:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure(options, folder):
    """Prints a line for each peer of each row; what was found, and the names of what is short, wrong or missing."""
    rows, progress, found, short, wrong, missing = choose(options), Progress(), [], [], [], []
    comparison = Comparison(options, folder)
    if comparison.narrow:
        print("The device computes with 8 floats at a time: the figures of matmul are 0.2 lower.")
    print(report.HEADING, flush=True)
    for index, row in enumerate(rows):
        progress.show(f"{index + 1} of {len(rows)}: {row.name}")
        results = list(comparison.results(row))
        measured = [r for _, r in results if not isinstance(r, str)]
        progress.show("")
        for peer, result in results:
            name = f"{row.name} ({peer.label})"
            if isinstance(result, str):
                (wrong if result.startswith("wrong") else missing).append(name)
                print(f"{row.name:17} {options.device:6} {peer.label:20} {result}", flush=True)
            elif peer in row.peers:
                print(report.line(result, measured), flush=True)
                if report.verdict(result) == "short":
                    short.append(name)
        if options.results:
            report.save(options.results, measured)
        found += measured
    for worker in comparison.workers.values():
        worker.close()
    return found, short, wrong, missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--device", default="cpu:0")
    for name in ("works", "peers", "results"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.results and not options.works and not options.peers:
        pathlib.Path(options.results).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        found, short, wrong, missing = measure(options, pathlib.Path(folder))
    for title, names in (("short", short), ("wrong", wrong), ("not measured", missing)):
        if names:
            print(f"{title}: {', '.join(names)}")
    sys.exit(1 if short or wrong else 2 if not found else 0)


if __name__ == "__main__":
    main()
