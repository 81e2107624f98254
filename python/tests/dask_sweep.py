"""A sweep over Dask workers that fail: python3 dask_sweep.py WAYHOP, in a folder with plan.toml.

Of four workers in processes of their own, one has another version of the program, one a full disk,
one is killed while it works, and one is well. As root, the second and the last do not share the
folder of the sweep: an empty one is mounted over it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import distributed


def scheduler(folder, port):
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port),
         "--no-dashboard", "--scheduler-file", str(folder / "scheduler.json")],
        stderr=open(folder / "scheduler.log", "a"),
    )
    for _ in range(300):
        if (folder / "scheduler.json").exists() and (folder / "scheduler.json").read_text():
            return process, json.loads((folder / "scheduler.json").read_text())["address"]
        time.sleep(0.1)
    raise SystemExit((folder / "scheduler.log").read_text())


def worker(folder, address, name, program, *, hidden="", disk=""):
    """Starts a worker. An empty folder is mounted over `hidden`, for it alone, and has the full disk `disk` for
    temporary files."""
    directory = folder / name
    directory.mkdir()
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--name", name, "--nthreads", "1",
               "--no-nanny", "--no-dashboard", "--local-directory", str(directory), "--death-timeout", "60"]
    if hidden:
        mounts = 'mount -t tmpfs sweep "$0"; '
        if disk:
            mounts += f'mount -t tmpfs -o size=8k sweep "{disk}"; head -c 4096 /dev/zero >"{disk}/filler"; '
        command = ["unshare", "--mount", "sh", "-c", mounts + 'exec "$@"', hidden, *command]
    environment = {**os.environ, "WAYHOP": str(program)}
    if disk:
        environment["TMPDIR"] = disk
    return subprocess.Popen(command, env=environment, cwd="/", stderr=open(folder / f"{name}.log", "a"))


def busy(process):
    """Whether a worker has a process of the command."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    return any(child.read_text().strip() for child in children)


def main(wayhop):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old = folder / "old"
        old.write_text("#!/bin/sh\necho wayhop 0.1.0\n")
        old.chmod(0o755)
        head, address = scheduler(folder, 0)
        workers = [worker(folder, address, "old-version", old)]
        is_root = os.geteuid() == 0
        hidden = os.getcwd() if is_root else ""
        if is_root:
            disk = folder / "disk"
            disk.mkdir()
            workers.append(worker(folder, address, "full-disk", wayhop, hidden=hidden, disk=str(disk)))
        try:
            victim = worker(folder, address, "victim", wayhop)
            workers.append(victim)
            with distributed.Client(address) as client:
                client.wait_for_workers(len(workers), timeout=60)
            sweep = subprocess.Popen(
                [wayhop, "sweep", "plan.toml", "--on", f"dask:{address}"],
                env={**os.environ, "WAYHOP_PYTHON": sys.executable},
                stdout=subprocess.DEVNULL,
            )
            end = time.monotonic() + 60
            while not busy(victim) and time.monotonic() < end and sweep.poll() is None:
                time.sleep(0.005)
            if not busy(victim):
                raise SystemExit("the worker that was to be killed got no chunk")
            victim.send_signal(signal.SIGKILL)
            workers.append(worker(folder, address, "well", wayhop, hidden=hidden))
            status = sweep.wait(timeout=200)
            if status != 0:
                for log in folder.glob("*.log"):
                    sys.stderr.write(f"{log.name}:\n{log.read_text()}\n")
        finally:
            for process in [*workers, head]:
                process.kill()
                process.wait()
        sys.exit(status)


main(sys.argv[1])
