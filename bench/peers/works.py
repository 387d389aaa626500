"""The rows of works.txt: what is done, on how much, and who else does it."""
import math
import pathlib
import random
import re

SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1}
WRITTEN = {"cast_f16": 2, "matmul_i32": 4}  # bytes of an element that comes out, where they are not the work's dtype's
PEER = re.compile(r"(?P<label>(?P<name>[^:/=+]+)(:(?P<operation>[^/=+]+))?(/(?P<dtype>[^=+]+))?)(\+(?P<ms>[^=]+))?(=(?P<needed>.+))?")


class Peer:
    """Who does a work: NAME[:OPERATION][/DTYPE][+MS][=RATIO]"""

    def __init__(self, row, text):
        parts = PEER.fullmatch(text)
        self.label, self.name = parts["label"], parts["name"]
        self.operation, self.dtype = parts["operation"] or row.operation, parts["dtype"] or row.dtype
        self.more_ms, self.needed = float(parts["ms"] or 0), float(parts["needed"] or 0)

    def named(self, name):
        """The same work's other doer."""
        return self.label.replace(self.name, name, 1)


class Row:
    """A work and its peers."""

    def __init__(self, line):
        self.name, doer, self.dtype, self.shapes, *peers = line.split()
        name, _, operation = doer.rpartition(":")
        self.operation = operation
        self.ours = Peer(self, name or "tenon")
        self.peers = [Peer(self, text) for text in peers]

    def all_shapes(self, most=None):
        """What is measured; "random_COUNT_MOST" stands for COUNT products, always the same."""
        if not self.shapes.startswith("random"):
            return [self.shapes]
        count, largest = (int(n) for n in self.shapes.split("_")[1:])
        draw = random.Random(1)
        return [product(*(draw.randint(1, largest) for _ in range(3))) for _ in range(count)][:most]

    def needed(self, peer, narrow):
        """The ratio to reach; products on devices of at most 8 lanes may be 0.2 lower."""
        if peer.needed and narrow and self.operation.startswith("matmul") and peer.name != "tenon":
            return round(peer.needed - 0.2, 3)
        return peer.needed


def product(m, n, k):
    return f"{m}x{k},{k}x{n}"


def read(pattern=""):
    text = (pathlib.Path(__file__).parent / "works.txt").read_text()
    return [Row(line) for line in text.splitlines() if line and not line.startswith("#") and re.search(pattern, line.split()[0])]


def shapes_of(text):
    return [[int(n) for n in shape.split("x")] for shape in text.split(",")]


def moved_bytes(row, shapes, results):
    """Bytes read and written once each."""
    size = SIZES[row.dtype]
    return sum(size * math.prod(shape) for shape in shapes_of(shapes)) + WRITTEN.get(row.operation, size) * results


def flops(row, shapes, results):
    """Of a product; 0 where memory decides."""
    if not row.operation.startswith("matmul"):
        return 0
    first = shapes_of(shapes)[0]
    return 2 * results * first[-2 if "_t" in row.operation else -1]
