#!/usr/bin/env python3
"""The bad direct route of CMU-CS-99-116 section 9.2 (Figures 15 and 16): what remembering bad links, and ETX, are worth.

    abc.py [--seeds 1 ... 10] [--save FILE]

Runs scenarios/cmu/abc.toml once a seed without memory, with each mechanism, with ETX, and with the direct link taken away
(the paper's "perfect routing": Figure 16, 30 % more than Figure 15). A plateau is a second or more without a delivery, a
stall a fifth of one. Gains are over no memory, seed by seed; intervals are 95 % of the mean (Student's t). Exit status 1
unless each mechanism, ETX and perfect routing deliver more than no memory does, with fewer stalls.
"""

import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import wayhop_run

SCENARIO = os.path.join(wayhop_run.ROOT, "scenarios", "cmu", "abc.toml")
START_NS, SECONDS, PAYLOAD_BITS = 12_000_000_000, 50, 8 * 1024
VARIANTS = {
    "none": [],
    "timed": ["protocol.bad_links=timed"],
    "until-moved": ["protocol.bad_links=until-moved"],
    "probability": ["protocol.bad_links=probability"],
    "etx": ["protocol.metric=etx"],
    "perfect": ["radio.site.pair=[{nodes=[0,2],loss_db=5}]"],
}
# Student's t, 97.5 %, by degrees of freedom.
T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]


def deliveries(settings, seed):
    """When packets were delivered, in seconds since the flow began."""
    with tempfile.TemporaryDirectory(prefix="abc-") as scratch:
        out = os.path.join(scratch, "run")
        words = [word for setting in settings for word in ("--set", setting)]
        run = [wayhop_run.binary(), "run", SCENARIO, "--seed", str(seed), "--out", out, "--quiet", *words]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        table = subprocess.run(
            [wayhop_run.binary(), "export", "csv", out, "packets"], check=True, capture_output=True, text=True
        ).stdout
    rows = csv.DictReader(table.splitlines())
    return [(int(r["time_ns"]) - START_NS) / 1e9 for r in rows if r["event"] == "deliver" and r["class"] == "cbr"]


def measure(settings, seed):
    times = deliveries(settings, seed)
    gaps = [b - a for a, b in zip([0.0, *times], [*times, float(SECONDS)])]
    return {
        "goodput_kbps": len(times) * PAYLOAD_BITS / SECONDS / 1e3,
        "plateaus": sum(g >= 1.0 for g in gaps),
        "stalls": sum(g >= 0.2 for g in gaps),
        "longest_s": max(gaps),
    }


def interval(values):
    """Mean and half of the 95 % interval."""
    mean, n = statistics.fmean(values), len(values)
    half = T[min(n - 1, 9)] * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.nan
    return [round(mean, 3), round(half, 3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 11)))
    parser.add_argument("--save", metavar="FILE")
    arguments = parser.parse_args()
    runs = {name: [measure(settings, seed) for seed in arguments.seeds] for name, settings in VARIANTS.items()}
    rows, sound = [], True
    for name, found in runs.items():
        gains = [100 * (f["goodput_kbps"] / b["goodput_kbps"] - 1) for f, b in zip(found, runs["none"])]
        row = {"variant": name, "gain_pct": interval(gains)}
        row |= {key: interval([f[key] for f in found]) for key in found[0]}
        rows.append(row)
        if name != "none":
            sound &= row["gain_pct"][0] > 0 and row["stalls"][0] < rows[0]["stalls"][0]
        print(name.ljust(12), *(f"{key} {m:.2f} +- {h:.2f}" for key, (m, h) in list(row.items())[1:]), sep="  ")
    if arguments.save:
        with open(arguments.save, "w", encoding="utf-8") as out:
            json.dump({"seeds": arguments.seeds, "paper_gain_pct": 30, "rows": rows}, out, indent=1)
            out.write("\n")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
