#!/usr/bin/env python3
"""How much faster several threads simulate one network, and whether the run is the same.

    threads.py [--nodes 10000 100000] [--threads 1 2] [--rounds 3]

AODV with a Hello per second from every node, random waypoint at 1 to 20 m/s, 9,000 m2 per node, no tables. The numbers of
threads take turns. Each has a short and a long run: their difference is the time of the later seconds, when tables have
grown to their size. All runs of a size and a duration must have the same trace hash.
"""

import argparse
import json
import math
import os
import statistics
import tempfile

import cases
import wayhop_run

SCENARIO = """duration_s = {duration}
nodes.count = {nodes}
area = {{ x_m = {side}, y_m = {side} }}
movement = {{ kind = "random-waypoint", speed_min_mps = 1, speed_max_mps = 20 }}
protocol = {{ name = "aodv", hello = "always" }}
"""
SQUARE_METRES_PER_NODE = 9_000
# Node seconds of the short run, and how many times as long the long one is.
SHORT_NODE_S = 200_000
LONG = 3


def measure(nodes, threads, duration, scratch):
    """Wall seconds of the run itself, its peak memory in MB, and its trace hash."""
    path = os.path.join(scratch, f"{nodes}-{duration:g}.toml")
    side = math.sqrt(nodes * SQUARE_METRES_PER_NODE)
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCENARIO.format(nodes=nodes, side=round(side), duration=duration))
    summary = wayhop_run.run_words([path, "--threads", threads], tables=False)
    return summary["wall_s"], summary["peak_kb"] / 1024, summary["trace_hash"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "threads.json"))
    arguments = parser.parse_args()

    report = []
    print(f"{'nodes':>8}{'threads':>9}{'start and first s':>20}{'wall s/s after':>16}{'times':>8}{'peak MB':>10}")
    for nodes in arguments.nodes:
        short = max(1.0, SHORT_NODE_S / nodes)
        walls = {(n, d): [] for n in arguments.threads for d in (short, LONG * short)}
        peaks, hashes = {}, {}
        with tempfile.TemporaryDirectory(prefix="wayhop-") as scratch:
            for _ in range(arguments.rounds):
                for threads, duration in walls:
                    wall, peak, trace_hash = measure(nodes, threads, duration, scratch)
                    walls[threads, duration].append(wall)
                    peaks[threads] = max(peak, peaks.get(threads, 0))
                    if hashes.setdefault(duration, trace_hash) != trace_hash:
                        raise SystemExit(f"{nodes} nodes, {threads} threads: another run")
        rows = {}
        for threads in arguments.threads:
            first, all_of_it = (statistics.median(walls[threads, d]) for d in (short, LONG * short))
            rows[threads] = (first, (all_of_it - first) / (short * (LONG - 1)))
        for threads, (first, later) in rows.items():
            times = rows[arguments.threads[0]][1] / later
            print(f"{nodes:>8}{threads:>9}{first:>20.2f}{later:>16.3f}{times:>8.2f}{peaks[threads]:>10.0f}", flush=True)
            report.append(
                {"nodes": nodes, "threads": threads, "first_s": short, "first_wall_s": round(first, 3)}
                | {"wall_s_per_s": round(later, 4), "times": round(times, 3), "peak_mb": round(peaks[threads])}
            )
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump(report, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
