#!/usr/bin/env python3
"""What attacks cost each protocol, and what defences are worth: the sweeps of scenarios/sweeps/attacks, as tables and figures.

    attacks.py [--seeds N] [--out DIR] [--figures DIR] [--keys KEYS] [--only SWEEP ...]

Makes the runs of scenarios/sweeps/attacks/{kinds,defences,watchdog}.toml (`wayhop sweep`; what is in DIR already is not made again) and
prints, as Markdown, delivery in per cent and routing packets per run: means over the seeds with 95 % intervals (Student's t).
All numbers go to results/attacks.json. `--figures` draws the watchdog's. `--keys` gives all runs this value of `security.keys`,
which attackers without `insider = true` do not have.

What must hold without keys: a black hole that draws routes takes more from DSR and AODV than one that waits; limits keep a flood
from costing more than it does without them; and with 40 % misbehaving nodes watchdog and pathrater deliver more than plain DSR,
as in Marti, Giuli, Lai and Baker (MobiCom 2000). Exit status 1 if one does not.
"""

import argparse
import csv
import json
import os
import subprocess
import sys

import wayhop_run

PLANS = os.path.join(wayhop_run.ROOT, "scenarios", "sweeps", "attacks")
RESULTS = os.path.join(wayhop_run.ROOT, "bench", "results", "attacks.json")
# Axes, the rows' last but one and the columns' last.
SWEEPS = {"kinds": ("attack", "protocol"), "defences": ("attack", "defence"), "watchdog": ("misbehaving", "pause", "defence")}


def sweep(name, arguments):
    """{values on the axes: {metric: (mean, half of the interval)}}"""
    out = os.path.join(arguments.out, name)
    words = [wayhop_run.binary(), "sweep", os.path.join(PLANS, f"{name}.toml"), "--seeds", str(arguments.seeds), "--out", out]
    if arguments.keys:
        words += ["--set", f"security.keys={arguments.keys}"]
        words[words.index("--out") + 1] = out = f"{out}-keys"
    subprocess.run(words + ["--quiet"], check=True, stdout=subprocess.DEVNULL)
    cells = {}
    with open(os.path.join(out, "table.csv"), encoding="utf-8") as table:
        for row in csv.DictReader(table):
            cell = cells.setdefault(tuple(row[axis] for axis in SWEEPS[name]), {})
            cell[row["metric"].removeprefix("totals.")] = number(row)
    return cells


def number(row):
    """Mean and half of the interval; None where the figure is undefined in all runs."""
    if not row["mean"]:
        return None
    mean = float(row["mean"])
    return [mean, (float(row["ci95_high"]) - float(row["ci95_low"])) / 2 if row["ci95_low"] else None]


def per_cent(cell):
    mean, half = cell["delivery_ratio"]
    return f"{100 * mean:.1f} +- {100 * half:.1f}"


def packets(cell):
    return f"{cell['routing_packets'][0]:,.0f}"


def table(cells):
    """Rows are all axes but the last, which makes the columns."""
    columns = list(dict.fromkeys(key[-1] for key in cells))
    rows = list(dict.fromkeys(key[:-1] for key in cells))
    head = [c + w for c in columns for w in (", delivered %", ", routing packets")]
    print("|", " | ".join(["", *head]), "|")
    print("|" + "---|" * (len(head) + 1))
    for row in rows:
        values = [f(cells[(*row, c)]) for c in columns for f in (per_cent, packets)]
        print("|", " | ".join([", ".join(row), *values]), "|")
    print()


def broken(found):
    """What does not hold of what must."""

    def delivered(name, *key):
        return found[name][key]["delivery_ratio"][0]

    faults = []
    for protocol in ("dsr", "aodv") if "kinds" in found else ():
        if delivered("kinds", "black hole", protocol) >= delivered("kinds", "black hole that waits", protocol):
            faults.append(f"{protocol}: a black hole that draws routes takes no more than one that waits")
    if "defences" in found:
        flood = "flood, 50/s"
        if delivered("defences", flood, "limits of 10/s") < delivered("defences", flood, "no limits"):
            faults.append("a flood costs more with limits than without")
    for pause in ("0 s", "60 s") if "watchdog" in found else ():
        key = ("watchdog", "40 %", pause)
        if delivered(*key, "watchdog and pathrater") <= delivered(*key, "none"):
            faults.append(f"pause {pause}: watchdog and pathrater are worth nothing")
    return faults


def draw(arguments):
    """Delivery over the share of misbehaving nodes, with and without the watchdog, for each pause."""
    for pause in ("0 s", "60 s"):
        target = os.path.join(arguments.figures, f"watchdog-{pause.split()[0]}.svg")
        words = ["plot", os.path.join(arguments.out, "watchdog"), "--x", "misbehaving", "--y", "delivery_ratio"]
        words += ["--by", "defence", "--only", f"pause={pause}", "--out", target]
        subprocess.run([wayhop_run.binary(), *words], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", default=os.path.join("runs", "attacks"))
    parser.add_argument("--figures", metavar="DIR")
    parser.add_argument("--keys", metavar="KEYS")
    parser.add_argument("--only", nargs="+", choices=SWEEPS, default=list(SWEEPS))
    arguments = parser.parse_args()
    found = {}
    for name in arguments.only:
        print(f"**{name}**, {arguments.seeds} seeds\n")
        found[name] = sweep(name, arguments)
        table(found[name])
    if arguments.figures:
        draw(arguments)
    if set(arguments.only) == set(SWEEPS) and not arguments.keys:
        rows = {name: [[*key, cell] for key, cell in cells.items()] for name, cells in found.items()}
        with open(RESULTS, "w", encoding="utf-8") as out:
            json.dump({"seeds": arguments.seeds, **rows}, out, indent=1)
            out.write("\n")
    faults = [] if arguments.keys else broken(found)
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
