#!/usr/bin/env python3
"""What an idle node costs: the peak memory of runs with many and with few nodes that stand still and say nothing.

    memory.py [--protocols dsr aodv dsdv] [--nodes 100000]

The difference of the peaks of 1,000 and of N + 1,000 nodes, over N. Nodes stand 1 km apart, so that nobody hears anybody; there
is no traffic. DSR and AODV are silent then. DSDV sends an update every 15 s: its run is shorter than the first.
"""

import argparse
import json
import os
import subprocess
import tempfile

import cases
import wayhop_run

FEW = 1_000
# Octets of a mebibyte in the kernel's count, which is in KiB.
KIB = 1024


def peak_octets(protocol, nodes, seconds):
    """The peak of a run's resident memory."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", delete=False) as f:
        f.write(f"duration_s = {seconds}\nnodes.count = {nodes}\n")
        f.write("movement = { kind = \"grid\", spacing_m = 1000 }\n")
        f.write(f"protocol = {{ name = \"{protocol}\" }}\n")
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
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "memory.json"))
    arguments = parser.parse_args()
    rows = {}
    for protocol in arguments.protocols:
        few = peak_octets(protocol, FEW, arguments.seconds)
        many = peak_octets(protocol, FEW + arguments.nodes, arguments.seconds)
        rows[protocol] = {"octets_a_node": round((many - few) / arguments.nodes), "peak_octets": many}
        print(f"{protocol:5} {rows[protocol]['octets_a_node']:6} octets a node")
    with open(arguments.out, "w") as f:
        json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
