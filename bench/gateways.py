#!/usr/bin/env python3
"""Measure how long a flow to the outside is interrupted, and how many packets it loses, when one of two gateways fails.

    gateways.py [--seeds N]

Runs scenarios/gateways.toml with each protocol: node `reader` sends 100 packets/s to `internet` through its neighbour, the gateway
`east`. After 60 s, `east` either loses its uplink or falls silent altogether; the other gateway, `west`, is three hops away.
Prints, as Markdown, median and maximum over the seeds of the time from the failure to the next delivered packet, and of the
number of lost packets. All numbers go to results/gateways.json.

What must hold: every run recovers. Exit status 1 if one does not.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import wayhop_run

SCENARIO = os.path.join(wayhop_run.ROOT, "scenarios", "gateways.toml")
RESULTS = os.path.join(wayhop_run.ROOT, "bench", "results", "gateways.json")
PROTOCOLS = ("dsr", "aodv", "dsdv")
FAILS_AT = 60.0
# The name, and what is different from the scenario.
FAILURES = {
    "the uplink is cut": [],
    "the gateway is silent": ["--set", "wires.1.cuts=[]", "--set", f'outages=[{{ node = "east", start_s = {FAILS_AT:g} }}]'],
}
READER, INTERNET = "_3_", "_5_"


def run(protocol, changes, seed):
    """(seconds until packets arrive again, or None; packets lost)"""
    with tempfile.TemporaryDirectory(prefix="wayhop-") as scratch:
        out = os.path.join(scratch, "run")
        words = [wayhop_run.binary(), "run", SCENARIO, "--seed", str(seed), "--out", out, "--ns2-trace", "--quiet"]
        words += ["--set", f"protocol.name={protocol}", "--set", "traffic.0.rate_pps=100", "--set", "traffic.0.payload_bytes=64"]
        subprocess.run(words + changes, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(out, "trace.tr"), encoding="utf-8") as trace:
            return recovery(trace)


def recovery(trace):
    """The same, of the lines of a trace: packets sent from 5 s before the failure until 10 s before the end count as lost or not."""
    sent, again = {}, None
    for line in trace:
        words = line.split()
        if len(words) < 8 or words[3] != "AGT" or words[6] != "cbr":
            continue
        time, packet = float(words[1]), words[5]
        if words[0] == "s" and words[2] == READER and FAILS_AT - 5 <= time < 110:
            sent[packet] = time
        elif words[0] == "r" and words[2] == INTERNET and packet in sent:
            # What was on the wire when it was cut, or at the gateway, takes up to 20 ms.
            if time > FAILS_AT + 0.02 and again is None:
                again = time
            del sent[packet]
    return (None if again is None else again - FAILS_AT), len(sent)


def summary(values):
    return {"median": statistics.median(values), "mean": statistics.fmean(values), "max": max(values)} if values else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    found, failed = {}, False
    print("| failure | protocol | recovers after, s: median (maximum) | packets lost of 100/s: median (maximum) |")
    print("|---|---|---|---|")
    for failure, changes in FAILURES.items():
        for protocol in PROTOCOLS:
            runs = [run(protocol, changes, seed) for seed in range(1, arguments.seeds + 1)]
            times = [time for time, _ in runs if time is not None]
            failed |= len(times) < len(runs)
            time, lost = summary(times), summary([lost for _, lost in runs])
            found[f"{failure}, {protocol}"] = {"seeds": arguments.seeds, "recovered": len(times), "seconds": time, "lost": lost}
            cells = [f"{time['median']:.2f} ({time['max']:.2f})" if time else "-", f"{lost['median']:.0f} ({lost['max']})"]
            print("|", " | ".join([failure, protocol, *cells]), "|", flush=True)
    with open(RESULTS, "w", encoding="utf-8") as out:
        json.dump(found, out, indent=1)
        out.write("\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
