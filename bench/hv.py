#!/usr/bin/env python3
"""TCP over 30 moving nodes (Holland and Vaidya 1999), in ns-2 and in Wayhop, on the same files.

    hv.py [--speeds 2 10 20 30] [--seeds 4] [--ours N] [--own 30] [--movement P.tcl ...] [--protocols DSR] [--jobs 2] [--stored] [--time 3]

1500 m x 300 m, random waypoint without pause, 1800 s at 2 m/s +- 10 %, the same moves faster at the other speeds; an
endless FTP over TCP Reno from node 1 to node 2 (1460 octets, window 32, no delayed acknowledgements); 2 Mb/s, RTS/CTS.
The patterns are twenty of a generator that is not ours, six of which the topology oracle is tested with, and others that
generate.py draws (`--own`; its seeds are 1001, 1002, ...), or the files of `--movement`. At 2 m/s each simulator runs a pattern with one seed, faster with
`--seeds`: shorter runs say less. `--ours N` runs each pattern with N seeds here, which is cheap and leaves ns-2's chance only.

What must hold: the mean over patterns within 10 % of ns-2's at each speed, as far as both are known (the standard error
of the difference is printed), and at 2 m/s a correlation over patterns of at least 0.8. `--stored` takes ns-2's side from
results/ns2-hv.json, to which every run of ns-2 is added. `--time N` runs N patterns at 2 m/s in both simulators in turn
and compares the processor time they take, which other programs on the machine change little. Exit status 1 if a bound does not hold.
"""

import argparse
import concurrent.futures
import copy
import glob
import gzip
import json
import math
import os
import re
import statistics
import sys

import cases
import generate
import layouts
import ns2_oracle
import ns2_run
import wayhop_run

BASE_MPS, BASE_S = 2.0, 1800.0
PAYLOAD = 1460
# ns-2 counts the 40 octets of IP and TCP header of each segment.
SEGMENT = PAYLOAD + 40
MEAN_BOUND, CORRELATION_BOUND = 0.10, 0.8
STORE = os.path.join(cases.RESULTS, "ns2-hv.json")
SHARED = [os.path.join(os.path.dirname(cases.HERE), "crates", "topology", "tests", "data"), os.path.join(cases.HERE, "data", "hv")]
MOVE = re.compile(r'^\$ns_ at (\S+) "(\$node_\(\d+\) setdest \S+ \S+) (\S+)"$', re.MULTILINE)


def text(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="ascii")) as lines:
        return lines.read()


def faster(source, target, factor):
    """The same moves, `factor` times as fast."""
    moves = MOVE.sub(lambda m: f'$ns_ at {float(m[1]) / factor:.6f} "{m[2]} {float(m[3]) * factor:.6f}"', text(source))
    with open(target, "w", encoding="ascii", newline="\n") as out:
        out.write(moves)


def patterns(arguments):
    """(name, movement file at 2 m/s)."""
    if arguments.movement:
        return [(os.path.basename(path).split(".")[0], path) for path in arguments.movement]
    shared = [path for folder in SHARED for path in glob.glob(os.path.join(folder, "p*.tcl.gz"))]
    chosen = sorted((os.path.basename(path).split(".")[0], path) for path in shared)
    for seed in range(1001, 1001 + arguments.own):
        path = os.path.join(arguments.scratch, f"hv-{seed}.tcl")
        generate.movement(path, seed, 30, 1500, 300, 0.9 * BASE_MPS, 1.1 * BASE_MPS, 0, BASE_S)
        chosen.append((f"own-{seed}", path))
    return chosen


def ftp(directory):
    path = os.path.join(directory, "hv-ftp.tcl")
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write(layouts.TCP_FLOW.format(agent="Reno", sink="TCPSink", window=32, payload=PAYLOAD, source=1, target=2))
    return path


class Run:
    """One pattern at one speed with one seed."""

    def __init__(self, name, movement, traffic, protocol, speed, seed):
        self.files, self.seconds = (movement, traffic), BASE_S * BASE_MPS / speed
        self.key = {"pattern": name, "protocol": protocol, "speed_mps": speed, "seed": seed}

    def again(self, seed):
        """The same with another seed."""
        other = copy.copy(self)
        other.key = {**self.key, "seed": seed}
        return other

    def ns2(self):
        movement, traffic = self.files
        protocol, seed = self.key["protocol"], self.key["seed"]
        run = ns2_run.run(movement=movement, traffic=traffic, protocol=protocol, seed=seed, duration=self.seconds)
        kbps = run["tcp_bytes"] // SEGMENT * PAYLOAD * 8 / self.seconds / 1000
        return {"kbps": round(kbps, 2), "resent": run["tcp_resent"], "wall_s": run["wall_s"], "cpu_s": run["cpu_s"]}

    def wayhop(self):
        run = wayhop_run.run(*self.files, self.key["protocol"], self.key["seed"], self.seconds)
        flow = run["flows"][0]
        return {
            "kbps": flow["goodput_bps"] / 1000,
            "resent": flow["tcp"]["retransmissions"],
            "wall_s": run["process_s"],
            "cpu_s": run["cpu_s"],
        }


def identity(run):
    return run["pattern"], run["protocol"], run["speed_mps"], run["seed"]


def compare(label, theirs, ours):
    """`theirs` and `ours`: a list of values for each pattern. Returns a row and what it breaks."""
    both = [(statistics.fmean(t), statistics.fmean(o)) for t, o in zip(theirs, ours)]
    ns2, wayhop = (statistics.fmean(side) for side in zip(*both))
    differences = [o - t for t, o in both]
    error = statistics.stdev(differences) / math.sqrt(len(both)) if len(both) > 1 else math.nan
    row = {"ns2_kbps": round(ns2, 1), "wayhop_kbps": round(wayhop, 1), "difference": round(wayhop / ns2 - 1, 4)}
    row["standard_error"] = round(error / ns2, 4)
    if len(both) > 2:
        # Of single runs, as two runs of one simulator would be compared.
        row["correlation"] = round(statistics.correlation([t[0] for t in theirs], [o[0] for o in ours]), 3)
        row["correlation_of_means"] = round(statistics.correlation(*zip(*both)), 3)
    broken = [f"{label}: mean {row['difference']:+.1%}"] if abs(row["difference"]) > MEAN_BOUND else []
    return row, broken


def agreement(arguments, pool):
    store = ns2_oracle.load(arguments.store)
    known = {identity(run): run for run in store["runs"]}
    traffic = ftp(arguments.scratch)
    chosen = patterns(arguments)
    rows, broken = [], []
    print(f"{'mean kb/s':<20}{'patterns':>9}{'ns-2':>9}{'Wayhop':>9}{'difference':>12}{'std. error':>12}{'correlation':>13}")
    for protocol in arguments.protocols:
        for speed in arguments.speeds:
            seeds = [1] if speed == BASE_MPS else list(range(1, arguments.seeds + 1))
            runs = []
            for name, source in chosen:
                movement = os.path.join(arguments.scratch, f"hv-{name}.v{speed:g}.tcl")
                faster(source, movement, speed / BASE_MPS)
                runs.append([Run(name, movement, traffic, protocol, speed, seed) for seed in seeds])
            flat = [run for of_pattern in runs for run in of_pattern]
            missing = [] if arguments.stored else [run for run in flat if identity(run.key) not in known]
            for run, result in zip(missing, pool.map(Run.ns2, missing)):
                known[identity(run.key)] = {**run.key, **result}
                store["runs"].append(known[identity(run.key)])
                ns2_oracle.save(arguments.store, store)
            runs = [of_pattern for of_pattern in runs if all(identity(run.key) in known for run in of_pattern)]
            if not runs:
                continue
            ours = [[first.again(seed) for seed in range(1, arguments.ours + 1)] for first, *_ in runs] if arguments.ours else runs
            results = pool.map(Run.wayhop, [run for of_pattern in ours for run in of_pattern])
            ours = [[next(results)["kbps"] for _ in of_pattern] for of_pattern in ours]
            theirs = [[known[identity(run.key)]["kbps"] for run in of_pattern] for of_pattern in runs]
            label = f"{protocol} {speed:g} m/s"
            row, breaks = compare(label, theirs, ours)
            if speed == BASE_MPS and row.get("correlation", 1.0) < CORRELATION_BOUND:
                breaks.append(f"{label}: correlation {row['correlation']}")
            broken += breaks
            each = [
                {"pattern": of_pattern[0].key["pattern"], "ns2_kbps": t, "wayhop_kbps": [round(v, 2) for v in o]}
                for of_pattern, t, o in zip(runs, theirs, ours)
            ]
            counts = {"seeds": seeds, "our_seeds": arguments.ours or len(seeds)}
            rows.append({"protocol": protocol, "speed_mps": speed, **counts, **row, "patterns": each})
            print(
                f"{label:<20}{len(runs):>9}{row['ns2_kbps']:>9}{row['wayhop_kbps']:>9}{row['difference']:>+12.1%}"
                f"{row['standard_error']:>12.1%}{row.get('correlation', math.nan):>13}",
                flush=True,
            )
    return rows, broken


def in_turn(arguments):
    """The same patterns at 2 m/s in both simulators, one after the other, so that both meet the same machine."""
    traffic, times = ftp(arguments.scratch), []
    for name, source in patterns(arguments)[: arguments.time]:
        movement = os.path.join(arguments.scratch, f"hv-{name}.v2.tcl")
        faster(source, movement, 1.0)
        run = Run(name, movement, traffic, "DSR", BASE_MPS, 1)
        ours, theirs = run.wayhop()["cpu_s"], run.ns2()["cpu_s"]
        times.append({"pattern": name, "wayhop_cpu_s": ours, "ns2_cpu_s": theirs})
        print(f"{name}: Wayhop {ours:.2f} s, ns-2 {theirs:.2f} s: {theirs / ours:.1f} times", flush=True)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speeds", nargs="+", type=float, default=[2, 10, 20, 30])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--ours", type=int, metavar="N")
    parser.add_argument("--own", type=int, default=30)
    parser.add_argument("--movement", nargs="+")
    parser.add_argument("--protocols", nargs="+", default=["DSR"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--time", type=int, default=3)
    parser.add_argument("--store", default=STORE)
    parser.add_argument("--scratch", default=os.path.join(cases.HERE, "data", "generated"))
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "hv.json"))
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows, broken = agreement(arguments, pool)
    times = in_turn(arguments) if arguments.time and not arguments.stored else []
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"rows": rows, "times": times}, out, indent=1)
        out.write("\n")
    print("\n".join(broken) if broken else "every bound holds")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
