#!/usr/bin/env python3
"""Whether a node leaks: daemons under traffic, links that come and go, noise and clients, watched for an hour.

For each protocol three namespaces on a bridge run a daemon each. Pings, UDP to nodes that are there and to others that
are not, and random frames go on all the time; every few seconds the links change (a line, all in range, an end cut off,
an interface taken down and up); clients connect to the control sockets, ask, and break off. Every ten seconds the memory
(VmRSS), threads, open files, kernel routes and rows of the protocol's tables of each daemon are noted, one JSON object
a line in --out. At the end: the slope of the memory by least squares over the last half (before that tables fill), and the
most of all else in the third and the last quarter. A node that leaks has a slope; a table without bound has more rows late.

    soak.py [--minutes 60] [--protocols aodv dsr] [--wayhop PATH] [--out soak.jsonl]
    soak.py --report soak.jsonl

Needs root, and Debian's iproute2, iputils-ping, nftables and python3.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HOSTS = 3
PAGE = os.sysconf("SC_PAGE_SIZE")

# Runs in a namespace: datagrams to addresses of the mesh, few of them in use.
WANDER = """
import random, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    to = f"10.0.0.{random.randrange(1, 9)}" if random.random() < .8 else f"10.0.{random.randrange(256)}.{random.randrange(1, 255)}"
    try: s.sendto(bytes(random.randrange(1, 900)), (to, 4728))
    except OSError: pass
    time.sleep(random.expovariate(5))
"""

# Runs in a namespace: frames of the protocols with random content, from nodes that do not exist and from one that does.
NOISE = """
import random, socket, struct, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('eth1', 0))
def sum16(b):
    t = sum(struct.unpack('!%dH' % (len(b) // 2), b)); t = (t & 65535) + (t >> 16); return (t & 65535) + (t >> 16)
while True:
    body = random.randbytes(random.randrange(0, 120))
    if random.random() < .5:
        p, body = 48, bytes([59, random.choice([0, 0, 128])]) + struct.pack('!H', len(body)) + body
    else:
        p, body = 17, struct.pack('!HHHH', 654, 654, 9 + len(body), 0) + bytes([random.randrange(0, 5)]) + body
    src = bytes([10, 0, random.randrange(256), random.randrange(1, 255)])
    dst = random.choice([b'\\xff' * 4, bytes([10, 0, 0, random.randrange(1, 4)])])
    h = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(body), 0, 0, random.randrange(1, 255), p, 0) + src + dst
    h = h[:10] + struct.pack('!H', ~sum16(h) & 65535) + h[12:]
    try: s.send(b'\\xff' * 6 + b'\\x02' + random.randbytes(5) + b'\\x08\\x00' + h + body)
    except OSError: pass
    time.sleep(random.expovariate(20))
"""


def sh(line, **more):
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True, **more).stdout


class Mesh:
    """Three hosts with a daemon each."""

    def __init__(self, wayhop, protocol, folder):
        self.wayhop, self.protocol, self.folder = wayhop, protocol, folder
        self.name = f"wsk{os.getpid()}{protocol[0]}"
        self.hub, self.hosts = self.name + "h", [f"{self.name}n{i}" for i in range(HOSTS)]
        self.macs = [f"02:00:0a:00:00:0{i + 1}" for i in range(HOSTS)]
        self.daemons, self.others, self.random = [], [], random.Random(protocol)

    def wire(self):
        sh(f"ip netns add {self.hub}; ip -n {self.hub} link add br0 type bridge ageing_time 0 mcast_snooping 0;"
           f"ip -n {self.hub} link set br0 up")
        for i, host in enumerate(self.hosts):
            sh(f"ip netns add {host}; ip -n {host} link set lo up;"
               f"ip -n {host} link add eth1 address {self.macs[i]} type veth peer name p{i} netns {self.hub};"
               f"ip -n {host} link set eth1 up; ip -n {self.hub} link set p{i} master br0 up")
        self.links([(0, 2)])

    def links(self, cut):
        """All in range of each other, but for these pairs."""
        rules = "".join(f' oifname "p{b}" ether saddr {self.macs[a]} drop\n' for x, y in cut for a, b in ((x, y), (y, x)))
        table = f"table bridge b\ndelete table bridge b\ntable bridge b {{\n chain c {{\n type filter hook forward priority 0;\n{rules} }}\n}}\n"
        sh(f"ip netns exec {self.hub} nft -f -", input=table)

    def spawn(self, host, command, **more):
        return subprocess.Popen(["ip", "netns", "exec", self.hosts[host], *command],
                                stdout=subprocess.DEVNULL, start_new_session=True, **more)

    def start(self):
        for i in range(HOSTS):
            log = open(os.path.join(self.folder, f"{self.name}{i}.log"), "w", encoding="utf-8")
            environment = dict(os.environ, WAYHOP_RUNTIME_DIR=self.folder)
            command = [self.wayhop, "node", "--interface", "eth1", "--address", f"10.0.0.{i + 1}/16",
                       "--protocol", self.protocol, "--set", f"control={self.name}{i}"]
            self.daemons.append(self.spawn(i, command, stderr=log, env=environment))
        time.sleep(2)
        for i in range(HOSTS):
            self.others.append(self.spawn(i, ["python3", "-c", WANDER]))
            self.others.append(self.spawn(i, ["ping", "-i", "0.3", f"10.0.0.{(i + 1) % HOSTS + 1}"], stderr=subprocess.DEVNULL))
        self.others.append(self.spawn(0, ["python3", "-c", NOISE]))

    def churn(self):
        what = self.random.randrange(5)
        if what < 4:
            self.links([[(0, 2)], [], [(0, 1), (0, 2)], [(0, 2), (1, 2)]][what])
        else:
            host = self.hosts[self.random.randrange(HOSTS)]
            sh(f"ip -n {host} link set eth1 down; sleep 0.2; ip -n {host} link set eth1 up")

    def ask(self, i, request):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            s.connect(os.path.join(self.folder, f"{self.name}{i}.sock"))
            s.sendall(json.dumps({"wayhop": 1, "id": 1, **request}).encode() + b"\n")
            if self.random.random() < 0.3 and request["do"] != "tables":
                return None
            line = b""
            while not line.endswith(b"\n"):
                more = s.recv(1 << 20)
                if not more:
                    break
                line += more
        return json.loads(line).get("ok")

    def sample(self, begun):
        for i, d in enumerate(self.daemons):
            if d.poll() is not None:
                raise SystemExit(f"{self.protocol} node {i} ended with {d.returncode}: see {self.folder}")
            status = dict(line.split(":", 1) for line in open(f"/proc/{d.pid}/status", encoding="utf-8"))
            tables = self.ask(i, {"do": "tables"})["nodes"][0]["tables"]
            counters = self.ask_surely(i, {"do": "counters"})["nodes"][0]["counters"]
            routes = sh(f"ip -n {self.hosts[i]} -4 route show proto 119").count("\n")
            for _ in range(3):
                self.ask(i, {"do": "parameters"})
            yield {
                "s": round(time.monotonic() - begun, 1), "protocol": self.protocol, "node": i,
                "rss_kib": int(status["VmRSS"].split()[0]), "threads": int(status["Threads"]),
                "files": len(os.listdir(f"/proc/{d.pid}/fd")), "kernel_routes": routes,
                "rows": sum(map(len, tables.values())), "tables": {k: len(v) for k, v in tables.items()},
                "received_frames": counters["received_frames"], "delivered": counters["delivered"],
                "originated": counters["originated"],
            }

    def ask_surely(self, i, request):
        while (answer := self.ask(i, request)) is None:
            pass
        return answer

    def end(self):
        for p in self.others + self.daemons:
            if p.poll() is None:
                p.send_signal(signal.SIGTERM if p in self.daemons else signal.SIGKILL)
        for p in self.others + self.daemons:
            p.wait()
        for name in [self.hub, *self.hosts]:
            subprocess.run(f"ip netns del {name}", shell=True, capture_output=True, check=False)


def slope_per_hour(points):
    """Of the line of least squares through (seconds, value)."""
    n = len(points)
    mean_x, mean_y = (sum(p[k] for p in points) / n for k in (0, 1))
    square = sum((x - mean_x) ** 2 for x, _ in points)
    return 3600 * sum((x - mean_x) * (y - mean_y) for x, y in points) / square if square else 0.0


def report(samples):
    """One line a daemon."""
    end = max(s["s"] for s in samples)
    print(f"{end / 60:.0f} min\n{'':13}{'VmRSS, KiB':>28}{'':12}{'most of the third | of the last quarter':>44}")
    print(f"{'protocol node':14}{'at 1/2':>8}{'end':>8}{'KiB/h':>8}{'files':>12}{'threads':>10}{'kernel routes':>16}{'rows':>14}{'frames':>10}")
    for key in sorted({(s["protocol"], s["node"]) for s in samples}):
        own = [s for s in samples if (s["protocol"], s["node"]) == key]
        steady = [s for s in own if s["s"] >= end / 2]
        early, late = [s for s in steady if s["s"] < 3 * end / 4], [s for s in steady if s["s"] >= 3 * end / 4]
        both = lambda k: f"{max(s[k] for s in early)} | {max(s[k] for s in late)}"  # noqa: E731
        slope = slope_per_hour([(s["s"], s["rss_kib"]) for s in steady])
        print(f"{key[0]:9}{key[1]:<5}{steady[0]['rss_kib']:8}{own[-1]['rss_kib']:8}{slope:8.0f}{both('files'):>12}"
              f"{both('threads'):>10}{both('kernel_routes'):>16}{both('rows'):>14}{own[-1]['received_frames']:10}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--protocols", nargs="+", default=["aodv", "dsr"])
    parser.add_argument("--out", default="soak.jsonl")
    parser.add_argument("--report", metavar="FILE", help="report on what an earlier run wrote")
    a = parser.parse_args()
    if a.report:
        with open(a.report, encoding="utf-8") as lines:
            return report([json.loads(line) for line in lines])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="soak")
    meshes = [Mesh(a.wayhop, p, folder) for p in a.protocols]
    samples, begun = [], time.monotonic()
    try:
        for m in meshes:
            m.wire()
            m.start()
        next_sample = next_churn = 0.0
        with open(a.out, "w", encoding="utf-8") as out:
            while (now := time.monotonic() - begun) < 60 * a.minutes:
                if now >= next_churn:
                    next_churn = now + 4
                    for m in meshes:
                        m.churn()
                if now >= next_sample:
                    next_sample = now + 10
                    for s in (s for m in meshes for s in m.sample(begun)):
                        samples.append(s)
                        out.write(json.dumps(s) + "\n")
                    out.flush()
                time.sleep(0.2)
    finally:
        for m in meshes:
            m.end()
        if len(samples) > 20 * len(meshes):
            report(samples)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
