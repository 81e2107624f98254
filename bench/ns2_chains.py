#!/usr/bin/env python3
"""Saturated chains in ns-2: static nodes in a row, one flow of 1500-byte IP packets far above the capacity.

ns2_chains.py OUT.json [--hops 1 2 3 4 5 6 7] [--spacing 180 250] [--seeds 1 2 3] [--duration 60] [--basic 2Mb]
"""

import argparse
import tempfile

import layouts
import ns2_oracle
import ns2_run


def chain(protocol, hops, spacing, seed, duration, basic):
    """One run, and its goodput over the time in which the source sends."""
    with tempfile.TemporaryDirectory(prefix="chain-") as scratch:
        movement, traffic = layouts.chain(scratch, hops, spacing, "ns2")
        result = ns2_run.run(
            trace=True,
            protocol=protocol,
            movement=movement,
            traffic=traffic,
            seed=seed,
            duration=layouts.START_S + duration,
            basic=basic,
        )
    result["goodput_kbps"] = round(layouts.goodput_kbps(result["received"], duration), 1)
    result.update(hops_in_chain=hops, spacing_m=spacing, basic=basic, measured_s=duration)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--hops", nargs="+", type=int, default=list(range(1, 8)))
    parser.add_argument("--spacing", nargs="+", type=int, default=[180, 250])
    parser.add_argument("--protocols", nargs="+", default=["DSR", "AODV"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--duration", type=float, default=60)
    parser.add_argument("--basic", default="2Mb", choices=["1Mb", "2Mb"])
    arguments = parser.parse_args()
    collection = ns2_oracle.load(arguments.out)
    done = {(r["protocol"], r["hops_in_chain"], r["spacing_m"], r["seed"], r["basic"]) for r in collection["runs"]}
    for seed in arguments.seeds:
        for protocol in arguments.protocols:
            for spacing in arguments.spacing:
                for hops in arguments.hops:
                    if (protocol, hops, spacing, seed, arguments.basic) in done:
                        continue
                    result = chain(protocol, hops, spacing, seed, arguments.duration, arguments.basic)
                    collection["runs"].append(result)
                    ns2_oracle.save(arguments.out, collection)
                    print(protocol, spacing, "m", hops, "hops, seed", seed, result["goodput_kbps"], "kb/s", flush=True)


if __name__ == "__main__":
    main()
