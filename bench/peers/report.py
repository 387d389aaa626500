"""What was measured: a dict for each work and peer, as it stands in results.json; and the same as tables.   report.py RESULTS prints the
table of docs/performance.md."""
import json
import os
import sys

import works

KEYS = ("work", "device", "peer", "tenon_ms", "tenon_median_ms", "peer_ms", "peer_median_ms", "ratio")
KEYS += ("needed", "launches", "bytes", "flops")
HEADING = f"{'work':17} {'device':6} {'peer':20} {'ours ms':>9} {'peer ms':>9} {'ratio':>6} {'median':>6} {'plain':>6} {'needed':>6}"


def load(path):
    """What a file holds; nothing when it is not there."""
    if not path or not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


def save(path, new):
    """Adds what is new in the order of works.txt, in place of what the file had of it."""
    identity = lambda r: (r["work"], r["device"], r["peer"])
    order = {row.name: index for index, row in enumerate(works.read())}
    kept = [r for r in load(path) if r["work"] in order and identity(r) not in map(identity, new)]
    with open(path, "w") as file:
        for r in sorted(kept + new, key=lambda r: (r["device"], order[r["work"]])):
            file.write(json.dumps({key: r[key] for key in KEYS}) + "\n")


def result(row, peer, needed, device, ours, theirs, moved, flops):
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
        "needed": needed,
        "launches": ours.launches,
        "bytes": moved,
        "flops": flops,
    }


def verdict(found):
    if not found["needed"]:
        return ""
    return "ok" if found["ratio"] >= found["needed"] else "short"


def plain_ratio(found, results):
    """The ratio to PyTorch as most would write it, where PyTorch is the peer."""
    label = found["peer"]
    if label.partition(":")[0].partition("/")[0] != "torch":
        return None
    plain = label.replace("torch", "torch-plain", 1)
    return next((r["ratio"] for r in results if r["work"] == found["work"] and r["peer"] == plain), None)


def number(value, width):
    return f"{value:{width}.2f}" if value else " " * width


def line(found, results):
    medians = found["peer_median_ms"] / found["tenon_median_ms"]
    return (
        f"{found['work']:17} {found['device']:6} {found['peer']:20} {found['tenon_ms']:9.3f} {found['peer_ms']:9.3f} "
        f"{found['ratio']:6.2f} {medians:6.2f} {number(plain_ratio(found, results), 6)} {number(found['needed'], 6)} {verdict(found)}"
    ).rstrip()


def peaks(results):
    """Milliseconds for a byte, an f32 operation and a launch: in the fastest copy and the fastest product that anybody reached, and as long
    as the driver's own calls take."""
    copies = [min(r["tenon_ms"], r["peer_ms"]) / r["bytes"] for r in results if r["work"].startswith("copy")]
    products = [min(r["tenon_ms"], r["peer_ms"]) / r["flops"] for r in results if r["work"].startswith("sgemm")]
    queued = works.read("^softmaxes-queued$")[0].peers[0]
    launches = [(r["peer_ms"] - queued.more_ms) / r["launches"] for r in results if r["peer"] == queued.label]
    return {"bytes": min(copies, default=0), "flops": min(products, default=0), "launches": min(launches, default=0)}


def roof(found, results):
    """What limits the work at the least, and the share of that which is reached."""
    once = peaks([r for r in results if r["device"] == found["device"]])
    times = {key: found[key] * once[key] for key in once}
    limit = max(times, key=times.get)
    return limit, times[limit] / found["tenon_ms"]


def markdown(results):
    """The table of docs/performance.md."""
    yield "| work | peer | Tenon ms | peer ms | ratio | of medians | plain | to reach | launches | limit | reached |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|---|--:|"
    for row in works.read():
        for peer in row.peers:
            for r in results:
                if (r["work"], r["peer"]) == (row.name, peer.label):
                    limit, share = roof(r, results) if r["launches"] else ("", 0)
                    bold = "**" if verdict(r) == "short" else ""
                    medians = r["peer_median_ms"] / r["tenon_median_ms"]
                    yield (
                        f"| {r['work']} | {r['peer']} | {r['tenon_ms']:.3f} | {r['peer_ms']:.3f} | {bold}{r['ratio']:.2f}{bold} "
                        f"| {number(medians, 0)} | {number(plain_ratio(r, results), 0)} | {number(r['needed'], 0)} | {r['launches']} "
                        f"| {limit} | {f'{100 * share:.0f} %' if limit else ''} |"
                    )


if __name__ == "__main__":
    print("\n".join(markdown(load(sys.argv[1]))))
