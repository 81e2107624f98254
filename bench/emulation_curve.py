"""Draws docs/img/emulation.svg: how late events of emulations were, by nodes and by packet rate."""

import math
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[1] / "docs/img/emulation.svg"
# Okabe and Ito's colours, which people with any kind of colour vision tell apart.
COLOUR = {"dsr": "#0072B2", "aodv": "#D55E00"}
INK, SOFT, FAINT = "#24292f", "#6e7781", "#d5dae0"
WIDTH, HEIGHT, TOP, PANEL, LEFT, GAP = 820, 330, 52, 220, 64, 86
# From 1 us to 10 s, and where a run counts as late.
DECADES, LATE_US = range(0, 8), 1000
PANELS = [
    ("nodes", "nodes", "Nodes, with 10 flows of 4 packets/s"),
    ("rate", "pps_a_flow", "Packets/s in each of 10 flows, 100 nodes"),
]


def draw(runs):
    wide = (WIDTH - LEFT - GAP) / 2
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="15" font-weight="600">How late an emulation\'s events are (99th percentile)</text>',
    ]
    for i, (series, key, title) in enumerate(PANELS):
        panel(out, LEFT + i * (wide + GAP / 2), wide, title, key, [r for r in runs if r["series"] == series])
    at = LEFT
    for protocol, colour in COLOUR.items():
        out.append(f'<circle cx="{at + 5}" cy="{HEIGHT - 20}" r="4.5" fill="{colour}"/>')
        out.append(f'<text x="{at + 16}" y="{HEIGHT - 16}">{protocol.upper()}</text>')
        at += 80
    out.append(f'<text x="{at}" y="{HEIGHT - 16}" fill="{SOFT}">hollow: degraded, over 1 % of events later than 1 ms</text>')
    out.append("</svg>")
    PICTURE.write_text("\n".join(out) + "\n", encoding="utf-8")


def panel(out, left, wide, title, key, runs):
    steps = sorted({r[key] for r in runs})

    def x(step):
        return left + wide * (steps.index(step) + 0.5) / len(steps)

    def y(us):
        return TOP + PANEL * (1 - math.log10(max(us, 1)) / DECADES[-1])

    out.append(f'<text x="{left}" y="{TOP - 10}" fill="{SOFT}">{title}</text>')
    for d in DECADES:
        name = f"{10**d} us" if d < 3 else f"{10 ** (d - 3)} ms" if d < 6 else f"{10 ** (d - 6)} s"
        out.append(f'<path d="M{left} {y(10**d):.1f}h{wide:.1f}" stroke="{FAINT}"/>')
        if left == LEFT:
            out.append(f'<text x="{left - 8}" y="{y(10**d) + 4:.1f}" text-anchor="end" fill="{SOFT}">{name}</text>')
    out.append(f'<path d="M{left} {y(LATE_US):.1f}h{wide:.1f}" stroke="{INK}" stroke-dasharray="5 4"/>')
    for s in steps:
        out.append(f'<text x="{x(s):.1f}" y="{TOP + PANEL + 18}" text-anchor="middle" fill="{SOFT}">{s:,}</text>')
    for protocol, colour in COLOUR.items():
        mine = [r for r in runs if r["protocol"] == protocol and "p99" in r]
        line = " ".join(f"{x(r[key]):.1f},{y(r['p99']):.1f}" for r in mine)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for r in mine:
            fill = colour if r["verdict"] == "ok" else "#ffffff"
            at = f'cx="{x(r[key]):.1f}" cy="{y(r["p99"]):.1f}"'
            out.append(f'<circle {at} r="4.5" fill="{fill}" stroke="{colour}" stroke-width="2"/>')
