#!/usr/bin/env python3
"""What a node costs: the peak memory of runs with many and with few nodes.

    memory.py [--protocols dsr aodv dsdv] [--nodes 100000] [--greeting 4000]

The difference of the peaks of 1,000 and of N + 1,000 nodes, over N, without traffic. Idle nodes stand 1 km apart, so that nobody
hears anybody. DSR and AODV are silent then. DSDV sends an update every 15 s: its run is shorter than the first. Greeting nodes move
at 1 to 20 m/s, 9,000 square metres each, and hear a Hello of AODV per second from each of some 21 neighbours, for 5 s.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile

import cases
import wayhop_run

FEW = 1_000
# Octets of a mebibyte in the kernel's count, which is in KiB.
KIB = 1024


def idle(protocol, nodes, seconds):
    """A scenario of nodes that hear nobody."""
    return (
        f"duration_s = {seconds}\nnodes.count = {nodes}\n"
        f"movement = {{ kind = \"grid\", spacing_m = 1000 }}\nprotocol = {{ name = \"{protocol}\" }}\n"
    )


def greeting(nodes):
    """A scenario of nodes that send Hellos."""
    side = math.sqrt(9_000 * nodes)
    return (
        f"duration_s = 5\nnodes.count = {nodes}\narea = {{ x_m = {side}, y_m = {side} }}\n"
        "movement = { kind = \"random-waypoint\", speed_min_mps = 1, speed_max_mps = 20 }\n"
        "protocol = { name = \"aodv\", hello = \"always\" }\n"
    )


def peak_octets(scenario):
    """The peak of a run's resident memory."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", delete=False) as f:
        f.write(scenario)
    try:
        command = [wayhop_run.binary(), "run", f.name, "--no-out", "--quiet"]
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, f"{command} failed"
        return usage.ru_maxrss * KIB
    finally:
        os.unlink(f.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protocols", nargs="+", default=["dsr", "aodv", "dsdv"])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=0.001)
    parser.add_argument("--greeting", type=int, default=4_000)
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "memory.json"))
    arguments = parser.parse_args()
    rows = {}

    def measure(name, nodes, scenario):
        few, many = (peak_octets(scenario(n)) for n in (FEW, FEW + nodes))
        rows[name] = {"octets_a_node": round((many - few) / nodes), "peak_octets": many}
        print(f"{name:12} {rows[name]['octets_a_node']:6} octets a node")

    for protocol in arguments.protocols:
        measure(protocol, arguments.nodes, lambda n, protocol=protocol: idle(protocol, n, arguments.seconds))
    measure("aodv-hellos", arguments.greeting, greeting)
    with open(arguments.out, "w") as f:
        json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
