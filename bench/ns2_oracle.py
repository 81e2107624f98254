#!/usr/bin/env python3
"""Collect what ns-2 makes of scenario files, over several seeds, into one JSON file.

    ns2_oracle.py OUT.json --traffic T.tcl --movement M.tcl [M.tcl ...] [--seeds 1 2 3] [--duration 900]

A run that OUT.json already holds is not made again, so an interrupted collection goes on where it stopped.
"""

import argparse
import json
import os

import ns2_run


def load(path):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stored:
            return json.load(stored)
    return {"simulator": "ns-2.35", "package": ns2_run.version(), "runs": []}


def save(path, collection):
    with open(path + ".part", "w", encoding="utf-8") as out:
        json.dump(collection, out, indent=1)
        out.write("\n")
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--movement", nargs="+", required=True)
    parser.add_argument("--traffic", required=True)
    parser.add_argument("--protocols", nargs="+", default=["DSR", "AODV"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--duration", type=float, default=900)
    parser.add_argument("--basic", default="2Mb", choices=["1Mb", "2Mb"])
    parser.add_argument("--mactrace", action="store_true", help="also count MAC frames and drops")
    arguments = parser.parse_args()
    collection = load(arguments.out)
    for seed in arguments.seeds:
        for movement in arguments.movement:
            for protocol in arguments.protocols:
                key = {
                    "movement": os.path.basename(movement),
                    "traffic": os.path.basename(arguments.traffic),
                    "protocol": protocol,
                    "basic": arguments.basic,
                    "duration_s": arguments.duration,
                    "seed": seed,
                    "mac_trace": arguments.mactrace,
                }
                if any(all(run[name] == value for name, value in key.items()) for run in collection["runs"]):
                    continue
                result = ns2_run.run(
                    trace=True,
                    protocol=protocol,
                    movement=movement,
                    traffic=arguments.traffic,
                    duration=arguments.duration,
                    seed=seed,
                    basic=arguments.basic,
                    mactrace="ON" if arguments.mactrace else "OFF",
                )
                collection["runs"].append({**result, **key})
                save(arguments.out, collection)
                print(protocol, key["movement"], key["traffic"], "seed", seed, f"{result['wall_s']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
