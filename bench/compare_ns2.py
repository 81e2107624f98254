#!/usr/bin/env python3
"""Run Wayhop and ns-2.35 on the same files with several seeds and say whether they agree.

    compare_ns2.py                                       the 50-node files of bench/data, DSR, AODV and DSDV
    compare_ns2.py --movement M.tcl --traffic T.tcl      your own
    compare_ns2.py --stored                              take ns-2's side from bench/results where it is there (fast)

The means over the seeds must lie within: delivery 2 percentage points, routing packets 25 %, mean hops 5 %, median
latency 25 %. Exit status 1 if one does not. Everything is written to --out as JSON.
"""

import argparse
import glob
import json
import os
import sys

import agreement
import cases
import ns2_run
import wayhop_run


def stored_ns2(case, protocol, seed, basic):
    """A run that ns2_oracle.py collected from the same files, or None."""
    wanted = {
        "movement": os.path.basename(case.movement),
        "traffic": os.path.basename(case.traffic),
        "protocol": protocol,
        "seed": seed,
        "basic": basic,
        "duration_s": case.duration,
    }
    for path in sorted(glob.glob(os.path.join(cases.RESULTS, "ns2-*.json"))):
        with open(path, encoding="utf-8") as stored:
            for run in json.load(stored)["runs"]:
                if all(run.get(key) == value for key, value in wanted.items()):
                    return run
    return None


def ns2(case, protocol, seed, basic, stored):
    run = stored_ns2(case, protocol, seed, basic) if stored else None
    return run or ns2_run.run(
        trace=True,
        protocol=protocol,
        movement=case.movement,
        traffic=case.traffic,
        duration=case.duration,
        seed=seed,
        basic=basic,
    )


def show(case, protocol, rows):
    print(f"\n{protocol}  {case.name()}")
    print(f"  {'':<16}{'ns-2':>12}{'sd':>10}{'wayhop':>12}{'sd':>10}{'apart':>10}{'bound':>9}")
    for row in rows:
        apart, bound = (
            (f"{row['apart']:.2f} pt", f"{row['bound']:.0f} pt")
            if row["kind"] == "points"
            else (f"{100 * row['apart']:.1f} %", f"{100 * row['bound']:.0f} %")
        )
        verdict = "PASS" if row["pass"] else "FAIL"
        print(
            f"  {row['quantity']:<16}{row['ns2']:>12.3f}{row['ns2_sd']:>10.3f}{row['wayhop']:>12.3f}"
            f"{row['wayhop_sd']:>10.3f}{apart:>10}{bound:>9}  {verdict}"
        )
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--movement", help="an ns-2 movement file instead of the stored ones")
    parser.add_argument("--traffic", help="its traffic file")
    parser.add_argument("--duration", type=float, default=900)
    parser.add_argument("--only", default="", help="of the stored files, those whose name contains this")
    parser.add_argument("--protocols", nargs="+", default=["DSR", "AODV", "DSDV"])
    parser.add_argument("--seeds", nargs="+", type=int, help="instead of 1 to 3 (static files: 20, DSDV 10)")
    parser.add_argument(
        "--basic", choices=["1Mb", "2Mb"], default="2Mb", help="the rate of control and broadcast frames"
    )
    parser.add_argument("--stored", action="store_true", help="use collected ns-2 results where there are any")
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "agreement.json"))
    arguments = parser.parse_args()
    if bool(arguments.movement) != bool(arguments.traffic):
        parser.error("--movement and --traffic go together")
    chosen = [case for case in cases.fifty_nodes() if arguments.only in case.name()]
    if arguments.movement:
        chosen = [cases.Case(arguments.movement, arguments.traffic, arguments.duration)]
    radio = {"2Mb": "wavelan-914-cmu", "1Mb": "wavelan-914-ns2"}[arguments.basic]

    report = {"ns2": ns2_run.version(), "radio": radio, "comparisons": []}
    for case in chosen:
        for protocol in arguments.protocols:
            seeds = arguments.seeds or range(1, case.seeds_of(protocol) + 1)
            theirs = [agreement.of_ns2(ns2(case, protocol, seed, arguments.basic, arguments.stored)) for seed in seeds]
            ours = [
                agreement.of_wayhop(wayhop_run.run(case.movement, case.traffic, protocol, seed, case.duration, radio))
                for seed in seeds
            ]
            rows = agreement.compare(theirs, ours)
            show(case, protocol, rows)
            report["comparisons"].append({"case": case.name(), "protocol": protocol, "seeds": len(seeds), "rows": rows})
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump(report, out, indent=1)
        out.write("\n")
    rows = [row for comparison in report["comparisons"] for row in comparison["rows"]]
    failed = sum(not row["pass"] for row in rows)
    print(f"\n{len(rows) - failed} of {len(rows)} within their bounds; written to {arguments.out}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
