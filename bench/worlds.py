#!/usr/bin/env python3
"""The same scenario in several worlds, side by side.

chain:  scenarios/worlds/chain-*.toml in simulation, emulation and lab, some seeds each.
mobile: scenarios/worlds/mobile.toml in simulation (20 seeds) and emulation (some of these seeds).

Needs root for emulation and lab. Runs last as long as they say; `wayhop compare` sets them side by side. Writes
bench/results/worlds-chain.json and worlds-mobile.json.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "scenarios" / "worlds"
COMMANDS = {"simulation": "run", "emulation": "emulate", "lab": "lab"}


def run(wayhop, world, scenario, protocol, seed, out):
    """One run; its directory is `out`."""
    command = [wayhop, COMMANDS[world], scenario, "--protocol", protocol, "--seed", str(seed)]
    subprocess.run([*command, "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def compare(wayhop, folders, page):
    """The comparison of folders of runs as an object; the table goes to standard output."""
    paths = [str(f) for f in folders]
    print(subprocess.run([wayhop, "compare", *paths], check=True, capture_output=True, text=True).stdout, flush=True)
    told = subprocess.run(
        [wayhop, "compare", "--json", "--html", page, *paths], check=True, capture_output=True, text=True
    )
    return json.loads(told.stdout)


def strip(comparison):
    """Without the paths, which are this machine's."""
    for r in comparison["runs"]:
        del r["path"]
    return comparison


def side_by_side(a, protocol, scenario, seeds_by_world, out):
    folders = []
    for world, seeds in seeds_by_world.items():
        folder = out / f"{a.what}-{protocol}" / world
        folders.append(folder)
        for seed in range(1, seeds + 1):
            run(a.wayhop, world, scenario, protocol, seed, folder / str(seed))
    return strip(compare(a.wayhop, folders, out / f"{a.what}-{protocol}.html"))


def paired(out, protocol, quantities):
    """Emulated less simulated, seed by seed: what both have in common falls out."""
    rows = {}
    base = out / f"mobile-{protocol}"
    seeds = sorted(int(p.name) for p in (base / "emulation").iterdir())
    for name, of in quantities.items():
        both = [
            [of(json.loads((base / world / str(s) / "summary.json").read_text())) for s in seeds]
            for world in ("simulation", "emulation")
        ]
        rows[name] = {"seeds": seeds, "simulation": both[0], "emulation": both[1]}
        print(f"{protocol} {name}: " + ", ".join(f"{s:.4g} {e:.4g}" for s, e in zip(*both)), flush=True)
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["chain", "mobile"])
    p.add_argument("--wayhop", default=HERE.parent / "target" / "dist" / "wayhop")
    p.add_argument("--out", type=pathlib.Path, help="keep the runs here")
    p.add_argument("--seeds", type=int, default=20, help="simulated seeds of the mobile scenario")
    p.add_argument("--real", type=int, default=5, help="runs of each world on the real clock")
    p.add_argument("--no-result", action="store_true", help="leave bench/results alone")
    a = p.parse_args()
    if os.geteuid() != 0:
        sys.exit("emulation and lab need root")
    with tempfile.TemporaryDirectory() as temporary:
        out = a.out or pathlib.Path(temporary)
        result = {}
        for protocol in ("dsr", "aodv"):
            if a.what == "chain":
                worlds = {"simulation": a.real, "emulation": a.real, "lab": a.real}
                result[protocol] = side_by_side(a, protocol, SCENARIOS / f"chain-{protocol}.toml", worlds, out)
            else:
                worlds = {"simulation": a.seeds, "emulation": a.real}
                result[protocol] = side_by_side(a, protocol, SCENARIOS / "mobile.toml", worlds, out)
                result[protocol]["pairs"] = paired(
                    out,
                    protocol,
                    {
                        "delivery_ratio": lambda s: s["totals"]["delivery_ratio"],
                        "latency_ms.p50": lambda s: s["totals"]["latency_ms"]["p50"],
                        "hops_mean": lambda s: s["totals"]["hops_mean"],
                        "routing_packets": lambda s: s["totals"]["routing_packets"],
                    },
                )
        if not a.no_result:
            path = HERE / "results" / f"worlds-{a.what}.json"
            path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
