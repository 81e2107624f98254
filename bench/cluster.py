#!/usr/bin/env python3
"""A sweep of many short runs over Dask workers that are killed, against `wayhop sweep --jobs` on the same processors.

    bench/cluster.py overhead [--runs 2000] [--pairs 3]     workers that live
    bench/cluster.py kills [--runs 10000] [--every 30]      a worker, chosen at random, is killed every 30 s, with the
                                                            command that it runs, and another one is started; the seconds
                                                            are processor time of the cluster by processors
    bench/cluster.py scheduler [--runs 4000]                the scheduler and all workers are killed in the middle

Workers are processes. As root each has a network namespace and an empty folder mounted over the sweep's, so that results
come back over the network; --shared lets them use the folder. Needs Dask's `distributed` for the interpreter that runs this, and
a binary in WAYHOP. The machine may be shared with others: `overhead` alternates, and both give ratios of wall time and of processor
time.
"""

import argparse
import ctypes
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wayhop_run import ROOT, binary

PLAN = """scenario = "first.toml"
seeds = {{ count = {seeds} }}
set = {{ duration_s = 1, traffic.0.start_max_s = 0.1, traffic.0.rate_pps = 20 }}

[[axis]]
name = "protocol"
key = "protocol.name"
values = ["dsr", "aodv"]
"""
PORT = 18786
PR_SET_CHILD_SUBREAPER = 36


def run(*command, check=True, **more):
    return subprocess.run(command, check=check, **more)


class Cluster:
    """A scheduler, and as many workers as there are processors."""

    def __init__(self, folder, hidden):
        self.folder = folder
        self.hidden = hidden
        self.is_root = os.geteuid() == 0
        self.tag = f"wh{os.getpid() % 10000}"
        self.address = f"tcp://{self.host(0) if self.is_root else '127.0.0.1'}:{PORT}"
        self.head = None
        self.workers = {}
        self.begun = 0
        self.killed_commands_s = 0.0
        if self.is_root:
            run("ip", "link", "add", self.tag, "type", "bridge")
            run("ip", "address", "add", f"{self.host(0)}/24", "dev", self.tag)
            run("ip", "link", "set", self.tag, "up")

    @staticmethod
    def host(n):
        return f"10.213.77.{n + 1}"

    def namespace(self, n):
        """A network namespace with a wire to the bridge."""
        name, outer, inner = f"{self.tag}n{n}", f"{self.tag}o{n}", f"{self.tag}i{n}"
        if name not in run("ip", "netns", "list", capture_output=True, text=True).stdout.split():
            run("ip", "netns", "add", name)
            run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
            run("ip", "link", "set", outer, "master", self.tag, "up")
            run("ip", "-n", name, "address", "add", f"{self.host(n + 1)}/24", "dev", inner)
            run("ip", "-n", name, "link", "set", inner, "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        return name

    def start(self):
        log = open(self.folder / "scheduler.log", "a")
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
        self.head = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", str(PORT), "--no-dashboard"],
            env=environment, stderr=log,
        )
        for n in range(os.cpu_count()):
            self.start_worker(n)

    def start_worker(self, n):
        self.begun += 1
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--name", f"{n}-{self.begun}", "--nthreads", "1",
                   "--no-nanny", "--no-dashboard", "--death-timeout", "120", "--local-directory", str(self.folder)]
        if self.is_root:
            if self.hidden:
                command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs sweep "$0"; exec "$@"', self.hidden, *command]
            # An `ip netns exec` would have a mount namespace of its own, too.
            command = ["nsenter", f"--net=/run/netns/{self.namespace(n)}", *command]
        environment = {**os.environ, "WAYHOP": binary(), "PYTHONPATH": os.path.join(ROOT, "python")}
        self.workers[n] = subprocess.Popen(
            command, env=environment, cwd="/", stderr=open(self.folder / "workers.log", "a"), start_new_session=True
        )

    def cpu_s(self):
        """Processor time of the scheduler, the workers, and the commands that these run and ran, seconds."""
        python = sum(times(process.pid)[0] for process in [self.head, *self.workers.values()])
        return python + sum(map(self.commands_of, self.workers))

    def commands_s(self):
        """Processor time of all commands of workers, also of killed ones, seconds."""
        return self.killed_commands_s + sum(map(self.commands_of, self.workers))

    def commands_of(self, n):
        pid = self.workers[n].pid
        running = [child for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]
        return times(pid)[1] + sum(sum(times(child)) for child in running)

    def kill_worker(self, n):
        """As a machine that loses power: the worker, and the command that it runs."""
        group = self.workers[n].pid
        self.killed_commands_s += self.commands_of(n)
        os.killpg(group, signal.SIGKILL)
        self.workers[n].wait()
        # The command is now a child of this process; what it used counts.
        try:
            while True:
                os.waitpid(-group, 0)
        except ChildProcessError:
            pass

    def stop(self):
        for n in list(self.workers):
            self.kill_worker(n)
        self.workers = {}
        self.head.kill()
        self.head.wait()

    def close(self):
        self.stop()
        if self.is_root:
            for n in range(os.cpu_count()):
                run("ip", "netns", "delete", f"{self.tag}n{n}", check=False)
            run("ip", "link", "delete", self.tag, check=False)


def sweep(folder, name, *more):
    """Starts a sweep with results in folder/name."""
    environment = {**os.environ, "WAYHOP_PYTHON": sys.executable, "PYTHONPATH": os.path.join(ROOT, "python")}
    command = [binary(), "sweep", str(folder / "plan.toml"), "--out", str(folder / name), *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)


def done(process):
    if process.wait() != 0:
        raise SystemExit("the sweep failed")


def facts(folder, name):
    """How many lines and ids the results have, and the digest of the table."""
    with open(folder / name / "runs.jsonl") as lines:
        ids = [json.loads(line)["id"] for line in lines]
    digest = hashlib.sha256((folder / name / "table.csv").read_bytes()).hexdigest()
    return {"lines": len(ids), "ids": len(set(ids)), "table_sha256": digest}


def times(pid):
    """Processor time of a process, and of its children that ended, seconds. Nothing of one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0, 0.0
    ticks = list(map(int, fields[11:15]))
    return (ticks[0] + ticks[1]) / os.sysconf("SC_CLK_TCK"), (ticks[2] + ticks[3]) / os.sysconf("SC_CLK_TCK")


def used_s():
    """Processor time of all processes that have ended, seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(folder, name, *more):
    begun = time.monotonic()
    done(sweep(folder, name, *more))
    return time.monotonic() - begun


def overhead(folder, cluster, a):
    rows = []
    for pair in range(a.pairs):
        names = [("here", ()), ("dask", ("--on", f"dask:{cluster.address}"))]
        seconds, cpu_s = {}, {}
        for name, more in names if pair % 2 == 0 else names[::-1]:
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir()
            before = cluster.cpu_s() + used_s()
            seconds[name] = timed(folder, name, *more)
            cpu_s[name] = cluster.cpu_s() + used_s() - before
        row = {"ratio": seconds["dask"] / seconds["here"], "cpu_ratio": cpu_s["dask"] / cpu_s["here"]}
        rows.append({**{f"{name}_s": seconds[name] for name in seconds}, **row, "here_cpu_s": cpu_s["here"]})
        print(json.dumps(rows[-1]), flush=True)
        assert facts(folder, "here") == facts(folder, "dask"), (facts(folder, "here"), facts(folder, "dask"))
    return {"pairs": rows, **facts(folder, "dask")}


def kills(folder, cluster, a):
    chance = random.Random(1)
    begun, before = time.monotonic(), used_s()
    process = sweep(folder, "dask", "--on", f"dask:{cluster.address}")
    count = 0
    while process.poll() is None:
        time.sleep(0.1)
        if used_s() - before + cluster.cpu_s() >= (count + 1) * a.every * os.cpu_count():
            n = chance.choice(list(cluster.workers))
            cluster.kill_worker(n)
            cluster.start_worker(n)
            count += 1
    done(process)
    seconds = {"dask": time.monotonic() - begun}
    cpu_s = {"dask": used_s() - before + cluster.cpu_s(), "dask_commands": cluster.commands_s()}
    before = used_s()
    seconds["here"] = timed(folder, "here")
    cpu_s["here"] = used_s() - before
    assert facts(folder, "here") == facts(folder, "dask"), (facts(folder, "here"), facts(folder, "dask"))
    ratios = {"ratio": seconds["dask"] / seconds["here"], "cpu_ratio": cpu_s["dask"] / cpu_s["here"]}
    # Python waits in short turns, and uses more for the same sweep where the machine is shared.
    ratios["commands_cpu_ratio"] = cpu_s["dask_commands"] / cpu_s["here"]
    times = {f"{name}_{kind}": value for kind, of in (("s", seconds), ("cpu_s", cpu_s)) for name, value in of.items()}
    return {"kills": count, **ratios, **times, **facts(folder, "dask")}


def scheduler(folder, cluster, a):
    process = sweep(folder, "dask", "--on", f"dask:{cluster.address}")
    chunks = folder / "dask" / "chunks"
    while len(list(chunks.glob("*.jsonl"))) < 4 and process.poll() is None:
        time.sleep(0.1)
    if process.poll() is not None:
        raise SystemExit("the sweep ended before the scheduler was restarted: give more --runs")
    before = len(list(chunks.glob("*.jsonl")))
    cluster.stop()
    time.sleep(5)
    cluster.start()
    done(process)
    timed(folder, "here")
    assert facts(folder, "here") == facts(folder, "dask"), (facts(folder, "here"), facts(folder, "dask"))
    return {"chunks_before": before, **facts(folder, "dask")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["overhead", "kills", "scheduler"])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--every", type=float, default=30, help="seconds between two kills")
    parser.add_argument("--shared", action="store_true", help="workers use the sweep's folder")
    a = parser.parse_args()
    # Commands of killed workers become children of this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="wayhop-cluster-") as name, tempfile.TemporaryDirectory(prefix="wayhop-workers-") as own:
        folder = Path(name)
        shutil.copy(os.path.join(ROOT, "scenarios", "first.toml"), folder)
        (folder / "plan.toml").write_text(PLAN.format(seeds=a.runs // 2))
        cluster = Cluster(Path(own), "" if a.shared else name)
        try:
            cluster.start()
            result = {"overhead": overhead, "kills": kills, "scheduler": scheduler}[a.what](folder, cluster, a)
        finally:
            cluster.close()
    result = {"what": a.what, "runs": a.runs, "shared_folder": a.shared, "load": os.getloadavg(), **result}
    print(json.dumps(result, indent=2))
    store = os.path.join(ROOT, "bench", "results", f"cluster-{a.what}.json")
    with open(store, "w") as file:
        json.dump(result, file, indent=2)
        file.write("\n")


main()
