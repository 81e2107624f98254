#!/usr/bin/env python3
"""What forwarding costs a node on a real interface: the kernel with static routes, AODV and DSR on the same wire.

`wayhop reproduce pran --part forwarding` measures more, and without iperf3; this is the check with somebody else's traffic.
Three namespaces on one bridge; the ends hear the middle only. iperf3 sends UDP packets from end to end as fast as it can,
and with TCP; for each way of forwarding this prints the packets that arrived in a second, their share of the kernel's, and
the processor time that the middle's daemon took for each. Rounds alternate, so that a slow moment hits all; the median counts.

Needs root, and Debian's iproute2, nftables, iperf3.   bench/daemon.py [--wayhop PATH] [--rounds N] [--bytes N]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HUB, HOSTS = f"whb{os.getpid()}h", [f"whb{os.getpid()}n{i}" for i in range(3)]
# Streams that may fail, each.
ATTEMPTS = 5
MACS = [f"02:00:0a:00:00:0{i + 1}" for i in range(3)]


def sh(line, **more):
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True, **more).stdout


def inside(host, line):
    return f"ip netns exec {host} {line}"


def wire():
    # Bridged packets need not pass the firewall's hooks for routed ones.
    hooks = f"ip netns exec {HUB} sysctl -qw net.bridge.bridge-nf-call-iptables=0 2>/dev/null || true"
    sh(f"ip netns add {HUB}; {hooks}; ip -n {HUB} link add br0 type bridge ageing_time 0 mcast_snooping 0; ip -n {HUB} link set br0 up")
    for i, host in enumerate(HOSTS):
        sh(f"ip netns add {host}; ip -n {host} link set lo up")
        sh(f"ip -n {host} link add eth1 address {MACS[i]} type veth peer name p{i} netns {HUB}")
        sh(f"ip -n {host} link set eth1 up; ip -n {HUB} link set p{i} master br0 up")
    rules = "".join(f' oifname "p{to}" ether saddr {MACS[2 - to]} drop\n' for to in (0, 2))
    # As a switch would: frames to others need not reach the ends, whose time is not what is measured.
    rules += "".join(f' oifname "p{i}" ether daddr & 01:00:00:00:00:00 == 0 ether daddr != {MACS[i]} drop\n' for i in range(3))
    table = f"table bridge b {{\n chain c {{\n type filter hook forward priority 0;\n{rules} }}\n}}\n"
    sh(inside(HUB, "nft -f -"), input=table)


def unwire():
    for name in [HUB, *HOSTS]:
        subprocess.run(f"ip netns del {name}", shell=True, capture_output=True)


class Kernel:
    """Static routes: what AODV sets, without AODV."""

    def __enter__(self):
        for i, host in enumerate(HOSTS):
            sh(f"ip -n {host} addr add 10.0.0.{i + 1}/32 dev eth1")
            for to in range(3):
                if to != i:
                    via = to if abs(to - i) == 1 else 1
                    sh(f"ip -n {host} route add 10.0.0.{to + 1} via 10.0.0.{via + 1} dev eth1 onlink src 10.0.0.{i + 1}")
        sh(inside(HOSTS[1], "sysctl -qw net.ipv4.conf.eth1.forwarding=1 net.ipv4.conf.all.send_redirects=0 "
                            "net.ipv4.conf.eth1.send_redirects=0"))
        return self

    def __exit__(self, *_):
        for host in HOSTS:
            sh(f"ip -n {host} addr flush dev eth1; ip -n {host} route flush dev eth1; true")

    def cpu_s(self):
        return None


class Daemons:
    def __init__(self, wayhop, protocol):
        self.wayhop, self.protocol, self.processes = wayhop, protocol, []

    def __enter__(self):
        for i, host in enumerate(HOSTS):
            line = [self.wayhop, "node", "--interface", "eth1", "--address", f"10.0.0.{i + 1}/24", "--protocol", self.protocol]
            p = subprocess.Popen(["ip", "netns", "exec", host, *line], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            while "programs use" not in p.stderr.readline():
                if p.poll() is not None:
                    raise SystemExit(f"{self.protocol}: the node ended")
            self.processes.append(p)
        sh(inside(HOSTS[0], "ping -c 3 -i 0.2 10.0.0.3"))
        return self

    def __exit__(self, *_):
        for p in self.processes:
            p.terminate()
            p.wait()

    def cpu_s(self):
        """User and system time of the middle's daemon."""
        fields = open(f"/proc/{self.processes[1].pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stream(octets, seconds):
    """What iperf3 has to say of a stream."""
    server = subprocess.Popen(inside(HOSTS[2], "iperf3 -s -1").split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        line = inside(HOSTS[0], f"iperf3 -c 10.0.0.3 -u -b 0 -l {octets} -t {seconds} --json")
        return json.loads(subprocess.run(line.split(), capture_output=True, text=True, timeout=seconds + 30).stdout)
    except subprocess.TimeoutExpired:
        return {"end": {}, "error": "it does not end"}
    finally:
        # It may still wait for a last word of the client's that was lost.
        server.terminate()
        server.wait()


def measure(name, way, octets, seconds):
    # The stream leaves little room for what the two iperf3 tell each other beside it over TCP, and for Hellos and
    # acknowledgements of the protocols. Now and then iperf3 ends without sums, or waits for a last word for ever.
    for _ in range(ATTEMPTS):
        before = way.cpu_s()
        out = stream(octets, seconds)
        after = way.cpu_s()
        sums = out["end"].get("sum_received") or out["end"].get("sum")
        if sums and "error" not in out:
            arrived = sums["packets"] - sums["lost_packets"]
            return arrived / seconds, None if before is None else (after - before) * 1e6 / max(arrived, 1)
        print(f"{name}: once more, because iperf3 gave up: {out.get('error', 'it has no sums')}", file=sys.stderr)
    raise SystemExit(f"{name}: iperf3 gave up {ATTEMPTS} times; give it a quieter machine")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--wayhop", default="target/dist/wayhop")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--seconds", type=int, default=3)
    a.add_argument("--bytes", type=int, default=64)
    a = a.parse_args()
    ways = {"kernel": Kernel, "aodv": lambda: Daemons(a.wayhop, "aodv"), "dsr": lambda: Daemons(a.wayhop, "dsr")}
    rates, costs = {k: [] for k in ways}, {k: [] for k in ways}
    try:
        wire()
        for _ in range(a.rounds):
            for name, make in ways.items():
                with make() as way:
                    rate, cost = measure(name, way, a.bytes, a.seconds)
                rates[name].append(rate)
                if cost is not None:
                    costs[name].append(cost)
    finally:
        unwire()
    base = statistics.median(rates["kernel"])
    print(f"{a.bytes} octets of UDP payload, two hops, median of {a.rounds} rounds")
    print(f"{'':8}{'packets/s':>12}{'of kernel':>11}{'daemon, us a packet':>22}")
    for name in ways:
        rate = statistics.median(rates[name])
        cost = f"{statistics.median(costs[name]):.2f}" if costs[name] else "-"
        print(f"{name:8}{rate:12.0f}{rate / base:11.2f}{cost:>22}")


main()
