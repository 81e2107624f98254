#!/usr/bin/env python3
"""What keys cost: octets, time, and delivery among 50 nodes with and without them.

    keys.py [--seeds N] [--scenario FILE]

Runs FILE (scenarios/first.toml: 50 nodes on 1500 m x 300 m) with each protocol and seed, once without keys and once with one, and
prints, as Markdown, delivery and routing packets, and the difference of delivery with its 95 % interval (Student's t on pairs of
runs with the same seed: nodes and flows are the same). The time to seal and to open a packet comes from
`cargo run --profile dist --package wayhop-auth --example cost`. All of it goes to results/keys.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import wayhop_run

RESULTS = os.path.join(wayhop_run.ROOT, "bench", "results", "keys.json")
KEY = 'security.keys=[{id=1,key="000102030405060708090a0b0c0d0e0f"}]'
# Student's t, 97.5 %, by degrees of freedom.
T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093]
PROTOCOLS = ("dsr", "aodv", "dsdv")


def interval(values):
    """Mean, and half of its 95 % interval."""
    half = T[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return [statistics.mean(values), half]


def totals(scenario, protocol, seed, words):
    run = wayhop_run.run_words([scenario, "--protocol", protocol, "--seed", seed, *words])["totals"]
    return {name: run[name] for name in ("delivery_ratio", "routing_packets", "routing_bytes")}


def delivery(arguments):
    rows = []
    for protocol in PROTOCOLS:
        seeds = range(1, arguments.seeds + 1)
        without = [totals(arguments.scenario, protocol, s, []) for s in seeds]
        with_keys = [totals(arguments.scenario, protocol, s, ["--set", KEY]) for s in seeds]
        row = {"protocol": protocol}
        for name in without[0]:
            row[f"{name}_without"] = interval([run[name] for run in without])
            row[f"{name}_with"] = interval([run[name] for run in with_keys])
        pairs = zip(with_keys, without)
        row["difference"] = interval([a["delivery_ratio"] - b["delivery_ratio"] for a, b in pairs])
        rows.append(row)
    return rows


def cost():
    words = ["cargo", "run", "--quiet", "--profile", "dist", "--package", "wayhop-auth", "--example", "cost"]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, cwd=wayhop_run.ROOT).stdout)


def table(rows):
    print("| protocol | delivered %, no keys | with keys | difference | routing packets, no keys | with keys |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        per_cent = ["{:.2f} ± {:.2f}".format(*(100 * x for x in row[k])) for k in
                    ("delivery_ratio_without", "delivery_ratio_with", "difference")]
        packets = [f"{row[k][0]:,.0f}" for k in ("routing_packets_without", "routing_packets_with")]
        print("|", " | ".join([row["protocol"].upper(), *per_cent, *packets]), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, choices=range(2, 21), metavar="2..20")
    parser.add_argument("--scenario", default=os.path.join(wayhop_run.ROOT, "scenarios", "first.toml"))
    arguments = parser.parse_args()
    found = {"seeds": arguments.seeds, "scenario": os.path.relpath(arguments.scenario, wayhop_run.ROOT)}
    found["delivery"] = delivery(arguments)
    table(found["delivery"])
    found["cost"] = cost()
    print(json.dumps(found["cost"]))
    with open(RESULTS, "w", encoding="utf-8") as out:
        json.dump(found, out, indent=1)
        out.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
