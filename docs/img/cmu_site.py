#!/usr/bin/env python3
"""Draws docs/img/cmu-site.svg from scenarios/cmu/site.geojson. Needs nothing but Python.

Usage: docs/img/cmu_site.py
"""

import json
import math
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
MAP = ROOT / "scenarios/cmu/site.geojson"
ORIGIN = (40.43, -79.95)  # latitude and longitude, as in scenarios/cmu/*.toml
SIZE_M = (700, 300)
MARGIN = 40

COURSE, ZONE = "#0072B2", "#D55E00"
INK, SOFT, BUILDING, GROUND = "#24292f", "#6e7781", "#d5dae0", "#f6f8fa"


def local(position):
    """Metres east and north of the origin, on the WGS 84 ellipsoid's plane there."""
    lat, lon = map(math.radians, ORIGIN)
    a, e2 = 6378137.0, 0.00669437999014
    w = 1 - e2 * math.sin(lat) ** 2
    east = (math.radians(position[0]) - lon) * a / math.sqrt(w) * math.cos(lat)
    north = (math.radians(position[1]) - lat) * a * (1 - e2) / w**1.5
    return MARGIN + east, MARGIN + SIZE_M[1] - north


def path(positions, close=False):
    points = (f"{x:.1f} {y:.1f}" for x, y in map(local, positions))
    return "M" + "L".join(points) + ("Z" if close else "")


def text(x, y, words, colour=INK, anchor="middle", size=12):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}">{escape(words)}</text>')


def draw(feature):
    kind, name = feature["properties"]["kind"], feature["properties"]["name"]
    coordinates = feature["geometry"]["coordinates"]
    if kind in ("building", "area"):
        xs, ys = zip(*map(local, coordinates[0]))
        fill = BUILDING if kind == "building" else "none"
        edge = SOFT if kind == "building" else BUILDING
        yield f'<path d="{path(coordinates[0], True)}" fill="{fill}" stroke="{edge}"/>'
        yield text(sum((min(xs), max(xs))) / 2, sum((min(ys), max(ys))) / 2 + 4, name, INK if kind == "building" else SOFT)
    elif kind == "zone":
        yield f'<path d="{path(coordinates[0], True)}" fill="{ZONE}" fill-opacity="0.15" stroke="{ZONE}" stroke-dasharray="4 3"/>'
        x, y = local(coordinates[0][1])
        yield text(x - 4, y - 4, f"zone “{name}”", ZONE, "end", 11)
    elif kind == "course":
        yield f'<path d="{path(coordinates)}" fill="none" stroke="{COURSE}" stroke-width="4" stroke-linejoin="round"/>'
    elif kind == "stop":
        x, y = local(coordinates)
        yield f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{INK}"/>'
    elif kind == "node":
        x, y = local(coordinates)
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{INK}"/>'
        yield text(x, y + 22, name, size=14)


def main():
    features = json.loads(MAP.read_text())["features"]
    order = ["area", "building", "zone", "course", "stop", "node"]
    features.sort(key=lambda f: order.index(f["properties"]["kind"]))
    width, height = SIZE_M[0] + 2 * MARGIN, SIZE_M[1] + 2 * MARGIN + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" role="img">',
           "<title>The CMU testbed's site as these scenarios have it</title>",
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIZE_M[0]}" height="{SIZE_M[1]}" fill="{GROUND}" stroke="{BUILDING}"/>']
    for f in features:
        out += draw(f)
    y = MARGIN + SIZE_M[1] + 22
    out += [f'<path d="M{MARGIN} {y}h200" stroke="{INK}" stroke-width="2"/>', text(MARGIN + 100, y + 16, "200 m"),
            text(MARGIN + 230, y + 4, "blue: the course, there and back; squares: stop signs; site 700 m x 300 m", SOFT, "start"),
            "</svg>"]
    (ROOT / "docs/img/cmu-site.svg").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
