#!/usr/bin/env python3
"""Run ns-3's own routing models on Wayhop's radio and on ns-3's, with the same files, and compare.

    ns3_radios.py               all runs: a quarter of an hour (Debian libns3-dev, g++; `make ns3`)
    ns3_radios.py --stored      print the tables of docs/concepts/ns3-models.md from results/

The settings of the radios come in pairs, from what each simulator's users have to what the two can have in common. Each
seed has a movement and a traffic file of its own, so that a difference is a mean over pairs of runs.
"""

import argparse
import collections
import json
import math
import multiprocessing
import os
import statistics
import tempfile

import cases
import generate
import ns3_run
import wayhop_run

RESULT = os.path.join(cases.RESULTS, "ns3-radios.json")
NODES, WIDTH_M, HEIGHT_M, SPEED_MPS, DURATION_S, FLOWS = 30, 1000.0, 300.0, (1.0, 20.0), 60.0, 8
SEEDS = range(1, 6)
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
# The label, ns-3's model, and whether AODV sends Hellos.
MODELS = [
    ("AODV", "AODV", False),
    ("AODV with Hellos", "AODV", True),
    ("OLSR", "OLSR", None),
    ("DSDV", "DSDV", None),
]
NO_RTS = "radio.rts_threshold_bytes=3000"
# The label, options of manet.cc, and words for `wayhop run`.
SETTINGS = [
    ("RTS", {}, []),
    ("no RTS", {"rts": False}, ["--set", NO_RTS]),
    ("no RTS, ARP asks again", {"rts": False, "arp-dead": 0.1}, ["--set", NO_RTS]),
    (
        "no RTS, no ARP, interference",
        {"rts": False, "arp": False},
        ["--radio", "wavelan-914-sinr", "--set", NO_RTS, "--set", "radio.arp=none", "--set", "radio.capture_db=60"]
        + ["--set", "radio.noise_figure_db=7", "--set", "radio.queue_classes=false", "--set", "radio.link_delay_us=0"]
        + ["--set", "radio.data_overhead_bytes=36"],
    ),
]


def interval(values):
    """Mean and half of the 95 % interval."""
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), QUANTILES[len(values) - 1] * spread


def files(scratch, seed):
    """A movement and a traffic file. Flows start when proactive protocols have had 15 s."""
    case = cases.Case(os.path.join(scratch, f"{seed}.tcl"), os.path.join(scratch, f"{seed}.cbr.tcl"), DURATION_S)
    generate.movement(case.movement, 100 + seed, NODES, WIDTH_M, HEIGHT_M, *SPEED_MPS, 0.0, DURATION_S)
    generate.traffic(case.traffic, 200 + seed, NODES, FLOWS, 4, 64, 15, 25)
    return case


def both(job):
    """One model with one setting and seed, on both radios."""
    (label, model, hello), (setting, theirs, ours), seed = job
    with tempfile.TemporaryDirectory(prefix="radios-") as scratch:
        case = files(scratch, seed)
        ns3 = ns3_run.run(case, model, seed, DURATION_S, bool(hello), **theirs)
        words = ["--movement", case.movement, "--traffic", case.traffic, "--protocol", f"ns3:{model.lower()}"]
        words += ["--duration", DURATION_S, "--seed", seed, *ours]
        if hello is not None:
            words += ["--set", f"protocol.EnableHello={str(hello).lower()}"]
        totals = wayhop_run.run_words(words)["totals"]
    if totals["sent"] != ns3["sent"]:
        raise SystemExit(f"{label}, {setting}, seed {seed}: {ns3['sent']} packets sent in ns-3, {totals['sent']} in Wayhop")
    return {
        "model": label,
        "setting": setting,
        "seed": seed,
        "sent": ns3["sent"],
        "ns3": {key: ns3[key] for key in ("delivered", "routing_packets", "lost")},
        "wayhop": {
            "delivered": totals["received"],
            "routing_packets": totals["routing_packets"],
            "lost": totals["drops"],
        },
    }


def groups(runs):
    """The runs of each model with each setting, in their order."""
    found = collections.OrderedDict()
    for run in runs:
        found.setdefault((run["model"], run["setting"]), []).append(run)
    return found


def table(runs):
    """Delivery on both radios, and the difference between them, in percent and percentage points."""
    lines = [
        "| model | setting | ns-3's radio | Wayhop's radio | difference | routing packets |",
        "|---|---|---|---|---|---|",
    ]
    for (model, setting), group in groups(runs).items():
        ns3, wayhop = ([100 * run[of]["delivered"] / run["sent"] for run in group] for of in ("ns3", "wayhop"))
        apart, half = interval([ours - theirs for theirs, ours in zip(ns3, wayhop)])
        routing = " and ".join(f"{statistics.mean(run[of]['routing_packets'] for run in group):.0f}" for of in ("ns3", "wayhop"))
        cells = [f"{mean:.1f} % ± {around:.1f}" for mean, around in (interval(ns3), interval(wayhop))]
        lines.append(f"| {model} | {setting} | {cells[0]} | {cells[1]} | {apart:+.1f} ± {half:.1f} | {routing} |")
    return "\n".join(lines)


def losses(runs):
    """What became of the lost packets, in thousandths of the packets sent, by the simulators' own causes."""
    lines = ["| model | setting | ns-3's radio | Wayhop's radio |", "|---|---|---|---|"]
    for (model, setting), group in groups(runs).items():
        sent = sum(run["sent"] for run in group)
        cells = []
        for of in ("ns3", "wayhop"):
            total = sum((collections.Counter(run[of]["lost"]) for run in group), collections.Counter())
            shares = [(f"`{cause}`", 1000 * count / sent) for cause, count in total.most_common(3)]
            cells.append(", ".join(f"{cause} {share:.0f}" for cause, share in shares if share >= 0.5) or "-")
        lines.append(f"| {model} | {setting} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stored", action="store_true", help="print the tables of the stored results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", default=RESULT)
    arguments = parser.parse_args()
    if not arguments.stored:
        ns3_run.build()
        jobs = [(model, setting, seed) for model in MODELS for setting in SETTINGS for seed in SEEDS]
        with multiprocessing.Pool(arguments.jobs) as pool:
            runs = pool.map(both, jobs, chunksize=1)
        with open(arguments.out, "w", encoding="utf-8") as out:
            json.dump({"ns3": ns3_run.version(), "runs": runs}, out, indent=1)
            out.write("\n")
    with open(arguments.out, encoding="utf-8") as stored:
        runs = json.load(stored)["runs"]
    print(table(runs), losses(runs), sep="\n\n")


if __name__ == "__main__":
    main()
