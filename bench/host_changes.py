#!/usr/bin/env python3
"""How long traffic stops when somebody changes the host of a node that it depends on.

Three hosts in a row, each a network namespace with `wayhop node` on an Ethernet whose bridge keeps frames of the ends from each other.
A program at one end pings the other, 20 times a second. Then something of the relay's host, or of the first host, changes:
its link address, MTU, addresses, forwarding or routes, or the name of its interface; or the interface is taken away and made again.
The figure is the longest time between two answers from then on (of an interface that is made again: since it is there).

    host_changes.py [--rounds 5] [--protocols dsr,aodv,dsdv] [--wayhop PATH] [--out FILE]

Prints a line a change, and at the end one JSON object (also in --out): for each protocol and change the seconds, sorted; `null` where
nothing came back within 20 s, with what the node said. Exits with 1 if any is. Needs root, and Debian's iproute2, iputils-ping, nftables and python3.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# How long to wait for traffic, s.
PATIENCE = 20
# How often a ping is sent, s.
EVERY = 0.05


def run(line, check=True):
    done = subprocess.run(line.split(), capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{line}: {done.stderr.strip()}")
    return done.stdout


class Row:
    """The hosts, their nodes, and the bridge between them."""

    def __init__(self, protocol, wayhop):
        self.names = [f"{protocol}{os.getpid()}h{i}" for i in range(3)]
        self.switch = f"{protocol}{os.getpid()}s"
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        self.nodes = []
        for n in [*self.names, self.switch]:
            run(f"ip netns add {n}")
            run(f"ip -n {n} link set lo up")
        run(f"ip -n {self.switch} link add br0 type bridge")
        run(f"ip -n {self.switch} link set br0 up")
        for i in range(3):
            self.plug(i)
        filters = "table bridge far { chain forward { type filter hook forward priority 0; " \
            'iifname "p0" oifname "p2" drop; iifname "p2" oifname "p0" drop; }; }'
        subprocess.run(["ip", "netns", "exec", self.switch, "nft", "-f", "-"], input=filters, text=True, check=True)
        for i, n in enumerate(self.names):
            settings = ["--interface", "eth1", "--address", f"10.0.0.{i + 1}/16", "--protocol", protocol]
            with open(self.said(i), "w", encoding="utf-8") as out:
                environment = dict(os.environ, WAYHOP_RUNTIME_DIR=f"{self.folder}/run{i}")
                command = ["ip", "netns", "exec", n, wayhop, "node", *settings]
                self.nodes.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment))

    def said(self, i):
        return f"{self.folder}/{i}.log"

    def plug(self, i):
        run(f"ip -n {self.switch} link add p{i} type veth peer name eth1 netns {self.names[i]}")
        run(f"ip -n {self.switch} link set p{i} master br0")
        run(f"ip -n {self.switch} link set p{i} up")
        run(f"ip -n {self.names[i]} link set eth1 up")

    def unplug(self, i):
        run(f"ip -n {self.switch} link del p{i}")

    def ip(self, i, line):
        return run(f"ip -n {self.names[i]} {line}")

    def write(self, i, setting, value):
        run(f"ip netns exec {self.names[i]} sysctl -qw {setting}={value}")

    def reaches(self):
        said = run(f"ip netns exec {self.names[0]} ping -c 1 -W 1 10.0.0.3", check=False)
        return "1 received" in said

    def wait(self):
        begun = time.time()
        while not self.reaches():
            if time.time() - begun > 3 * PATIENCE:
                said = "".join(open(self.said(i), encoding="utf-8").read() for i in range(3))
                raise RuntimeError(f"the nodes do not reach each other: {said}")

    def end(self):
        for node in self.nodes:
            node.terminate()
        for node in self.nodes:
            node.wait()
        for n in [*self.names, self.switch]:
            run(f"ip netns del {n}", check=False)
        shutil.rmtree(self.folder)


def remade(row):
    row.unplug(1)
    time.sleep(2)
    row.plug(1)


def shorter(row):
    # At all of them: a veth takes no frame that is longer than its own MTU.
    for i in range(3):
        row.ip(i, "link set eth1 mtu 1300")


CHANGES = {
    "link address of the relay": lambda row: row.ip(1, "link set eth1 address 02:00:00:00:77:01"),
    "MTU of all hosts, 1500 to 1300": shorter,
    "addresses of the relay's interface": lambda row: row.ip(1, "address flush dev eth1"),
    "addresses of the first host's TUN": lambda row: row.ip(0, "address flush dev mesh0"),
    "forwarding of the relay": lambda row: row.write(1, "net.ipv4.ip_forward", 0),
    "routes of the relay": lambda row: row.ip(1, "route flush proto 119"),
    "TUN of the first host down": lambda row: row.ip(0, "link set mesh0 down"),
    "name of the relay's interface": lambda row: row.ip(1, "link set eth1 name other1"),
    "relay's interface removed and made again": remade,
}


def gap(row, change):
    """The longest time without an answer after a change, s; None if none came at the end."""
    command = ["ip", "netns", "exec", row.names[0], "ping", "-D", "-n", "-i", str(EVERY), "-s", "1300", "-M", "dont", "10.0.0.3"]
    with tempfile.TemporaryFile("w+") as out:
        ping = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        time.sleep(2)
        change(row)
        changed = time.time()
        time.sleep(6)
        while time.time() - changed < PATIENCE and not row.reaches():
            pass
        time.sleep(1)
        ended = time.time()
        ping.send_signal(2)
        ping.wait()
        out.seek(0)
        answers = [float(t) for t in re.findall(r"^\[([\d.]+)\] \d+ bytes from", out.read(), re.MULTILINE)]
    after = [t for t in answers if t > changed]
    if not after or ended - after[-1] > 0.9:
        return None
    return max(b - a for a, b in zip([changed, *after], after))


def trials(arguments):
    protocol, rounds, wayhop = arguments
    results = {name: [] for name in CHANGES}
    told = []
    for name, change in CHANGES.items():
        for _ in range(rounds):
            row = Row(protocol, wayhop)
            try:
                row.wait()
                results[name].append(gap(row, change))
                if results[name][-1] is None:
                    told.append(f"{name}: " + "".join(open(row.said(i), encoding="utf-8").read() for i in range(2)))
            finally:
                row.end()
        seconds = [s for s in results[name] if s is not None]
        line = f"median {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s" if seconds else "never"
        print(f"{protocol:5} {name:42} {line}", flush=True)
    return protocol, results, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--protocols", default="dsr,aodv,dsdv")
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("host_changes.py: makes network namespaces; run it as root")
    wayhop = os.path.abspath(arguments.wayhop)
    protocols = arguments.protocols.split(",")
    with multiprocessing.Pool(len(protocols)) as pool:
        done = pool.map(trials, [(p, arguments.rounds, wayhop) for p in protocols], chunksize=1)
    rounded = {p: {n: sorted((round(s, 3) for s in v if s is not None)) + [None] * v.count(None) for n, v in r.items()} for p, r, _ in done}
    result = {"rounds": arguments.rounds, "every_s": EVERY, "gap_s": rounded, "said": [t for _, _, told in done for t in told]}
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as f:
            f.write(text + "\n")
    sys.exit(1 if result["said"] else 0)


if __name__ == "__main__":
    main()
