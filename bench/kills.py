#!/usr/bin/env python3
"""Whether a host is as before after its node, or what sets the host back, or both were killed (kill -9) at random instants.

A trial: the settings of a host in a network namespace get random values; a node starts; it, its helper (`wayhop node-undo`), or both
are killed while it starts, runs or ends; at once a node starts again, and ends. In a quarter of the trials that next node is killed, too,
before the last one starts. Then all of this is to be as before: the settings net.ipv4.conf, net.ipv6.conf and ip_forward; links,
addresses, rules, and routes of all tables; programs at the interface (tc, tcx); the files of the runtime folder. DSR and AODV, with and
without IPv6, in turn. Trial N makes the same choices for a seed, whatever the number of jobs; the instants are the machine's.

    kills.py [--kills 1000] [--seed 1] [--jobs 4] [--wayhop PATH] [--out FILE]

Prints a line a trial that went wrong, progress, and at the end one JSON object (also in --out). Exits with 1 if a host was not as before.
Needs root, Linux 6.6, and Debian's iproute2 and python3.
"""

import argparse
import collections
import ctypes
import difflib
import glob
import json
import multiprocessing
import os
import platform
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
BPF_PROG_QUERY, TCX_INGRESS, TCX_EGRESS = 16, 46, 47
BPF = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
CONFIGURATIONS = [("dsr", False), ("aodv", False), ("dsr", True), ("aodv", True)]
PHASES = ["start", "run", "end"]
TARGETS = ["node", "helper", "both"]
# How long a start, an end, or the kernel's own work may take, s.
PATIENCE = 60


def ip(line):
    done = subprocess.run(["ip", *line.split()], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {line}: {done.stderr.strip()}")
    return done.stdout


def write(path, value):
    with open(path, "w", encoding="ascii") as f:
        f.write(value)


def read(path):
    try:
        with open(path, encoding="ascii") as f:
            return f.read().strip()
    except OSError as e:
        # Some can be written only, as stable_secret.
        return e.strerror


def tcx(index, way):
    """How many programs are at this place of an interface."""
    attributes = bytearray(struct.pack("=IIIIQI", index, way, 0, 0, 0, 0) + bytes(100))
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    if LIBC.syscall(BPF, BPF_PROG_QUERY, buffer, len(attributes)) < 0:
        return os.strerror(ctypes.get_errno())
    return struct.unpack_from("=I", attributes, 24)[0]


def state(folder):
    """All of a host that a node could change."""
    lines = []
    for family in ("ipv4", "ipv6"):
        lines += [f"{p} {read(p)}" for p in glob.glob(f"/proc/sys/net/{family}/conf/*/*")]
    lines.append("ip_forward " + read("/proc/sys/net/ipv4/ip_forward"))
    for what in ("-o -d link", "-o address", "-4 route show table all", "-6 route show table all", "-4 rule", "-6 rule"):
        lines += [f"{what}: {line.strip()}" for line in ip(what).splitlines()]
    for name in ("eth1", "lan0"):
        index = socket.if_nametoindex(name)
        lines += [f"tcx {name} {way} {tcx(index, way)}" for way in (TCX_INGRESS, TCX_EGRESS)]
        tc = subprocess.run(["tc", "filter", "show", "dev", name, "ingress"], capture_output=True, text=True, check=False)
        lines.append(f"tc {name} {tc.stdout.strip()}")
    lines += [f"file {name}" for name in os.listdir(folder)]
    return sorted(lines)


class Host:
    """A network namespace, which this process enters, with eth1 in the mesh and another network at lan0."""

    def __init__(self, name):
        self.names = [name, name + "p"]
        for n in self.names:
            ip(f"netns add {n}")
        with open(f"/run/netns/{name}", encoding="ascii") as namespace:
            if LIBC.setns(namespace.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        ip("link set lo up")
        for i, interface in enumerate(("eth1", "lan0")):
            ip(f"link add {interface} type veth peer name p{i} netns {self.names[1]}")
            # Without the second that the kernel waits before it uses an address.
            for of in (interface, "all"):
                write(f"/proc/sys/net/ipv6/conf/{of}/accept_dad", "0")
            ip(f"-n {self.names[1]} link set p{i} up")
            ip(f"link set {interface} up")
        ip("address add 192.0.2.1/24 dev lan0")
        ip("route add 198.51.100.0/24 via 192.0.2.9")

    def vary(self, dice):
        """Gives what a node changes another beginning."""
        for name, values in [("forwarding", "01"), ("send_redirects", "01"), ("accept_redirects", "01"),
                             ("accept_source_route", "01"), ("rp_filter", "012")]:
            write(f"/proc/sys/net/ipv4/conf/eth1/{name}", dice.choice(values))
        write("/proc/sys/net/ipv4/conf/all/send_redirects", dice.choice("01"))
        write("/proc/sys/net/ipv6/conf/eth1/disable_ipv6", dice.choice("001"))

    def settle(self, folder):
        """What the host is like when the kernel is done."""
        now = None
        while now != (now := state(folder)) or any("NO-CARRIER" in line or "tentative" in line for line in now):
            time.sleep(0.05)
        return now

    def remove(self):
        for n in self.names:
            subprocess.run(["ip", "netns", "del", n], capture_output=True, check=False)


def lives(pid):
    """Whether a process is there, and no more than its exit status is left."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Node:
    """A node, and what sets the host back."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.said, self.children = b"", []
        os.set_blocking(self.process.stderr.fileno(), False)

    def listen(self):
        self.said += self.process.stderr.read() or b""
        return self.said.decode()

    def wait_ready(self):
        until = time.monotonic() + PATIENCE
        while "programs use" not in self.listen():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the node does not start: {self.listen()}")
            time.sleep(0.002)

    def helper(self):
        """The process that sets the host back, also when it is nobody's child any more."""
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
                self.children = f.read().split() or self.children
        except OSError:
            pass
        return int(self.children[0]) if self.children else None

    def kill(self, target, dice):
        """Kills the node, its helper, or both, in any order. Returns which of them lived until then."""
        helper = self.helper()
        victims = [("node", self.process.pid)] if target != "helper" or helper is None else []
        if target != "node" and helper is not None:
            victims.append(("helper", helper))
        dice.shuffle(victims)
        killed = set()
        for i, (name, pid) in enumerate(victims):
            if i:
                time.sleep(dice.choice([0, 0.01]) * dice.random())
            if lives(pid):
                os.kill(pid, signal.SIGKILL)
                killed.add(name)
        return "both" if len(killed) == 2 else "".join(killed)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


class Worker:
    """Carries out trials, one after the other, on a host of its own."""

    def __init__(self, number, a, name):
        self.a, self.host = a, Host(f"{name}w{number}")
        self.folder = tempfile.mkdtemp(prefix="wayhop-kills-")
        # What it takes a node to start and to end, s: the span in which instants are drawn.
        self.starts, self.ends = 0.1, 0.03

    def node(self, protocol, ipv6):
        command = [self.a.wayhop, "node", "--interface", "eth1", "--address", "10.0.0.1/16", "--protocol", protocol]
        if ipv6:
            command += ["--set", "address6=fd00:77::1/64"]
        return Node(command, dict(os.environ, WAYHOP_RUNTIME_DIR=self.folder))

    def strike(self, node, phase, target, dice):
        """Lets a node come to a random instant of a phase, and kills."""
        begun = time.monotonic()
        if phase == "start":
            time.sleep(dice.random() * 1.3 * self.starts)
        else:
            node.wait_ready()
            self.starts = 0.9 * self.starts + 0.1 * (time.monotonic() - begun)
            time.sleep(dice.random() * 0.05)
        if phase == "end":
            node.helper()
            node.process.send_signal(signal.SIGTERM)
            time.sleep(dice.random() * self.ends)
        killed = node.kill(target, dice)
        # One that lost its helper ends by itself; so does one that had been asked to.
        node.process.wait(PATIENCE)
        return killed

    def trial(self, number):
        dice = random.Random(f"{self.a.seed}:{number}")
        protocol, ipv6 = CONFIGURATIONS[number % len(CONFIGURATIONS)]
        strikes = [(dice.choice(PHASES), dice.choice(TARGETS)) for _ in range(1 + (dice.random() < 0.25))]
        self.host.vary(dice)
        before = self.host.settle(self.folder)
        result = {"trial": number, "protocol": protocol, "ipv6": ipv6, "strikes": [], "wrong": None}
        said, node = [], None
        try:
            for phase, target in strikes:
                killed = ""
                # It may have ended before.
                while not killed:
                    node = self.node(protocol, ipv6)
                    killed = self.strike(node, phase, target, dice)
                said.append(node.listen())
                result["strikes"].append([phase, killed, node.process.returncode])
            node = self.node(protocol, ipv6)
            node.wait_ready()
            during = state(self.folder)
            begun = time.monotonic()
            code = node.end()
            self.ends = 0.9 * self.ends + 0.1 * (time.monotonic() - begun)
            said.append(node.listen())
            if code:
                raise RuntimeError(f"the last node ends with {code}")
            if during == before:
                raise RuntimeError("a node changes nothing of its host: this trial shows nothing")
            # The kernel takes a moment to bring IPv6 back.
            until = time.monotonic() + 5
            while (after := state(self.folder)) != before and time.monotonic() < until:
                time.sleep(0.05)
            if after != before:
                difference = difflib.unified_diff(before, after, lineterm="", n=0)
                raise RuntimeError("not as before: " + "; ".join(list(difference)[2:]))
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
            result["wrong"] = str(e)
            result["said"] = said
        finally:
            if node and node.process.poll() is None:
                node.process.kill()
                node.process.wait()
        return result

    def run(self, numbers, results):
        try:
            for number in numbers:
                results.put(self.trial(number))
        finally:
            results.put(None)
            self.host.remove()
            if not os.listdir(self.folder):
                os.rmdir(self.folder)


def work(number, a, name, results):
    Worker(number, a, name).run(range(number, a.kills, a.jobs), results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="trials; each has one kill at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--out")
    a = parser.parse_args()
    a.wayhop = os.path.abspath(a.wayhop)
    begun, name = time.monotonic(), f"wk{os.getpid()}"
    results = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(i, a, name, results)) for i in range(a.jobs)]
    for w in workers:
        w.start()
    done, ended = [], 0
    while ended < a.jobs:
        result = results.get()
        if result is None:
            ended += 1
            continue
        done.append(result)
        if result["wrong"]:
            print(f"trial {result['trial']}: {result}", flush=True)
        if len(done) % 50 == 0:
            wrong = sum(r["wrong"] is not None for r in done)
            print(f"{len(done)} of {a.kills}, {wrong} wrong, {time.monotonic() - begun:.0f} s", flush=True)
    for w in workers:
        w.join()
    strikes = [s for r in done for s in r["strikes"]]
    clean = sum(r["wrong"] is None for r in done)
    report = {
        "kills": len(done), "clean": clean, "seed": a.seed, "seconds": round(time.monotonic() - begun),
        "strikes": dict(sorted(collections.Counter(f"{phase}: {killed}" for phase, killed, _ in strikes).items())),
        "configurations": dict(collections.Counter(r["protocol"] + (" with IPv6" if r["ipv6"] else "") for r in done)),
        "wrong": [r for r in done if r["wrong"]],
    }
    text = json.dumps(report)
    print(text)
    if a.out:
        with open(a.out, "w", encoding="utf-8") as f:
            f.write(text + "\n")
    sys.exit(0 if clean == a.kills else 1)


if __name__ == "__main__":
    main()
