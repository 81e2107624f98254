#!/usr/bin/env python3
"""Checks `wayhop topology` against a plain computation: positions sampled, every shortest path listed.

    bench/topology.py --wayhop target/dist/wayhop M.tcl [M.tcl.gz ...] [--src 1 --dst 2] [--step 0.05]

Reads setdest files by itself, moves the nodes in small steps, lists all shortest paths between the two nodes whenever the
links differ from those of the step before, and intersects the sets as Holland and Vaidya define a path change. What comes
and goes within one step it cannot see, so its counts may be lower where ours has steps shorter than that; those are told.
Prints a line for each file and fails on a difference that sampling does not explain.
"""
import argparse
import gzip
import json
import math
import re
import subprocess
import sys

PLACE = re.compile(r"\$node_\((\d+)\) set ([XYZ])_ ([-\d.e]+)")
MOVE = re.compile(r'\$ns_ at ([\d.e+-]+) "\$node_\((\d+)\) setdest ([-\d.e]+) ([-\d.e]+) ([\d.e]+)"')


def legs(path):
    """By node: a list of (from, x, y, vx, vy, until)."""
    opener = gzip.open if path.endswith(".gz") else open
    start, now, out = {}, {}, {}
    with opener(path, "rt") as lines:
        for line in lines:
            if m := PLACE.match(line):
                start.setdefault(int(m[1]), {})[m[2]] = float(m[3])
            elif m := MOVE.match(line):
                t, node, x, y, v = float(m[1]), int(m[2]), float(m[3]), float(m[4]), float(m[5])
                if node not in now:
                    now[node] = (0.0, start[node]["X"], start[node]["Y"], 0.0, 0.0, 0.0)
                    out[node] = []
                px, py = place(now[node], t)
                out[node].append(now[node])
                d = math.hypot(x - px, y - py)
                vx, vy = ((x - px) / d * v, (y - py) / d * v) if d > 0 else (0.0, 0.0)
                now[node] = (t, px, py, vx, vy, t + d / v if v > 0 else t)
    for node in start:
        out.setdefault(node, []).append(now.get(node, (0.0, start[node]["X"], start[node]["Y"], 0.0, 0.0, 0.0)))
    return [out[n] for n in sorted(out)]


def place(leg, t):
    since, x, y, vx, vy, until = leg
    dt = max(0.0, min(t, until) - since)
    return x + vx * dt, y + vy * dt


def shortest_paths(near, src, dst):
    """All of them, each a tuple of nodes."""
    hops, before, front = {src: 0}, {src: []}, [src]
    while front and dst not in hops:
        later = []
        for u in front:
            for w in near[u]:
                if w not in hops:
                    hops[w], before[w] = hops[u] + 1, [u]
                    later.append(w)
                elif hops[w] == hops[u] + 1:
                    before[w].append(u)
        front = later
    if dst not in hops:
        return set()
    paths = [(dst,)]
    while paths[0][0] != src:
        paths = [(u, *p) for p in paths for u in before[p[0]]]
    return set(paths)


def sampled(path, src, dst, reach, end, step):
    nodes = legs(path)
    at = [0] * len(nodes)
    last, standing, hops = None, None, None
    found = {"path_changes": 0, "hop_changes": 0, "partitions": 0}
    time = {}
    for k in range(round(end / step)):
        t = (k + 0.5) * step
        where = []
        for i, mine in enumerate(nodes):
            while at[i] + 1 < len(mine) and mine[at[i] + 1][0] <= t:
                at[i] += 1
            where.append(place(mine[at[i]], t))
        near = [[] for _ in nodes]
        for a, (ax, ay) in enumerate(where):
            for b in range(a + 1, len(nodes)):
                dx = where[b][0] - ax
                if -reach < dx < reach:
                    dy = where[b][1] - ay
                    if dx * dx + dy * dy < reach * reach:
                        near[a].append(b)
                        near[b].append(a)
        if near != last:
            last = near
            paths = shortest_paths(near, src, dst)
            now = len(next(iter(paths))) - 1 if paths else None
            if k == 0:
                standing = paths
            elif now != hops:
                found["hop_changes"] += 1
                found["path_changes"] += 1
                found["partitions"] += now is None
                standing = paths
            else:
                standing &= paths
                if paths and not standing:
                    found["path_changes"] += 1
                    standing = paths
            hops = now
        time[hops] = time.get(hops, 0) + 1
    whole = sum(time.values())
    return found, {h: n / whole for h, n in time.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--src", type=int, default=1)
    parser.add_argument("--dst", type=int, default=2)
    parser.add_argument("--range", type=float, default=250.0)
    parser.add_argument("--duration", type=float, default=1800.0)
    parser.add_argument("--step", type=float, default=0.1)
    a = parser.parse_args()
    wrong = 0
    for path in a.files:
        command = [a.wayhop, "topology", "--movement", path, "--src", str(a.src), "--dst", str(a.dst), "--range", str(a.range)]
        told = json.loads(subprocess.check_output([*command, "--duration", str(a.duration), "--json"]))["flows"][0]
        ours = told["topology"]
        theirs, share = sampled(path, a.src, a.dst, a.range, a.duration, a.step)
        # Each of our steps that is shorter than theirs hides up to two changes.
        starts = [s for s, _ in told["profile"]] + [a.duration]
        short = sum(1 for s, e in zip(starts, starts[1:]) if e - s < a.step)
        off = {k: ours[k] - theirs[k] for k in theirs}
        shares = {k + 1: s for k, s in enumerate(ours["hop_share"])} | {None: ours["unreachable_share"]}
        worst = max(abs(shares.get(h, 0) - share.get(h, 0)) for h in shares | share)
        bound = a.step * (len(starts) + 1) / a.duration
        bad = any(not 0 <= d <= 2 * short for d in off.values()) or worst > bound
        wrong += bad
        print(f"{path}: {theirs} sampled, {off} more of ours, {short} steps below {a.step} s; shares within {worst:.6f}"
              f"{'  DIFFERS' if bad else ''}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
