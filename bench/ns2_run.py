"""Run ns-2 on a scenario, with or without reading its trace."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

import ns2_trace

DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ns2", "manet.tcl")


def version():
    """The Debian package version of the ns-2 that runs here."""
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "ns2"], capture_output=True, text=True, check=False)
    return query.stdout or "unknown"


def run(trace=False, flows=False, **options):
    """One ns-2 run. `options` are those of ns2/manet.tcl.

    Returns the driver's own line, with `wall_s` of the whole process; with `trace`, the trace's summary is merged in
    (then the wall time means nothing, since the reader holds ns-2 up).
    """
    if shutil.which("ns") is None:
        raise SystemExit("ns-2 is not installed: apt-get install ns2")
    with tempfile.TemporaryDirectory(prefix="ns2-") as scratch:
        summary = {}
        reader = None
        if trace:
            pipe = os.path.join(scratch, "trace")
            os.mkfifo(pipe)
            options["trace"] = pipe
            reader = threading.Thread(target=lambda: summary.update(ns2_trace.read(pipe, flows)), daemon=True)
            reader.start()
        # An absolute path, since ns runs in the scratch directory, where stray output files do no harm.
        for name in ("movement", "traffic"):
            if options.get(name):
                options[name] = os.path.abspath(options[name])
        words = [f"{key}={value}" for key, value in options.items()]
        started = time.monotonic()
        done = subprocess.run(["ns", DRIVER, *words], capture_output=True, text=True, check=False, cwd=scratch)
        wall = time.monotonic() - started
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if not lines:
            raise SystemExit(f"ns-2 failed on {' '.join(words)}:\n{done.stderr[-2000:]}")
        if reader is not None:
            reader.join()
        return {**json.loads(lines[-1]), "wall_s": round(wall, 3), **summary}
