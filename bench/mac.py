#!/usr/bin/env python3
"""Saturated throughput of the MAC: chains and contending senders against the DCF arithmetic, Bianchi, and ns-2.

    mac.py [--hops 1 ... 7] [--spacing 180 250] [--senders 1 2 5] [--seeds 1 2 3] [--duration 60]

1500-byte IP packets, RTS/CTS on. What must hold: one hop within 2 % of the arithmetic, the senders of a star within 3 %
of Bianchi under DSR. (Under AODV a lost ARP request leads a sender through another one's full queue in 5 of 12 runs with
five senders, of ns-2 and of ours alike, which says nothing of the MAC.) Chains stand beside ns-2: to four hops the MAC alone decides; further on, how routing takes a full channel
for a broken link, which ten senders provoke too. Exit status 1 if a bound does not hold.
"""

import argparse
import json
import os
import statistics
import sys

import cases
import dcf
import layouts
import ns2_run
import wayhop_run

IP_BYTES, PAYLOAD_BYTES = 1500, layouts.PAYLOAD["wayhop"]


def ns2_kbps(files, protocol, seed, seconds):
    movement, traffic = files
    run = ns2_run.run(
        movement=movement, traffic=traffic, protocol=protocol, seed=seed, duration=layouts.START_S + seconds
    )
    return layouts.goodput_kbps(run["delivered"], seconds)


def wayhop_kbps(files, protocol, seed, seconds):
    run = wayhop_run.run(*files, protocol, seed, layouts.START_S + seconds)
    return layouts.goodput_kbps(run["totals"]["received"], seconds)


def measure(layout, arguments, *shape):
    """Mean goodput by simulator and protocol of a layout over the seeds."""
    row = {}
    for protocol in arguments.protocols:
        for simulator, kbps in (("ns2", ns2_kbps), ("wayhop", wayhop_kbps)):
            files = layout(arguments.scratch, *shape, simulator)
            row[f"{simulator}_{protocol}"] = round(
                statistics.fmean(kbps(files, protocol, seed, arguments.duration) for seed in arguments.seeds), 1
            )
    return row


def show(label, row, arithmetic):
    pairs = "".join(f"{row[key]:>14.1f}" for key in sorted(row) if "_" in key)
    print(f"{label:<22}{arithmetic:>12}{pairs}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hops", nargs="*", type=int, default=list(range(1, 8)))
    parser.add_argument("--spacing", nargs="+", type=int, default=[180, 250])
    parser.add_argument("--senders", nargs="*", type=int, default=[1, 2, 5])
    parser.add_argument("--protocols", nargs="+", default=["DSR", "AODV"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--duration", type=float, default=60)
    parser.add_argument("--scratch", default=os.path.join(cases.HERE, "data", "generated"))
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "mac.json"))
    arguments = parser.parse_args()

    columns = sorted(f"{simulator}_{protocol}" for simulator in ("ns2", "wayhop") for protocol in arguments.protocols)
    print(f"{'goodput, kb/s':<22}{'arithmetic':>12}{''.join(f'{column:>14}' for column in columns)}")
    report, broken = [], []

    def check(label, row, expected, tolerance, protocols=arguments.protocols):
        for protocol in set(protocols) & set(arguments.protocols):
            measured = row[f"wayhop_{protocol}"]
            if abs(measured - expected) > tolerance * expected:
                broken.append(f"{label} {protocol}: {measured} kb/s is not within {tolerance:.0%} of {expected:.1f}")

    single = dcf.single_sender_kbps(IP_BYTES, dcf.MAC_BYTES_NS2, PAYLOAD_BYTES, (dcf.WINDOW_MIN - 2) / 2)
    for spacing in arguments.spacing:
        for hops in arguments.hops:
            label = f"{hops} hops of {spacing} m"
            row = measure(layouts.chain, arguments, hops, spacing)
            # With all stations in reach of each other, one exchange at a time carries each packet one hop.
            shared = hops * spacing <= 550
            show(label, row, f"{single / hops:.1f}" if shared else "-")
            report.append({"layout": "chain", "hops": hops, "spacing_m": spacing, **row})
            if hops == 1:
                check(label, row, single, 0.02)
    for senders in arguments.senders:
        label = f"{senders} senders"
        expected = dcf.bianchi_kbps(senders, IP_BYTES, dcf.MAC_BYTES_NS2, PAYLOAD_BYTES)
        row = measure(layouts.star, arguments, senders)
        show(label, row, f"{expected:.1f}")
        report.append({"layout": "star", "senders": senders, "bianchi": round(expected, 1), **row})
        check(label, row, expected, 0.03, ["DSR"])

    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"single_hop_arithmetic_kbps": round(single, 1), "rows": report}, out, indent=1)
        out.write("\n")
    print("\n".join(broken) if broken else "every bound holds")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
