#!/usr/bin/env python3
"""Saturated chains in ns-2: static nodes in a row, one flow of 1500-byte IP packets far above the capacity.

    ns2_chains.py OUT.json [--hops 1 2 3 4 5 6 7] [--spacing 180 250] [--seeds 1 2 3] [--duration 60] [--basic 2Mb]

Goodput is counted in UDP payload as real stacks have it: 1472 of the 1500 bytes. (ns-2 adds 20 bytes of IP header to
what its UDP agent sends and none for UDP, so the driver sends 1480.)
"""

import argparse
import os

import ns2_oracle
import ns2_run

UDP_PAYLOAD_BITS = 1472 * 8
START_S = 1.0


def chain(protocol, hops, spacing, seed, duration, basic):
    """One run, and its goodput over the time in which the source sends."""
    result = ns2_run.run(
        trace=True,
        protocol=protocol,
        chain=hops,
        spacing=spacing,
        seed=seed,
        duration=START_S + duration,
        udpstart=START_S,
        basic=basic,
    )
    result["goodput_kbps"] = round(result["received"] * UDP_PAYLOAD_BITS / duration / 1000.0, 1)
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
                    print(os.path.basename(arguments.out), protocol, spacing, hops, seed, result["goodput_kbps"], flush=True)


if __name__ == "__main__":
    main()
