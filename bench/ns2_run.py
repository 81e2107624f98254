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

    Returns the driver's own line, with `wall_s` and `cpu_s` (user and system) of the whole process; with `trace`, the
    trace's summary is merged in (then the wall time means nothing, since the reader holds ns-2 up).
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
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            started = time.monotonic()
            child = subprocess.Popen(["ns", DRIVER, *words], stdout=out, stderr=err, cwd=scratch)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - started
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            lines = [line for line in out if line.startswith("{")]
            if not lines:
                raise SystemExit(f"ns-2 failed on {' '.join(words)}:\n{err.read()[-2000:]}")
        if reader is not None:
            reader.join()
        times = {"wall_s": round(wall, 3), "cpu_s": round(usage.ru_utime + usage.ru_stime, 3)}
        return {**json.loads(lines[-1]), **times, **summary}
