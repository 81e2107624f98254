#!/usr/bin/env python3
"""How long a flow to the outside stops on real hosts when its gateway dies, by how long the flow had lasted.

Hosts in network namespaces, in a row on an Ethernet, each with `wayhop node`: gateway, reader, relay, gateway. The reader pings a server
behind both gateways, 20 times a second, by the gateway that is its neighbour. After the flow's age that host is cut off without a word. The
figure is the longest time between two answers from then on, and how many pings had none.

    gateway_ages.py [--ages 1,4,12,30,60] [--rounds 10] [--protocols dsr,aodv,dsdv] [--jobs 6] [--wayhop PATH]

Prints a Markdown table; all numbers go to results/gateway_ages.json. Exits with 1 if a flow has no answer within 60 s. Needs root, and Debian's
iproute2, iputils-ping and nftables.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from host_changes import run

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results", "gateway_ages.json")
SERVER = "198.51.100.1"
# How long to wait for routes, and for answers after the gateway's end, s.
PATIENCE = 60
# How often a ping is sent, s.
EVERY = 0.05
GATEWAYS, READER = (0, 3), 1


class Row:
    """The hosts, their nodes, the bridge between them, and the server behind the gateways."""

    def __init__(self, name, protocol, wayhop, folder):
        self.hosts = [f"{name}h{i}" for i in range(4)]
        self.switch, self.server = f"{name}s", f"{name}o"
        self.nodes = []
        for n in [*self.hosts, self.switch, self.server]:
            run(f"ip netns add {n}")
            run(f"ip -n {n} link set lo up")
        run(f"ip -n {self.switch} link add br0 type bridge")
        run(f"ip -n {self.switch} link set br0 up")
        rules = ""
        for i, n in enumerate(self.hosts):
            self.cable((self.switch, f"p{i}", None), (n, "eth1", None))
            run(f"ip -n {self.switch} link set p{i} master br0")
            far = [f'"p{j}"' for j in range(4) if abs(i - j) > 1]
            rules += f'iifname "p{i}" oifname {{ {", ".join(far)} }} drop; '
        rules = f"table bridge far {{ chain forward {{ type filter hook forward priority 0; {rules} }}; }}"
        subprocess.run(["ip", "netns", "exec", self.switch, "nft", "-f", "-"], input=rules, text=True, check=True)
        run(f"ip -n {self.server} address add {SERVER}/32 dev lo")
        for i, n in enumerate(self.hosts):
            setting = 'outside=["0.0.0.0/0"]'
            if i in GATEWAYS:
                here, there = f"192.0.2.{4 * i + 1}", f"192.0.2.{4 * i + 2}"
                self.cable((n, "eth0", here), (self.server, f"out{i}", there))
                run(f"ip -n {n} route add default via {there}")
                setting = "gateway.uplink=eth0"
            command = ["ip", "netns", "exec", n, wayhop, "node", "--interface", "eth1", "--address", f"10.0.0.{i + 1}/16"]
            command += ["--protocol", protocol, "--set", setting]
            with open(f"{folder}/{i}.log", "w", encoding="utf-8") as out:
                environment = dict(os.environ, WAYHOP_RUNTIME_DIR=f"{folder}/run{i}")
                self.nodes.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment))

    def cable(self, *ends):
        (host, name, _), (other, at, _) = ends
        run(f"ip -n {host} link add {name} type veth peer name {at} netns {other}")
        for host, name, address in ends:
            if address:
                run(f"ip -n {host} address add {address}/30 dev {name}")
            run(f"ip -n {host} link set {name} up")

    def is_answered(self):
        said = run(f"ip netns exec {self.hosts[READER]} ping -c 1 -W 1 {SERVER}", check=False)
        return "1 received" in said

    def packets(self, gateway):
        """How many packets a gateway's uplink has sent."""
        said = json.loads(run(f"ip -n {self.hosts[gateway]} -s -j link show eth0"))
        return said[0]["stats64"]["tx"]["packets"]

    def uses_nearer(self):
        before = self.packets(GATEWAYS[0])
        return self.is_answered() and self.packets(GATEWAYS[0]) > before

    def end(self):
        for node in self.nodes:
            node.terminate()
        for node in self.nodes:
            node.wait()
        for n in [*self.hosts, self.switch, self.server]:
            run(f"ip netns del {n}", check=False)


def trial(job):
    """(protocol, age, the longest silence in s or None, pings lost)"""
    number, (protocol, age, _), wayhop = job
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        row = Row(f"ga{os.getpid()}n{number}", protocol, wayhop, folder)
        try:
            begun = time.time()
            while not row.uses_nearer():
                if time.time() - begun > PATIENCE:
                    raise RuntimeError(f"{protocol}: the nearer gateway is not used")
                time.sleep(0.2)
            # What was learned for these first pings is not to be the flow's.
            time.sleep(3)
            return protocol, age, *silence(row, age, folder)
        finally:
            row.end()


def silence(row, age, folder):
    log = f"{folder}/pings"
    with open(log, "w", encoding="utf-8") as out:
        command = ["ip", "netns", "exec", row.hosts[READER], "ping", "-D", "-n", "-i", str(EVERY), SERVER]
        ping = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    time.sleep(age)
    run(f"ip -n {row.switch} link set p{GATEWAYS[0]} nomaster")
    failed = time.time()
    while time.time() - failed < PATIENCE and not any(t > failed + 1 for t, _ in answers(log)):
        time.sleep(0.5)
    time.sleep(2)
    ping.send_signal(2)
    ping.wait()
    all_answers = answers(log)
    after = [t for t, _ in all_answers if t > failed]
    if not after:
        return None, None
    numbers = [n for _, n in all_answers]
    # Some are late: each number counts once.
    return max(b - a for a, b in zip([failed, *after], after)), max(numbers) - min(numbers) + 1 - len(set(numbers))


def answers(log):
    with open(log, encoding="utf-8") as said:
        found = re.findall(r"^\[([\d.]+)\] \d+ bytes from .* icmp_seq=(\d+)", said.read(), re.MULTILINE)
    return [(float(t), int(n)) for t, n in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ages", default="1,4,12,30,60")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--protocols", default="dsr,aodv,dsdv")
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--out", default=RESULTS)
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("gateway_ages.py: makes network namespaces; run it as root")
    ages = [float(a) for a in arguments.ages.split(",")]
    protocols = arguments.protocols.split(",")
    wayhop = os.path.abspath(arguments.wayhop)
    plan = itertools.product(protocols, ages, range(arguments.rounds))
    jobs = [(number, what, wayhop) for number, what in enumerate(plan)]
    found = {}
    with multiprocessing.Pool(arguments.jobs) as pool:
        for protocol, age, seconds, lost in pool.imap_unordered(trial, jobs):
            found.setdefault(protocol, {}).setdefault(f"{age:g}", []).append({"silent_s": seconds, "lost": lost})
    print("| protocol | age of the flow, s | longest silence, s: median (maximum) | pings lost of 20/s: median (maximum) |")
    print("|---|---|---|---|")
    failed = False
    for protocol, age in itertools.product(protocols, ages):
        rows = found[protocol][f"{age:g}"]
        good = [r for r in rows if r["silent_s"] is not None]
        failed |= len(good) < len(rows)
        cells = [f"{len(good)} of {len(rows)} have answers again", ""]
        if len(good) == len(rows):
            figures = [[r[key] for r in good] for key in ("silent_s", "lost")]
            cells = [f"{statistics.median(f):.3g} ({max(f):.3g})" for f in figures]
        print("|", " | ".join([protocol.upper(), f"{age:g}", *cells]), "|")
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"rounds": arguments.rounds, "every_s": EVERY, "trials": found}, out, indent=1)
        out.write("\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
