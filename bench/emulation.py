#!/usr/bin/env python3
"""How much of a mesh this machine emulates on time: nodes and packet rates up to `degraded`. Needs root.

    emulation.py [--seconds 20] [--wayhop target/dist/wayhop]
    emulation.py --draw        # the curve again, from results/emulation.json

Nodes move at up to 10 m/s at the density of 50 in 1500 m x 300 m, over the default radio, with 10 flows of 64 octets; the
first series adds nodes at 4 packets a second and flow, the second packets at 100 nodes. One line a run: the time to set
the nodes up, events a second, and how late they were.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import emulation_curve

RESULTS = Path(__file__).resolve().parent / "results/emulation.json"

SCENARIO = """
duration_s = {seconds}
nodes.count = {nodes}
area = {{ x_m = {x}, y_m = {y} }}
movement = {{ kind = "random-waypoint", speed_max_mps = 10, steady_state = true }}
[[traffic]]
kind = "cbr-random"
connections = 10
rate_pps = {rate}
start_max_s = 2
"""
# Square metres to a node.
DENSITY = 1500 * 300 / 50


def run(wayhop, protocol, nodes, rate, seconds):
    side = (nodes * DENSITY / 5) ** 0.5
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.toml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(SCENARIO.format(nodes=nodes, rate=rate, seconds=seconds, x=5 * side, y=side))
        command = [wayhop, "emulate", path, "--no-out", "--json", "--protocol", protocol]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    setup = re.search(r"nodes up in ([\d.]+) s", done.stderr)
    return json.loads(done.stdout), float(setup.group(1)) if setup else float("nan")


def measure(wayhop, series, protocol, nodes, rate, seconds):
    """One run's line, printed; as a record for the results."""
    summary, setup = run(wayhop, protocol, nodes, rate, seconds)
    record = {"series": series, "protocol": protocol, "nodes": nodes, "pps_a_flow": rate}
    if summary is None:
        print(f"{protocol:8}{nodes:7}{rate:9}   failed: {setup}", flush=True)
        return record | {"verdict": "failed", "error": setup}
    late = summary["lateness_us"]
    print(
        f"{protocol:8}{nodes:7}{rate:9}{setup:9.2f}{summary['events'] / summary['simulated_s']:12,.0f}"
        f"{100 * summary['totals']['delivery_ratio']:11.1f}{late['p50']:9.0f}{late['p99']:9.0f}{late['max']:10.0f}"
        f"{100 * late['late_share']:9.3f}   {late['verdict']}",
        flush=True,
    )
    return record | {
        "setup_s": setup,
        "events_a_second": summary["events"] / summary["simulated_s"],
        "delivery_ratio": summary["totals"]["delivery_ratio"],
        **late,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--protocols", nargs="+", default=["aodv", "dsr"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[50, 100, 200, 400, 800, 1600, 2000, 2400])
    parser.add_argument("--rates", type=int, nargs="+", default=[20, 50, 100, 200, 400])
    parser.add_argument("--draw", action="store_true", help="only draw the results of last time")
    a = parser.parse_args()
    if not a.draw:
        records = []
        print("                  pps a    setup      events  delivered            late, us           late")
        print("protocol  nodes    flow        s    a second          %      p50      p99       max        %   verdict")
        for protocol in a.protocols:
            steps = [("nodes", nodes, 4) for nodes in a.nodes], [("rate", 100, rate) for rate in a.rates]
            for series in steps:
                for step in series:
                    records.append(measure(a.wayhop, step[0], protocol, *step[1:], a.seconds))
                    if records[-1]["verdict"] != "ok":
                        break
        RESULTS.write_text(json.dumps({"seconds": a.seconds, "runs": records}, indent=1) + "\n", encoding="utf-8")
    emulation_curve.draw(json.loads(RESULTS.read_text(encoding="utf-8"))["runs"])


if __name__ == "__main__":
    main()
