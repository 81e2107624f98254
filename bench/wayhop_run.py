"""Run the `wayhop` binary on ns-2's files and take its JSON summary."""

import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def binary():
    """The release binary: $WAYHOP, or the one that cargo builds."""
    named = os.environ.get("WAYHOP")
    path = named or os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release", "wayhop")
    if not os.path.exists(path):
        raise SystemExit(f"{path} is missing: cargo build --release --package wayhop-cli, or set WAYHOP")
    return path


def run(movement, traffic, protocol, seed, duration, radio="wavelan-914-cmu", profile="ns2", extra=()):
    """One run without captures. Returns the summary with `process_s` (wall time of the whole process) and `peak_kb`."""
    return run_arguments(
        ["--movement", movement, "--traffic", traffic, "--protocol", protocol.lower(), "--profile", profile]
        + ["--radio", radio, "--duration", f"{duration:g}", "--seed", str(seed), *extra]
    )


def run_arguments(words):
    """`wayhop run WORDS --json --quiet`."""
    command = [binary(), "run", *words, "--json", "--quiet"]
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        out, errors = child.communicate()
        wall = time.monotonic() - started
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexit status {child.returncode}: {errors[-2000:]}")
    summary = json.loads(out)
    summary["process_s"] = round(wall, 4)
    return summary


def peak_kb(words):
    """The peak resident memory of `wayhop run WORDS`, in kB, and its summary."""
    # The high-water mark of children only ever rises, so each measurement is made by a fresh parent.
    script = (
        "import json, resource, sys; sys.path.insert(0, sys.argv[1]); import wayhop_run\n"
        "summary = wayhop_run.run_arguments(sys.argv[2:])\n"
        "summary['peak_kb'] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(json.dumps(summary))"
    )
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, "-c", script, here, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)
