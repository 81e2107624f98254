#!/usr/bin/env python3
"""What babeld's start costs a mesh: 22, 50 and 100 nodes that all start it at once, in `wayhop emulate`. Needs root, babeld.

    babeld.py [--nodes 22 50 100] [--layouts dense spread] [--types wireless wired] [--wayhop target/dist/wayhop] [--keep DIR]
    babeld.py --stored     # the tables again, from results/babeld.json

In the dense layout all nodes are in a square of 250 m, so everybody hears everybody, or nearly, as in an emulator without a radio model.
In the spread one they have the density of 50 in 1500 m x 300 m. They do not move; the radio is the default one (2 Mb/s, 250 m). All
babeld start 30 s after the emulation, which has its programs started by then, and run for 120 s. `ip monitor` in each node notes when
its kernel gets a route. After 60 s of them, five pairs of nodes begin to ping each other.

One line a run: the time until every node has a route to every other, Babel's traffic (IP packets) while routes appear, in the second
with the most, and after the first 60 s; the share of receptions of Babel's packets that were lost, at five nodes, the pings that were lost and
why, processor time, and whether the emulation kept up with the clock.
"""

import argparse
import csv
import json
import math
import operator
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results/babeld.json"
# When the daemons start, when the mesh has settled, and when the run ends, s.
START, STEADY, SECONDS = 30, 90, 150
RANGE = 250
# Square metres to a node in the spread layout.
DENSITY = 1500 * 300 / 50

SCENARIO = """
name = "babeld-{nodes}-{layout}"
duration_s = {seconds}
nodes.count = {nodes}
movement = {{ kind = "static", positions = {positions} }}
protocol.name = "none"

"""
# The emulation is busy for some milliseconds while it starts a program: one after the other, and then all begin at once.
PROGRAM = """
[[programs]]
node = {node}
start_s = {start:.1f}
command = [
    "sh", "-c",
    "TZ=UTC ip -4 -ts monitor route & sleep {wait:.1f}; echo begin $(date +%s.%N); exec babeld -I '' -S '' -C 'default type {type}' {{interface}}",
]
output = "{{node}}.txt"
"""
PING = """
[[traffic]]
kind = "ping"
src = {src}
dst = {dst}
start_s = {start}
"""


def is_connected(positions):
    """Whether every node reaches every other over links of at most the radio's range."""
    found, border = {0}, [0]
    while border:
        at = positions[border.pop()]
        new = [i for i, p in enumerate(positions) if i not in found and math.dist(at, p) < RANGE]
        found.update(new)
        border += new
    return len(found) == len(positions)


def place(nodes, layout, seed=1):
    """Random positions from which everybody can be reached: the first such layout of the seed."""
    side = (nodes * DENSITY / 5) ** 0.5
    x, y = (250, 250) if layout == "dense" else (5 * side, side)
    draw = random.Random(seed)
    for _ in range(10_000):
        positions = [[round(draw.uniform(0, x), 1), round(draw.uniform(0, y), 1)] for _ in range(nodes)]
        if is_connected(positions):
            return positions
    raise RuntimeError(f"no connected layout of {nodes} nodes among 10,000")


def neighbours(positions):
    """Nodes in range of a node, on average."""
    pairs = sum(math.dist(a, b) < RANGE for a in positions for b in positions) - len(positions)
    return pairs / len(positions)


def complete_after(text, others):
    """Seconds from the line "begin TIME" in a log of `ip -ts monitor route` until it has had a route of Babel to that many
    destinations at once; None if it never had. And how many it has at the end."""
    begin, present, after = None, set(), None
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["begin"]:
            begin = float(words[1])
        if begin is None or "proto" not in words or words[words.index("proto") + 1] != "babel":
            continue
        stamp, *rest = words
        # "[TIME] Deleted unreachable 10.0.0.2 proto babel ...": both words may be absent.
        gone = [word for word in rest[:2] if word in ("Deleted", "unreachable")]
        (present.discard if gone else present.add)(rest[len(gone)])
        if after is None and len(present) == others:
            at = datetime.fromisoformat(stamp.strip("[]")).replace(tzinfo=timezone.utc).timestamp()
            after = at - begin
    return after, len(present)


def kbps(packets, begin, end):
    """kbit/s of the packets, (second, bytes) each, in a time."""
    return sum(octets for at, octets in packets if begin <= at < end) * 8 / 1000 / (end - begin)


def peak_kbps(packets):
    """kbit/s in the second with the most."""
    seconds = Counter()
    for at, octets in packets:
        seconds[int(at)] += octets
    return max(seconds.values(), default=0) * 8 / 1000


def table(wayhop, run, name):
    """The rows of a table of a run, as texts by column."""
    with subprocess.Popen([wayhop, "export", "csv", run, name], stdout=subprocess.PIPE, text=True) as export:
        yield from csv.DictReader(export.stdout)
    if export.returncode:
        raise RuntimeError(f"the table {name} of {run} cannot be read")


def processor_s(pid):
    """Processor time of a process itself so far, without its children."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def emulate(wayhop, path, run, sampled):
    """Runs a scenario; gives the summary, the processor time of Wayhop, and of all programs in the nodes."""
    command = [wayhop, "emulate", path, "--trust", "--out", run, "--json", "--quiet", "--receptions", *map(str, sampled)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        own = 0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            own = max(own, processor_s(process.pid))
            time.sleep(0.2)
        # So that its end is not waited for again.
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read()
        if "{" not in text:
            raise RuntimeError(err.read().strip())
    # The emulation ends its programs and waits for them, so their time is in its own children's.
    return json.loads(text[text.index("{"):]), own, usage.ru_utime + usage.ru_stime - own


def measure(wayhop, nodes, layout, kind, keep):
    positions = place(nodes, layout)
    text = SCENARIO.format(nodes=nodes, layout=layout, seconds=SECONDS, positions=positions)
    for node in range(nodes):
        start = 5 + 0.2 * node
        text += PROGRAM.format(node=node, start=start, wait=START - start, type=kind)
    for src in range(5):
        text += PING.format(src=src, dst=src + nodes // 2, start=STEADY)
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(keep or folder, f"{nodes}-{layout}-{kind}")
        path = os.path.join(folder, "s.toml")
        Path(path).write_text(text, encoding="utf-8")
        summary, own, programs = emulate(wayhop, path, run, range(0, nodes, nodes // 5))
        logs = [Path(run, f"programs/{n}.txt").read_text(encoding="utf-8") for n in range(nodes)]
        babel = {}
        for row in table(wayhop, run, "packets"):
            if row["event"] == "send" and row["protocol"] == "babel":
                babel[row["packet"]] = (int(row["time_ns"]) / 1e9, int(row["bytes"]))
        fates = Counter(row["outcome"] for row in table(wayhop, run, "receptions") if row["packet"] in babel)
        lost = Counter(row["reason"] or row["outcome"] for row in table(wayhop, run, "outcomes") if row["outcome"] != "delivered")
    ends = [complete_after(log, nodes - 1) for log in logs]
    times = [after for after, _ in ends]
    packets = list(babel.values())
    complete = None if None in times else max(times)
    late = summary["lateness_us"]
    return {
        "nodes": nodes,
        "layout": layout,
        "type": kind,
        "neighbours": neighbours(positions),
        "complete_s": complete,
        "complete_nodes": sum(t is not None for t in times),
        "routes_at_end": sum(count for _, count in ends),
        "start_kbps": kbps(packets, START, START + complete if complete else SECONDS),
        "peak_kbps": peak_kbps(packets),
        "steady_kbps": kbps(packets, STEADY, SECONDS),
        "packets": len(packets),
        "kbps_by_5s": [round(kbps(packets, t, t + 5), 2) for t in range(START, SECONDS, 5)],
        "receptions": dict(fates),
        "events": summary["events"],
        "pings": summary["totals"]["sent"],
        "pings_lost": dict(lost),
        "wayhop_cpu_s": own,
        "programs_cpu_s": programs,
        "load": os.getloadavg()[0],
        **{f"late_{key}": late[key] for key in ("p50", "p99", "max", "late_share", "verdict")},
    }


def show(runs):
    print("                      neigh-   all routes   kbit/s: start    peak  steady   kbit/s a node   lost, %     pings     CPU s: Wayhop")
    print("nodes  layout  type     bours        after            (all nodes' sum)              steady    frames      lost        programs")
    for r in runs:
        received = r["receptions"].get("received", 0)
        frames = sum(r["receptions"].values())
        lost = 100 * (1 - received / frames) if frames else float("nan")
        complete = "never" if r["complete_s"] is None else f"{r['complete_s']:.1f} s"
        print(
            f"{r['nodes']:5}  {r['layout']:7} {r['type']:8}{r['neighbours']:6.1f}{complete:>13}{r['start_kbps']:16.1f}{r['peak_kbps']:8.1f}"
            f"{r['steady_kbps']:8.1f}{r['steady_kbps'] / r['nodes']:16.2f}{lost:10.1f}"
            f"{sum(r['pings_lost'].values()):6}/{r['pings']}{r['wayhop_cpu_s']:8.1f}{r['programs_cpu_s']:8.1f}   {r['late_verdict']}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wayhop", default=os.environ.get("WAYHOP", "target/dist/wayhop"))
    parser.add_argument("--nodes", type=int, nargs="+", default=[22, 50, 100])
    parser.add_argument("--layouts", nargs="+", choices=["dense", "spread"], default=["dense", "spread"])
    parser.add_argument("--types", nargs="+", choices=["wireless", "wired"], default=["wireless", "wired"])
    parser.add_argument("--keep", help="a folder for the run directories")
    parser.add_argument("--stored", action="store_true", help="only show the results of last time")
    a = parser.parse_args()
    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"] if RESULTS.exists() else []
    if not a.stored:
        for layout in a.layouts:
            for kind in a.types:
                for nodes in a.nodes:
                    new = measure(a.wayhop, nodes, layout, kind, a.keep)
                    print(json.dumps(new), file=sys.stderr, flush=True)
                    key = operator.itemgetter("layout", "type", "nodes")
                    runs = sorted([r for r in runs if key(r) != key(new)] + [new], key=key)
                    RESULTS.write_text(json.dumps({"seconds": SECONDS, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    show(runs)


if __name__ == "__main__":
    main()
