"""How well `wayhop matrix solve` does, against simulated annealing: writes bench/results/matrix.json.

    python3 bench/matrix.py [WAYHOP]
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYHOP = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/dist/wayhop")
# Radios, buses, layouts, step in dB, seconds of motion.
# The last is the paper's arrangement of two switches in a row, 16 x 4 and 8 x 2.
CASES = [(12, 4, 100, 1, 60), (12, 6, 20, 1, 0), (12, 4, 20, 0.25, 0), (16, 4, 20, 1, 30), (24, 4, 10, 1, 20), (22, "16x4,8x2", 10, 1, 0)]


def solve(radios, buses, layouts, step, seconds):
    switch = f"--buses {buses} --anneal" if isinstance(buses, int) else f"--switches {buses}"
    args = f"matrix solve --random-layouts {layouts} --area 1000 --radios {radios} {switch} --step {step} --json"
    if seconds:
        args += f" --follow {seconds} --speed 30"
    done = subprocess.run([WAYHOP, *args.split()], check=True, capture_output=True, text=True)
    return {"step_db": step, **json.loads(done.stdout)}


if __name__ == "__main__":
    rows = [solve(*case) for case in CASES]
    (ROOT / "bench/results/matrix.json").write_text(json.dumps(rows, indent=1) + "\n")
    for r in rows:
        follow = r.get("follow") or {}
        print(f"{r['radios']:>2} x {r['buses']}, {r['step_db']} dB: {r['mean_error_db']:.3f} dB in {r['solve_ms']:.0f} ms,"
              f" annealed {(r.get('anneal') or {}).get('mean_error_db')}, coherent {r['coherent_error_db']:.2f},"
              f" followed {follow.get('mean_error_db')} in {follow.get('solve_ms')} ms")
