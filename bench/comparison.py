#!/usr/bin/env python3
"""Real routing daemons in emulation, in the setting of scenarios/sweeps/everyone.toml.

    comparison.py --seeds 2 [--only BIRD]   root; Debian's babeld, bird2 and frr; two minutes for each run that is not stored
    comparison.py --stored                  print the table of docs/concepts/comparison.md from results/

Every run ends with its verdict on lateness: a run that was not on time had a slower radio than the scenario says. Do not
run two at a time: FRRouting's sockets are in one folder for each node's number.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import tomllib

import cases
import wayhop_run

SCENARIOS = pathlib.Path(wayhop_run.ROOT) / "scenarios"
RESULT = os.path.join(cases.RESULTS, "comparison.json")
SPEEDS_MPS = [2, 10]
# The label, the scenario with the programs, and the version of IP that the daemon routes there.
DAEMONS = [
    ("babeld", "babeld.toml", 4),
    ("babeld, Hello 1 s", "mobile.toml", 4),
    ("BIRD", "bird.toml", 4),
    ("FRRouting", "frr.toml", 6),
]


def inline(value):
    """A value in TOML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


def programs(file):
    """The programs of a scenario in `daemons`, for a scenario that is one folder above it."""
    scenario = tomllib.loads((SCENARIOS / "daemons" / file).read_text(encoding="utf-8"))
    return inline(scenario["programs"]).replace("{scenario}", "{scenario}/daemons")


def emulate(label, file, version, speed, seed):
    """One run in real time."""
    sets = ["protocol.name=none", f"movement.speed_max_mps={speed}", f"programs={programs(file)}"]
    sets += [f"traffic.{flow}.ip={version}" for flow in range(5)]
    with tempfile.TemporaryDirectory(prefix="comparison-") as scratch:
        command = [wayhop_run.binary(), "emulate", SCENARIOS / "comparison.toml", "--trust", "--json", "--quiet"]
        command += ["--seed", str(seed), "--out", os.path.join(scratch, "run")]
        command += [word for setting in sets for word in ("--set", setting)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{label}, seed {seed}: exit status {done.returncode}: {done.stderr[-2000:]}")
    summary = json.loads(done.stdout)
    totals = summary["totals"]
    keys = ["sent", "received", "delivery_ratio", "normalised_routing_load", "hops_mean", "drops", "by_type"]
    return {
        "daemon": label,
        "speed_mps": speed,
        "seed": seed,
        **{key: totals[key] for key in keys},
        "latency_ms_mean": totals["latency_ms"]["mean"],
        "lateness_us": summary["lateness_us"],
    }


def verdict(runs):
    """How many of the runs were on time."""
    return f"{sum(run['lateness_us']['verdict'] == 'ok' for run in runs)} of {len(runs)}"


def table(runs):
    """Means of each daemon at each speed, and how many of the runs were on time."""
    lines = [
        "| daemon | speed up to | delivery | latency (ms) | routing load | hops | on time |",
        "|---|---|---|---|---|---|---|",
    ]
    groups = collections.OrderedDict()
    for run in runs:
        groups.setdefault((run["daemon"], run["speed_mps"]), []).append(run)
    for (daemon, speed), group in groups.items():
        ratios = ", ".join(f"{run['delivery_ratio']:.3f}" for run in group)
        means = [
            f"{statistics.mean(run[key] for run in group):.{digits}f}"
            for key, digits in (("latency_ms_mean", 0), ("normalised_routing_load", 2), ("hops_mean", 2))
        ]
        lines.append(f"| {daemon} | {speed} m/s | {ratios} | {' | '.join(means)} | {verdict(group)} |")
    return "\n".join(lines)


def stored(path):
    """The runs that a file has, none if there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"]


def store(path, runs):
    """Writes the runs in the order of the daemons, speeds and seeds."""
    order = [label for label, *_ in DAEMONS]
    runs = sorted(runs, key=lambda run: (order.index(run["daemon"]), run["speed_mps"], run["seed"]))
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"runs": runs}, out, indent=1)
        out.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stored", action="store_true", help="print the table of the stored results")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="only daemons whose label contains this")
    parser.add_argument("--out", default=RESULT)
    arguments = parser.parse_args()
    if not arguments.stored and os.geteuid() != 0:
        parser.error("emulation needs root")
    runs = stored(arguments.out)
    if not arguments.stored:
        done = {(run["daemon"], run["speed_mps"], run["seed"]) for run in runs}
        for seed, speed, daemon in itertools.product(range(1, arguments.seeds + 1), SPEEDS_MPS, DAEMONS):
            if arguments.only in daemon[0] and (daemon[0], speed, seed) not in done:
                runs.append(emulate(*daemon, speed, seed))
                store(arguments.out, runs)
    print(table(stored(arguments.out)))


if __name__ == "__main__":
    main()
