#!/usr/bin/env python3
"""Count the instructions of three simulations, and compare with the stored counts: a test that speed stays.

    instructions.py PROGRAM            fails if a run takes 3 % more than stored
    instructions.py PROGRAM --store    stores the counts in results/instructions.json

PROGRAM is the tests' own (target/debug/wayhop), which `make test` has built. Valgrind counts, so other load on the
machine does not matter, and a second run of the same program gives the same counts. Only the thread that takes most
counts: it simulates.

A change that costs more on purpose stores the new counts in its commit, which says why. So does one that costs less, or
the bound would not hold what was gained. Counts belong to a compiler: PROGRAM tells which one. With another compiler
nothing can be compared: build the commit before with it, --store, and then compare. For CI, that is a commit of its own
that changes nothing else.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cases

STORED = os.path.join(cases.RESULTS, "instructions.json")
# A change of so much is one of the program, not of its layout.
BOUND = 0.03

BROCH = ["--movement", os.path.join(cases.DATA, "broch", "s1.pause0.tcl"), "--traffic", os.path.join(cases.DATA, "broch", "s1.cbr.tcl")]
HELLOS = """duration_s = 3
nodes.count = 1000
area = { x_m = 3000, y_m = 3000 }
movement = { kind = "random-waypoint", speed_min_mps = 1, speed_max_mps = 20 }
protocol = { name = "aodv", hello = "always" }
"""

# By name: what `wayhop run` is given. 50 nodes and 20 flows, half of them begun by the end; and 1,000 nodes, which hear
# 22 neighbours each, with a Hello a second.
RUNS = {
    "dsr": [*BROCH, "--protocol", "dsr", "--profile", "ns2", "--duration", "90"],
    "aodv": [*BROCH, "--protocol", "aodv", "--profile", "ns2", "--duration", "90"],
    "hellos": ["hellos.toml"],
}


def compiler(program):
    """The compiler that a program says it was built with."""
    with open(program, "rb") as file:
        found = re.search(rb"rustc version ([ -~]+)", file.read())
    if not found:
        raise SystemExit(f"{program} does not say which compiler built it: it was stripped; build it with cargo build")
    return found[1].decode()


def of_threads(text):
    """The instructions of each thread, by the files of callgrind, one after the other."""
    return [int(count) for count in re.findall(r"^totals: (\d+)$", text, re.M)]


def count(program, words):
    """The instructions of the thread of `wayhop run` that takes most."""
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
        with open(os.path.join(folder, "hellos.toml"), "w", encoding="ascii") as file:
            file.write(HELLOS)
        command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=counts"]
        command += [os.path.abspath(program), "run", *words, "--seed", "1", "--quiet", "--no-out"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\nfailed with status {done.returncode}: {done.stderr[-2000:]}")
        threads = []
        for name in os.listdir(folder):
            if name.startswith("counts"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    threads += of_threads(file.read())
    return max(threads)


def verdict(name, counted, stored):
    """What to say of a run, and whether it passes."""
    if stored is None:
        return f"{name}: {counted:,} instructions, none stored: run with --store", False
    more = counted / stored - 1
    told = f"{name}: {counted:,} instructions, {100 * more:+.2f} % to the stored count"
    if more > BOUND:
        return f"{told}; at most {100 * BOUND:.0f} % more are allowed. Find out why; if it has to be, run with --store", False
    if more < -BOUND:
        return f"{told}: run with --store, so that it stays", True
    return told, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program that the tests use, such as target/debug/wayhop")
    parser.add_argument("--store", action="store_true", help="store the counts instead of comparing with them")
    parser.add_argument("--runs", nargs="+", choices=list(RUNS), default=list(RUNS))
    a = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed: apt-get install valgrind")
    stored = {"compiler": None, "instructions": {}}
    if os.path.exists(STORED):
        with open(STORED, encoding="utf-8") as file:
            stored = json.load(file)
    own = compiler(a.program)
    if not a.store and own != stored["compiler"]:
        raise SystemExit(
            f"{a.program} was built by rustc {own}, and the stored counts are of {stored['compiler']}: store those of the "
            f"commit before, built by the new compiler, with {sys.argv[0]} {a.program} --store"
        )
    counts = {name: count(a.program, RUNS[name]) for name in a.runs}
    if a.store:
        kept = stored["instructions"] if own == stored["compiler"] else {}
        with open(STORED, "w", encoding="utf-8") as file:
            json.dump({"compiler": own, "instructions": {**kept, **counts}}, file, indent=1)
            file.write("\n")
        return
    verdicts = [verdict(name, counts[name], stored["instructions"].get(name)) for name in a.runs]
    print("\n".join(told for told, _ in verdicts))
    sys.exit(not all(passes for _, passes in verdicts))


if __name__ == "__main__":
    main()
