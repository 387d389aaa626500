"""The README's chart: a bar for each work, as long as its ratio to PyTorch or to the peer that the work is first compared with; its axis is
logarithmic, and 1 is as fast.   chart.py RESULTS SVG"""
import math
import sys

import report
import works

WIDTH, LABEL, ROW, TOP = 760, 150, 17, 46
LEAST, MOST = 1 / 8, 32
STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #24292f }
    .title { font-weight: 600 } .quiet { fill: #57606a } .grid { stroke: #d0d7de } .one { stroke: #57606a }
    .faster { fill: #2da44e } .slower { fill: #bf8700 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .quiet { fill: #8b949e } .grid { stroke: #30363d } .one { stroke: #8b949e }
      .faster { fill: #3fb950 } .slower { fill: #d29922 }
    }
"""


def place(ratio):
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LABEL + share * (WIDTH - LABEL - 110)


def firsts(results, device):
    """For each work the result of the first peer of its row that was measured."""
    for row in works.read():
        found = {r["peer"]: r for r in results if r["work"] == row.name and r["device"] == device}
        peer = next((p.label for p in row.peers if p.label in found), None)
        if peer:
            yield found[peer]


def bar(index, result):
    y, one, end = TOP + ROW * index, place(1), place(result["ratio"])
    kind = "faster" if result["ratio"] >= 1 else "slower"
    left, width = min(one, end), max(abs(end - one), 1)
    return (
        f'  <text x="{LABEL - 8}" y="{y + 12}" text-anchor="end">{result["work"]}</text>\n'
        f'  <rect class="{kind}" x="{left:.1f}" y="{y + 3}" width="{width:.1f}" height="{ROW - 6}" rx="2"/>\n'
        f'  <text class="quiet" x="{max(one, end) + 6:.1f}" y="{y + 12}">{result["ratio"]:.2f}× {result["peer"]}</text>\n'
    )


def grid(height):
    text = ""
    for power in range(round(math.log2(LEAST)), round(math.log2(MOST)) + 1):
        x, name = place(2**power), f"{2**power}×" if power >= 0 else f"1/{2**-power}"
        kind = "one" if power == 0 else "grid"
        text += f'  <line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{height - 8}"/>\n'
        text += f'  <text class="quiet" x="{x:.1f}" y="{TOP - 8}" text-anchor="middle">{name}</text>\n'
    return text


def draw(results, device):
    shown = list(firsts(results, device))
    height = TOP + ROW * len(shown) + 10
    title = f"Peer's time / Tenon's on {device}, two threads each; to the right Tenon is faster"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">\n'
        f'  <style>{STYLE}  </style>\n  <text class="title" x="8" y="18">{title}</text>\n'
        f'{grid(height)}{"".join(bar(i, r) for i, r in enumerate(shown))}</svg>\n'
    )


def write(results, device, path):
    with open(path, "w") as file:
        file.write(draw(results, device))


if __name__ == "__main__":
    found = report.load(sys.argv[1])
    write(found, found[0]["device"], sys.argv[2])
