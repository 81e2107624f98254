"""Run the `wayhop` binary on ns-2's files and take its JSON summary."""

import json
import os
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def binary():
    """The release binary: $WAYHOP, or the one that cargo builds."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    path = os.environ.get("WAYHOP") or os.path.join(target, "dist", "wayhop")
    if not os.path.exists(path):
        raise SystemExit(f"{path} is missing: cargo build --profile dist --package wayhop-cli, or set WAYHOP")
    return path


def run(movement, traffic, protocol, seed, duration, radio="wavelan-914-cmu", profile="ns2", extra=()):
    """One run on a movement and a traffic file, without captures."""
    return run_words(
        ["--movement", movement, "--traffic", traffic, "--protocol", protocol.lower(), "--profile", profile]
        + ["--radio", radio, "--duration", f"{duration:g}", "--seed", str(seed), *extra]
    )


def run_words(words, tables=True):
    """The summary of `wayhop run WORDS`, with the whole process's wall and processor time and peak memory.

    Without `tables` no run directory is written.
    `peak_kb` cannot be less than this interpreter's own size, from which the process is forked: some 15 MB.
    """
    with tempfile.TemporaryDirectory(prefix="wayhop-") as scratch:
        record = ["--out", os.path.join(scratch, "run")] if tables else ["--no-out"]
        command = [binary(), "run", *map(str, words), *record, "--json", "--quiet"]
        with open(os.path.join(scratch, "out"), "w+b") as out, open(os.path.join(scratch, "err"), "w+b") as err:
            started = time.monotonic()
            child = subprocess.Popen(command, stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - started
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if child.returncode != 0:
                raise SystemExit(f"{' '.join(command)}\nexit status {child.returncode}: {err.read().decode()[-2000:]}")
            summary = json.loads(out.read())
    summary["process_s"] = round(wall, 4)
    summary["cpu_s"] = round(usage.ru_utime + usage.ru_stime, 4)
    summary["peak_kb"] = usage.ru_maxrss
    return summary
