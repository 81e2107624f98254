"""A sweep over Dask, in a folder with plan.toml: python3 dask_sweep.py WAYHOP workers|coordinator

workers: of four workers in processes of their own, one has another version of the program, one a full
disk, one is killed while it works, and one is well. As root, the second and the last do not share the
folder of the sweep: an empty one is mounted over it.

coordinator: the command and its coordinator are killed in the middle, while a chunk runs, and the same
command is started again. Of two workers, one does not share the folder, as root.
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


def start_sweep(wayhop, address):
    """In a session of its own, so that it can be killed with its coordinator."""
    return subprocess.Popen(
        [wayhop, "sweep", "plan.toml", "--on", f"dask:{address}"],
        env={**os.environ, "WAYHOP_PYTHON": sys.executable},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_until(holds, sweep, why_not):
    """Waits for something that has to happen before the sweep ends."""
    end = time.monotonic() + 60
    while not holds() and time.monotonic() < end and sweep.poll() is None:
        time.sleep(0.005)
    if not holds():
        raise SystemExit(why_not)


def finish(sweep, folder):
    """The status of a sweep; what the workers logged, if it failed."""
    status = sweep.wait(timeout=1000)
    if status != 0:
        for log in folder.glob("*.log"):
            sys.stderr.write(f"{log.name}:\n{log.read_text()}\n")
    return status


def workers_fail(wayhop, folder, address, workers):
    old = folder / "old"
    old.write_text("#!/bin/sh\necho wayhop 0.1.0\n")
    old.chmod(0o755)
    workers.append(worker(folder, address, "old-version", old))
    hidden = os.getcwd() if os.geteuid() == 0 else ""
    if hidden:
        disk = folder / "disk"
        disk.mkdir()
        workers.append(worker(folder, address, "full-disk", wayhop, hidden=hidden, disk=str(disk)))
    victim = worker(folder, address, "victim", wayhop)
    workers.append(victim)
    with distributed.Client(address) as client:
        client.wait_for_workers(len(workers), timeout=60)
    sweep = start_sweep(wayhop, address)
    wait_until(lambda: busy(victim), sweep, "the worker that was to be killed got no chunk")
    victim.send_signal(signal.SIGKILL)
    workers.append(worker(folder, address, "well", wayhop, hidden=hidden))
    return finish(sweep, folder)


def coordinator_dies(wayhop, folder, address, workers):
    hidden = os.getcwd() if os.geteuid() == 0 else ""
    workers += [worker(folder, address, "near", wayhop), worker(folder, address, "far", wayhop, hidden=hidden)]
    with distributed.Client(address) as client:
        client.wait_for_workers(len(workers), timeout=60)
    sweep = start_sweep(wayhop, address)
    chunks = Path("runs/sweep-plan/chunks")

    def is_in_the_middle():
        lines = sum(len(file.read_text().splitlines()) for file in chunks.glob("*.jsonl"))
        return lines > 0 and any(map(busy, workers))

    wait_until(is_in_the_middle, sweep, "the sweep ended before its coordinator was killed")
    os.killpg(sweep.pid, signal.SIGKILL)
    sweep.wait()
    if Path("runs/sweep-plan/table.csv").exists():
        raise SystemExit("the sweep had ended when its coordinator was killed")
    return finish(start_sweep(wayhop, address), folder)


def main(wayhop, what):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head, address = scheduler(folder, 0)
        workers = []
        try:
            status = {"workers": workers_fail, "coordinator": coordinator_dies}[what](wayhop, folder, address, workers)
        finally:
            for process in [*workers, head]:
                process.kill()
                process.wait()
        sys.exit(status)


main(*sys.argv[1:])
