#!/usr/bin/env python3
"""Draws docs/img/first.svg: one flow of scenarios/first.toml under DSR and under AODV, packet by packet.

Runs the scenario with both protocols, reads what `wayhop export csv` says of the runs, and needs nothing but Python.
Usage: docs/img/make.py    (after `cargo build --release -p wayhop-cli`, or with the binary named in WAYHOP)
"""

import csv
import math
import os
import subprocess
import tempfile
from collections import defaultdict, deque
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
WAYHOP = os.environ.get("WAYHOP", ROOT / "target/release/wayhop")
SCENARIO = ROOT / "scenarios/first.toml"
PROTOCOLS = ["dsr", "aodv"]
FLOW = 8
MOMENT_S = 67.75
TRAIL_S = 4.0
DURATION_S = 120
AREA_M = (1500, 300)
RANGE_M = 250

# Okabe and Ito's colours, which people with any kind of colour vision tell apart.
COLOUR = {"dsr": "#0072B2", "aodv": "#D55E00"}
INK, SOFT, FAINT, PAPER, GROUND = "#24292f", "#6e7781", "#d5dae0", "#ffffff", "#f6f8fa"
LOSSES = [
    ("link broke, no other way", {"NO_SALVAGE", "SALVAGE_LIMIT", "MAC_RETRIES"}, INK),
    ("pushed out while ARP asked", {"ARP_FULL", "ARP_FAILED"}, "#CC79A7"),
    ("no route", {"NO_ROUTE", "DISCOVERY_FAILED", "BUFFER_TIMEOUT", "BUFFER_FULL"}, "#009E73"),
    ("queue full", {"QUEUE_FULL"}, "#E69F00"),
    ("held when the run ended", {"HELD"}, SOFT),
]


class Packet:
    """One data packet: when it was made, which nodes had it, and how it ended."""

    def __init__(self, made_s):
        self.made_s, self.latency_ms, self.path, self.end = made_s, None, [], "HELD"

    @property
    def hops(self):
        return len(self.path) - 1


def table(run, name):
    out = subprocess.run([WAYHOP, "export", "csv", run, name], check=True, capture_output=True, text=True).stdout
    return csv.DictReader(out.splitlines())


def packets_of_the_flow(run):
    packets = {}
    for row in table(run, "packets"):
        if row["flow"] != str(FLOW):
            continue
        time_s, seq, event = int(row["time_ns"]) / 1e9, int(row["seq"]), row["event"]
        if event == "originate":
            packets[seq] = Packet(time_s)
        p = packets[seq]
        if event in ("originate", "receive") and p.latency_ms is None:
            p.path.append(int(row["node"]))
        elif event == "deliver" and p.latency_ms is None:
            p.latency_ms, p.end = (time_s - p.made_s) * 1e3, "DELIVERED"
        elif event == "drop" and p.end != "DELIVERED":
            p.end = row["reason"]
    return list(packets.values())


class Motion:
    """Where nodes are: the positions table holds the legs of their motion."""

    def __init__(self, run):
        self.legs = defaultdict(list)
        for row in table(run, "positions"):
            leg = [float(row[k]) for k in ("time_ns", "x_m", "y_m", "vx_mps", "vy_mps")]
            self.legs[int(row["node"])].append(leg)

    def at(self, node, time_s):
        begin, x, y, vx, vy = [leg for leg in self.legs[node] if leg[0] <= max(time_s, 0) * 1e9][-1]
        s = max(time_s, 0) - begin / 1e9
        return x + vx * s, y + vy * s

    def links(self, time_s):
        at = {n: self.at(n, time_s) for n in self.legs}
        near = lambda a, b: (at[a][0] - at[b][0]) ** 2 + (at[a][1] - at[b][1]) ** 2 <= RANGE_M**2
        return [(a, b) for a in at for b in at if a < b and near(a, b)]

    def fewest_hops(self, source, target, time_s):
        neighbours = defaultdict(list)
        for a, b in self.links(time_s):
            neighbours[a].append(b)
            neighbours[b].append(a)
        hops, todo = {source: 0}, deque([source])
        while todo:
            a = todo.popleft()
            for b in neighbours[a]:
                if b not in hops:
                    hops[b] = hops[a] + 1
                    todo.append(b)
        return hops.get(target)


class Drawing:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def add(self, tag, text=None, **attributes):
        attrs = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in attributes.items())
        self.parts.append(f"<{tag}{attrs}/>" if text is None else f"<{tag}{attrs}>{escape(text)}</{tag}>")

    def text(self, x, y, text, size=13, fill=INK, anchor="start", **more):
        self.add("text", text, x=f"{x:.1f}", y=f"{y:.1f}", font_size=size, fill=fill, text_anchor=anchor, **more)

    def lines(self, segments, stroke, width, **more):
        d = "".join(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" for x1, y1, x2, y2 in segments)
        self.add("path", d=d, stroke=stroke, stroke_width=width, fill="none", **more)

    def dots(self, points, fill, radius, **more):
        """Many equal dots as one path: lines of no length with round ends."""
        d = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
        self.add("path", d=d, stroke=fill, stroke_width=2 * radius, stroke_linecap="round", fill="none", **more)

    def polyline(self, points, stroke, width, **more):
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.add("path", d=d, stroke=stroke, stroke_width=width, fill="none", stroke_linejoin="round", **more)

    def svg(self, title):
        font = "system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,sans-serif"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
                f' width="{self.width}" height="{self.height}" font-family="{font}" role="img">',
                f"<title>{escape(title)}</title>",
                f'<rect x=".5" y=".5" width="{self.width - 1}" height="{self.height - 1}" rx="10"'
                f' fill="{PAPER}" stroke="{FAINT}"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def draw_map(d, motion, packets, left, top, width):
    scale = width / AREA_M[0]
    height = AREA_M[1] * scale
    place = lambda n, t=MOMENT_S: (left + motion.at(n, t)[0] * scale, top + height - motion.at(n, t)[1] * scale)
    d.add("rect", x=left, y=top, width=width, height=f"{height:.1f}", fill=GROUND, stroke=FAINT)
    d.lines([place(a) + place(b) for a, b in motion.links(MOMENT_S)], "#e4e8ec", 1)
    d.lines([place(n, MOMENT_S - TRAIL_S) + place(n) for n in motion.legs], "#b8c0c8", 2, stroke_linecap="round")
    d.dots([place(n) for n in motion.legs], "#8c959f", 3.2)

    for name in reversed(PROTOCOLS):
        path = next(p for p in packets[name] if p.made_s >= MOMENT_S and p.latency_ms is not None).path
        points = [place(n) for n in path]
        d.polyline(points, PAPER, 6.5, stroke_linecap="round")
        d.polyline(points, COLOUR[name], 3.2, stroke_linecap="round")
        d.dots(points[1:-1], PAPER, 6)
        d.dots(points[1:-1], COLOUR[name], 4.6)
    source, target = path[0], path[-1]
    for node, word, then in ((source, "source", path[1]), (target, "destination", path[-2])):
        x, y = place(node)
        d.add("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=7, fill=INK, stroke=PAPER, stroke_width=2)
        halo = {"stroke": GROUND, "stroke_width": 4, "paint_order": "stroke", "stroke_linejoin": "round"}
        # On the side that the path does not leave by.
        d.text(x - 4, y - 11 if place(then)[1] > y else y + 22, word, 13, font_weight=600, **halo)
    bar = left + width - 250 * scale - 12
    d.lines([(bar, top + 14, bar + 250 * scale, top + 14)], SOFT, 1.5)
    d.text(bar + 125 * scale, top + 28, "250 m: radio range", 11.5, SOFT, "middle")
    return source, target, top + height


def draw_protocol(d, name, packets, fewest, causes, left, top, width, labels):
    x = lambda s: left + width * s / DURATION_S
    delivered = [p for p in packets if p.latency_ms is not None]
    d.text(left, top, name.upper(), 15, COLOUR[name], font_weight=700)
    share = 100 * len(delivered) / len(packets)
    d.text(left + width, top, f"{len(delivered)} of {len(packets)} packets arrived ({share:.0f} %)", 13, anchor="end")

    y = top + 22
    for label, reasons, colour in causes:
        lost = [p.made_s for p in packets if p.end in reasons]
        d.lines([(left, y, left + width, y)], FAINT, 1)
        d.lines([(x(s), y - 6, x(s), y + 6) for s in lost], colour, 1.8)
        d.text(left + width + 6, y + 4, str(len(lost)), 12, colour)
        if labels:
            d.text(left - 10, y + 4, label, 12, colour, "end")
        y += 18

    top, height = y + 4, 120
    low, high = 3, 1000
    log_y = lambda ms: top + height - height * math.log(min(max(ms, low), high) / low) / math.log(high / low)
    for ms in (10, 100, 1000):
        d.lines([(left, log_y(ms), left + width, log_y(ms))], FAINT, 1)
        if labels:
            d.text(left - 10, log_y(ms) + 4, f"{ms} ms" if ms < 1000 else "1 s", 12, SOFT, "end")
    d.dots([(x(p.made_s), log_y(p.latency_ms)) for p in delivered], COLOUR[name], 1.7, stroke_opacity=0.75)
    if labels:
        d.text(left - 62, top + height / 2 + 4, "latency", 12.5, anchor="end")

    top, height = top + height + 16, 66
    most = 9
    hop_y = lambda h: top + height - height * h / most
    for h in (0, 3, 6, 9):
        d.lines([(left, hop_y(h), left + width, hop_y(h))], FAINT, 1)
        if labels:
            d.text(left - 10, hop_y(h) + 4, str(h), 12, SOFT, "end")
    steps = [(x(s), hop_y(h)) for s, h in fewest if h is not None]
    d.polyline(steps, "#9aa4ae", 1.4)
    d.dots([(x(p.made_s), hop_y(p.hops)) for p in delivered], COLOUR[name], 1.7, stroke_opacity=0.75)
    if labels:
        d.text(left - 62, top + height / 2 - 2, "hops taken", 12.5, anchor="end")
        d.text(left - 62, top + height / 2 + 14, "fewest possible", 12.5, "#7d8790", "end")

    bottom = top + height
    for s in range(0, DURATION_S + 1, 30):
        d.text(x(s), bottom + 17, f"{s} s", 12, SOFT, "middle")
    d.lines([(x(MOMENT_S), y - 6, x(MOMENT_S), bottom)], INK, 1, stroke_dasharray="2 3")
    return bottom + 17


def main():
    with tempfile.TemporaryDirectory() as scratch:
        packets = {}
        for name in PROTOCOLS:
            run = Path(scratch) / name
            command = [WAYHOP, "run", SCENARIO, "--set", f"protocol.name={name}", "--out", run, "--quiet"]
            subprocess.run(command, check=True)
            packets[name] = packets_of_the_flow(run)
        motion = Motion(run)

    ends = {p.end for name in PROTOCOLS for p in packets[name]}
    known = set().union(*(reasons for _, reasons, _ in LOSSES)) | {"DELIVERED"}
    if ends - known:
        raise SystemExit(f"No row for packets that ended as {sorted(ends - known)}: add one to LOSSES")
    causes = [c for c in LOSSES if c[1] & ends]

    d = Drawing(960, 558 + 18 * len(causes))
    margin = 24
    d.text(margin, 34, f"The way of one packet over 50 moving nodes, {MOMENT_S:.0f} s after the start", 15, font_weight=600)
    key = d.width - margin
    for name in reversed(PROTOCOLS):
        d.text(key, 34, name.upper(), 14, COLOUR[name], "end", font_weight=700)
        key -= 10 * len(name) + 12
        d.lines([(key - 24, 29.5, key, 29.5)], COLOUR[name], 3.2, stroke_linecap="round")
        d.dots([(key - 12, 29.5)], COLOUR[name], 4.6)
        key -= 44
    source, target, y = draw_map(d, motion, packets, margin, 48, d.width - 2 * margin)

    fewest = [(s / 2, motion.fewest_hops(source, target, s / 2)) for s in range(2 * DURATION_S + 1)]
    d.text(margin, y + 34, "All packets of this flow, same movement", 15, font_weight=600)
    left, gap = 204, 44
    width = (d.width - left - margin - gap) / 2 - 8
    for i, name in enumerate(PROTOCOLS):
        draw_protocol(d, name, packets[name], fewest, causes, left + i * (width + gap), y + 62, width, labels=i == 0)

    title = "One flow over 50 moving nodes with DSR and with AODV: a path, each packet's latency and hops, and the losses"
    out = Path(__file__).with_name("first.svg")
    out.write_text(d.svg(title), encoding="utf-8")
    print(f"{out.relative_to(ROOT)}: {out.stat().st_size} octets")


if __name__ == "__main__":
    main()
