#!/usr/bin/env python3
"""Wall time of Wayhop against ns-2 (and ns-3) on the same files, in turn, so that both meet the same machine.

    speed.py [--files broch scaling] [--rounds 3] [--ns3]

Whole processes are timed, captures and traces off. The ratio is of the medians. ns-3 is slow: it is given fewer
simulated seconds, and Wayhop the same.
"""

import argparse
import json
import os
import statistics

import cases
import generate
import ns2_run
import ns3_run
import wayhop_run


class Goal:
    """The ratios wanted over ns-2 and ns-3, and how many simulated seconds ns-3 is given."""

    def __init__(self, over_ns2, over_ns3, ns3_duration):
        self.over_ns2, self.over_ns3, self.ns3_duration = over_ns2, over_ns3, ns3_duration


def chosen_cases(files, scratch):
    """The cases with their goals."""
    chosen = []
    if "broch" in files:
        chosen += [(case, Goal(5, 100, 300)) for case in cases.fifty_nodes()[:2]]
    if "scaling" in files:
        chosen.append((cases.scaling(500), Goal(10, 100, 20)))
        movement, traffic = generate.scaling(scratch, 1000)
        chosen.append((cases.Case(movement, traffic, 20), Goal(20, 100, 10)))
    return chosen


def against_ns2(case, protocol, rounds):
    """Wall times of both, in turn."""
    ours, theirs = [], []
    for seed in range(1, rounds + 1):
        ours.append(wayhop_run.run(case.movement, case.traffic, protocol, seed, case.duration)["process_s"])
        files = {"movement": case.movement, "traffic": case.traffic}
        theirs.append(ns2_run.run(protocol=protocol, duration=case.duration, seed=seed, **files)["wall_s"])
    return {"wayhop_s": ours, "ns2_s": theirs, "ratio": ratio(theirs, ours)}


def against_ns3(case, protocol, rounds, duration):
    """Wall times of both, in turn, over the first `duration` seconds; None if ns-3 crashes."""
    ours, theirs = [], []
    for seed in range(1, rounds + 1):
        ours.append(wayhop_run.run(case.movement, case.traffic, protocol, seed, duration)["process_s"])
        slow = ns3_run.run(case, protocol, seed, duration)
        if slow is None:
            return None
        theirs.append(slow["wall_s"])
    return {"simulated_s": duration, "wayhop_s": ours, "ns3_s": theirs, "ratio": ratio(theirs, ours)}


def ratio(slow, fast):
    return round(statistics.median(slow) / statistics.median(fast), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs="+", choices=["broch", "scaling"], default=["broch", "scaling"])
    parser.add_argument("--protocols", nargs="+", default=["DSR", "AODV"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ns3", action="store_true", help="also ns-3 (Debian libns3-dev and g++)")
    parser.add_argument("--ns3-rounds", type=int, default=1)
    parser.add_argument("--scratch", default=os.path.join(cases.HERE, "data", "generated"))
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "speed.json"))
    arguments = parser.parse_args()
    if arguments.ns3:
        ns3_run.build()

    rows = []
    print(f"{'':<6}{'files':<34}{'wayhop s':>10}{'ns-2 s':>9}{'ratio':>8}{'wanted':>8}{'ns-3 ratio':>12}{'wanted':>8}")
    for case, goal in chosen_cases(arguments.files, arguments.scratch):
        for protocol in arguments.protocols:
            ns2 = against_ns2(case, protocol, arguments.rounds)
            row = {"case": case.name(), "protocol": protocol, "simulated_s": case.duration, "ns2": ns2}
            ns3 = against_ns3(case, protocol, arguments.ns3_rounds, goal.ns3_duration) if arguments.ns3 else None
            row["ns3"] = ns3
            rows.append(row)
            ours, theirs = statistics.median(ns2["wayhop_s"]), statistics.median(ns2["ns2_s"])
            print(
                f"{protocol:<6}{case.name():<34}{ours:>10.2f}{theirs:>9.2f}{ns2['ratio']:>8.1f}{goal.over_ns2:>8}"
                f"{ns3['ratio'] if ns3 else '-':>12}{goal.over_ns3:>8}",
                flush=True,
            )
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"ns2": ns2_run.version(), "processors": os.cpu_count(), "rows": rows}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
