"""What was measured: a dict for each work and peer, as it stands in results.json; and the same as tables."""
import json
import os

import works

KEYS = ("work", "device", "peer", "tenon_ms", "tenon_median_ms", "peer_ms", "peer_median_ms", "ratio", "launches", "bytes", "flops")
HEADING = f"{'work':17} {'device':6} {'peer':20} {'ours ms':>9} {'peer ms':>9} {'ratio':>6} {'median':>6} {'plain':>6} {'needed':>6}"


def load(path):
    """What a file holds; nothing when it is not there."""
    if not path or not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


def save(path, new, keep):
    """Writes what is new in the order of works.txt; with keep also what the file has of other works and devices."""
    measured = {(r["work"], r["device"]) for r in new}
    if keep:
        new = new + [r for r in load(path) if (r["work"], r["device"]) not in measured]
    order = {row.name: index for index, row in enumerate(works.read())}
    new = sorted((r for r in new if r["work"] in order), key=lambda r: (r["device"], order[r["work"]]))
    with open(path, "w") as file:
        file.writelines(json.dumps({key: r[key] for key in KEYS}) + "\n" for r in new)


def result(row, peer, device, ours, theirs, moved, flops):
    """Times in milliseconds; of small works the ratio of the medians counts as well."""
    return {
        "work": row.name,
        "device": device,
        "peer": peer.label,
        "tenon_ms": round(ours.shortest, 5),
        "tenon_median_ms": round(ours.median, 5),
        "peer_ms": round(theirs.shortest, 5),
        "peer_median_ms": round(theirs.median, 5),
        "ratio": round(theirs.shortest / ours.shortest, 3),
        "launches": ours.launches,
        "bytes": moved,
        "flops": flops,
    }


def verdict(found, needed):
    if not needed:
        return ""
    return "ok" if found["ratio"] >= needed else "short"


def plain_ratio(found, results):
    """The ratio to PyTorch as most would write it, where PyTorch is the peer."""
    label = found["peer"]
    if label.partition(":")[0].partition("/")[0] != "torch":
        return None
    plain = label.replace("torch", "torch-plain", 1)
    return next((r["ratio"] for r in results if r["work"] == found["work"] and r["peer"] == plain), None)


def number(value, width):
    return f"{value:{width}.2f}" if value else " " * width


def line(found, needed, results):
    medians = found["peer_median_ms"] / found["tenon_median_ms"]
    return (
        f"{found['work']:17} {found['device']:6} {found['peer']:20} {found['tenon_ms']:9.3f} {found['peer_ms']:9.3f} "
        f"{found['ratio']:6.2f} {medians:6.2f} {number(plain_ratio(found, results), 6)} {number(needed, 6)} {verdict(found, needed)}"
    ).rstrip()
