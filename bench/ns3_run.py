"""Build and run the ns-3 driver (Debian libns3-dev and g++). The comparisons of speed and of radios use it."""

import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "ns3", "manet.cc")
BINARY = os.path.join(HERE, "data", "generated", "ns3-manet")
# pkg-config also asks for libraries that libns3-dev does not bring.
LIBRARIES = [
    "core",
    "network",
    "internet",
    "mobility",
    "propagation",
    "wifi",
    "traffic-control",
    "applications",
    "aodv",
    "dsdv",
    "dsr",
    "olsr",
]


def build():
    """Compiles the driver if it is older than its source."""
    if os.path.exists(BINARY) and os.path.getmtime(BINARY) >= os.path.getmtime(SOURCE):
        return
    if shutil.which("g++") is None or not os.path.isdir("/usr/include/ns3"):
        raise SystemExit("ns-3 is not installed: apt-get install libns3-dev g++")
    os.makedirs(os.path.dirname(BINARY), exist_ok=True)
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    subprocess.run(["g++", "-O2", "-std=c++17", SOURCE, "-o", BINARY, *libraries], check=True)


def version():
    """The Debian package version of the ns-3 that runs here."""
    query = ["dpkg-query", "-W", "-f", "${Version}", "libns3-dev"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout or "unknown"


def flows(traffic):
    """(source, destination, start, interval, bytes) of each CBR flow of an ns-2 traffic file."""
    with open(traffic, encoding="ascii") as stored:
        text = stored.read()

    def table(pattern):
        return {int(m[1]): m[2] for m in re.finditer(pattern, text, re.M)}

    agents = {m[2]: int(m[1]) for m in re.finditer(r"attach-agent \$node_\((\d+)\) \$(\w+_\(\d+\))", text)}
    peers = table(r"connect \$udp_\((\d+)\) \$(\w+_\(\d+\))")
    sizes = table(r"^\$cbr_\((\d+)\) set packetSize_ (\d+)")
    intervals = table(r"^\$cbr_\((\d+)\) set interval_ (\S+)")
    starts = {int(m[2]): m[1] for m in re.finditer(r'\$ns_ at (\S+) "\$cbr_\((\d+)\) start"', text)}
    return [
        (agents[f"udp_({i})"], agents[peers[i]], float(starts[i]), float(intervals[i]), int(sizes[i]))
        for i in sorted(starts)
    ]


def node_count(movement):
    with open(movement, encoding="ascii") as stored:
        return 1 + max(int(m[1]) for m in re.finditer(r"^\$node_\((\d+)\) set X_", stored.read(), re.M))


def run(case, protocol, seed, duration, hello=False, **options):
    """One run; None where ns-3 itself crashes (its DSR does with hundreds of nodes). `options` are those of manet.cc."""
    with tempfile.TemporaryDirectory(prefix="ns3-") as scratch:
        flow_file = os.path.join(scratch, "flows")
        with open(flow_file, "w", encoding="ascii") as out:
            if case.traffic:
                out.writelines(" ".join(map(str, flow)) + "\n" for flow in flows(case.traffic))
        command = [BINARY, f"--movement={case.movement}", f"--flows={flow_file}", f"--protocol={protocol}"]
        command += [f"--nodes={node_count(case.movement)}", f"--seed={seed}", f"--duration={duration}"]
        command += [f"--{key}={str(value).lower()}" for key, value in {"hello": hello, **options}.items()]
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode != 0:
        print(f"ns-3 {protocol} failed with status {done.returncode}: {done.stderr[-300:]}", flush=True)
        return None
    return {**json.loads(done.stdout.splitlines()[-1]), "wall_s": round(wall, 3), "cpu_s": round(cpu, 3)}
