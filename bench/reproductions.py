#!/usr/bin/env python3
"""Runs reproductions of papers and writes docs/reference/reproductions.md from what they print, so that the page cannot differ from them.

    python3 bench/reproductions.py                  the papers that need no root, with their default seeds
    python3 bench/reproductions.py das --seeds 10   one of them
    python3 bench/reproductions.py --stored         write the page from results/reproduce-*.json
    python3 bench/reproductions.py --check          fail if the page is not what the stored results give
"""

import argparse
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "docs", "reference", "reproductions.md")
PAPERS = ["cmu", "das", "holland-vaidya", "meshtest", "mule"]
HEAD = """# Results of the reproductions

<!-- Written by bench/reproductions.py: change the reproductions, not this page. -->

Every row of `wayhop reproduce`, as its last stored run printed it. What the papers are and where they leave a choice is in
[Papers, reproduced](../concepts/reproductions.md); notes and the command behind each row are in the report that the command writes.
`make reproductions` makes all runs again and writes this page.
"""


def number(value):
    """As people read it: 4 digits at most, and a dash for none."""
    if value is None:
        return "-"
    text = f"{value:.4g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1 else text


def line(row):
    interval = "-" if row["ci95"] is None else " to ".join(number(end) for end in row["ci95"])
    difference = "-" if row["difference_pct"] is None else f"{row['difference_pct']:+.0f}"
    cells = [row["artefact"], row["row"], f"`{row['quantity']}`", number(row["paper"]), number(row["ours"]), interval, difference]
    return "| " + " | ".join(cells + [str(row["seeds"])]) + " |"


def tally(t):
    if t["numbers"] == 0:
        return "The paper prints no number."
    text = (
        f"Of {t['numbers']} numbers of the paper, ours are within 10 % of {t['within_10_pct']}, within 25 % of "
        f"{t['within_25_pct']}, and farther from {t['farther']}"
    )
    if t["zero"]:
        text += f"; {t['zero']} are 0 in the paper, and {t['zero_met']} of ours, too"
    if t["without_ours"]:
        text += f"; {t['without_ours']} have none of ours"
    return text + "."


def section(stored):
    head = "| artefact | row | quantity | paper | ours | 95 % interval | difference, % | seeds |\n|---|---|---|---|---|---|---|---|"
    # Times are those of a machine.
    rows = [line(r) for r in stored["rows"] if r["artefact"] != "Time"]
    return f"\n## `{stored['paper']}`\n\n`{stored['command']}`. {tally(stored['tally'])}\n\n{head}\n" + "\n".join(rows) + "\n"


def page(results):
    return HEAD + "".join(section(r) for r in results)


def stored():
    results = []
    for path in sorted(glob.glob(os.path.join(HERE, "results", "reproduce-*.json"))):
        with open(path, encoding="utf-8") as file:
            results.append(json.load(file))
    return results


def run(paper, seeds):
    wayhop = os.environ.get("WAYHOP", os.path.join(HERE, "..", "target", "dist", "wayhop"))
    command = ["reproduce", paper] + (["--seeds", str(seeds)] if seeds else [])
    made = subprocess.run([wayhop, *command, "--json", "--quiet"], check=True, stdout=subprocess.PIPE)
    store(json.loads(made.stdout), "wayhop " + " ".join(command))


def store(printed, command):
    for row in printed["rows"]:
        del row["runs"]
    printed["command"] = command
    path = os.path.join(HERE, "results", f"reproduce-{printed['paper']}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(printed, file, indent=1, ensure_ascii=False)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", help=", ".join(PAPERS))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--check", action="store_true")
    a = parser.parse_args()
    unknown = [p for p in a.papers if p not in PAPERS]
    if unknown:
        parser.error(f"{unknown[0]} is not one of {', '.join(PAPERS)}")
    if a.check:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != page(stored()):
                sys.exit("docs/reference/reproductions.md is stale: python3 bench/reproductions.py --stored")
        return
    if not a.stored:
        for paper in a.papers or PAPERS:
            run(paper, a.seeds)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page(stored()))


if __name__ == "__main__":
    main()
