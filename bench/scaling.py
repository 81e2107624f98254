#!/usr/bin/env python3
"""How Wayhop's time and memory grow with the number of nodes, at constant density and constant load per node.

    scaling.py [--nodes 100 1000 10000] [--duration 20] [--rounds 3]

9000 square metres and a tenth of a flow a node, to destinations at most 400 m away at the start, so that the network's
size does not lengthen the routes; and AODV's searches end at 5 hops (`net_diameter`), or their floods would grow with
the network and the load per node with them. Prints wall time per simulated second and per event, events per node, peak
memory, and the exponent b of the least-squares fit time = a * N^b. A network of 100 nodes is mostly edge: its nodes
have fewer neighbours.
"""

import argparse
import json
import math
import os
import statistics

import cases
import generate
import wayhop_run


def exponent(points):
    """The slope of log(y) over log(x) by least squares."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    x_mean, y_mean = statistics.fmean(xs), statistics.fmean(ys)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) / sum((x - x_mean) ** 2 for x in xs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", nargs="+", type=int, default=[100, 1000, 10000])
    parser.add_argument("--protocols", nargs="+", default=["AODV"])
    parser.add_argument("--duration", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", default="rfc")
    parser.add_argument("--set", dest="sets", nargs="*", default=["protocol.net_diameter=5"])
    parser.add_argument("--within", type=float, default=400.0, help="metres to the destinations; 0 for any distance")
    parser.add_argument("--fixed-load", action="store_true", help="ten flows at every size, as in bench/data/scaling")
    parser.add_argument("--scratch", default=os.path.join(cases.HERE, "data", "generated"))
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "scaling.json"))
    arguments = parser.parse_args()

    report = []
    sets = [word for setting in arguments.sets for word in ("--set", setting)]
    for protocol in arguments.protocols:
        points = []
        print(
            f"\n{protocol}\n{'nodes':>8}{'wall s/s':>12}{'ns/event':>10}{'events':>12}{'per node':>10}{'peak MB':>10}{'delivery %':>12}"
        )
        for nodes in arguments.nodes:
            flows = 10 if arguments.fixed_load else max(1, nodes // 10)
            movement, traffic = generate.scaling(arguments.scratch, nodes, flows, within=arguments.within or None)
            runs = [
                wayhop_run.run(movement, traffic, protocol, seed, arguments.duration, profile=arguments.profile, extra=sets)
                for seed in range(1, arguments.rounds + 1)
            ]
            per_second = statistics.median(run["process_s"] for run in runs) / arguments.duration
            peak_mb = max(run["peak_kb"] for run in runs) / 1024.0
            delivery = 100.0 * statistics.fmean(run["totals"]["delivery_ratio"] for run in runs)
            events = int(statistics.median(run["events"] for run in runs))
            per_event = 1e9 * per_second * arguments.duration / max(1, events)
            points.append((nodes, per_second))
            print(
                f"{nodes:>8}{per_second:>12.4f}{per_event:>10.0f}{events:>12}{events / nodes:>10.0f}{peak_mb:>10.1f}{delivery:>12.1f}",
                flush=True,
            )
            report.append(
                {"protocol": protocol, "nodes": nodes, "flows": flows, "wall_s_per_s": per_second, "events": events}
                | {"peak_mb": round(peak_mb, 1), "delivery_pct": round(delivery, 2)}
            )
        if len(points) > 1:
            fitted = exponent(points)
            report.append({"protocol": protocol, "exponent": round(fitted, 3)})
            print(f"time grows as N^{fitted:.3f}  (wanted: at most N^1.15)")
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump(report, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
