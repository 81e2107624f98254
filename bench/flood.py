#!/usr/bin/env python3
"""What a flood of hostile frames costs a mesh, with and without limits per neighbour.

Three hosts in a line run a daemon each; host 0 pings host 2 over host 1, 20 times a second. A fourth host, in range of hosts 0
and 1, sends frames at a given rate: malformed and forged routing messages from hundreds of addresses (`mixed`, by
crates/tools/cli/tests/data/attack.py), some of them the addresses of the three hosts, or well-formed Route Requests of one other
address (`requests`) or of 2,000 (`crowd`), each for another destination, or ARP requests of 2,000 (`arp`).
For each protocol and flood the run is repeated with the limits of a node by default and without any, in turn. Printed, and
written to results/flood.json: the share of pings that were answered in `seconds`, without the flood and with it.

    flood.py [--rate 20000] [--seconds 20] [--repeat 3] [--wayhop PATH]

Needs root, and Debian's iproute2, iputils-ping, nftables and python3.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ATTACK = os.path.join(HERE, "../crates/tools/cli/tests/data/attack.py")
CAPTURES = [os.path.join(HERE, "../captures", name) for name in ("rfc4728", "rfc3561")]
NO_LIMITS = ["limits.routing_per_neighbour=0", "limits.routing_total=0", "limits.arp_per_neighbour=0"]
FLOODS = {"aodv": ["requests", "crowd", "arp", "mixed"], "dsr": ["requests", "crowd", "arp", "mixed"], "dsdv": ["mixed"]}

# Runs at the attacker: Route Requests (RFC 3561, section 5.1, or RFC 4728, section 6.2), RATE a second, each for another
# destination, of COUNT neighbours in turn.
REQUESTS = """
import socket, struct, sys, time
protocol, rate, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(("eth1", 0))
def sum16(b):
    t = sum(struct.unpack("!%dH" % (len(b) // 2), b)); t = (t & 65535) + (t >> 16); return (t & 65535) + (t >> 16)
begun, sent = time.monotonic(), 0
while True:
    due = int((time.monotonic() - begun) * rate)
    for n in range(sent, due):
        who = struct.pack("!H", 0x4d00 + n % count)
        me, target = b"\\x0a\\x00" + who, bytes([10, 0, n >> 8 & 63, n & 255])
        if protocol == "arp":
            arp = struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + b"\\x02\\x00\\x0a\\x00" + who + me
            arp += bytes(6) + bytes([10, 0, 0, 1 + n % 2])
            try: s.send(b"\\xff" * 6 + b"\\x02\\x00\\x0a\\x00" + who + b"\\x08\\x06" + arp)
            except OSError: pass
            continue
        if protocol == "aodv":
            rreq = struct.pack("!BBBBI4sI4sI", 1, 0, 0, 0, n, target, 0, me, n)
            number, body = 17, struct.pack("!HHHH", 654, 654, 8 + len(rreq), 0) + rreq
        else:
            number, body = 48, struct.pack("!BBHBBH4s", 59, 0, 8, 1, 6, n & 65535, target)
        h = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 30, number, 0) + me + b"\\xff" * 4
        h = h[:10] + struct.pack("!H", ~sum16(h) & 65535) + h[12:]
        try: s.send(b"\\xff" * 6 + b"\\x02\\x00\\x0a\\x00" + who + b"\\x08\\x00" + h + body)
        except OSError: pass
    sent = max(sent, due)
    time.sleep(0.001)
"""


def sh(line, **more):
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True, **more).stdout


class Mesh:
    """Hosts 0 to 2 in a line, and the attacker, host 3, whom hosts 0 and 1 hear."""

    def __init__(self, wayhop, folder):
        self.wayhop, self.folder = wayhop, folder
        self.name = f"wfl{os.getpid()}"
        self.hub, self.hosts = self.name + "h", [f"{self.name}n{i}" for i in range(4)]
        sh(f"ip netns add {self.hub}; ip -n {self.hub} link add br0 type bridge ageing_time 0 mcast_snooping 0;"
           f"ip -n {self.hub} link set br0 up")
        for i, host in enumerate(self.hosts):
            sh(f"ip netns add {host}; ip -n {host} link set lo up;"
               f"ip -n {host} link add eth1 address 02:00:0a:00:00:0{i + 1} type veth peer name p{i} netns {self.hub};"
               f"ip -n {host} link set eth1 up; ip -n {self.hub} link set p{i} master br0 up")
        cut = "".join(f' iifname "p{a}" oifname "p{b}" drop\n' for a, b in [(0, 2), (2, 0), (3, 2), (2, 3)])
        sh(f"ip netns exec {self.hub} nft -f -", input=f"table bridge b {{\n chain c {{\n"
           f"type filter hook forward priority 0;\n{cut} }}\n}}\n")

    def spawn(self, host, command, **more):
        return subprocess.Popen(["ip", "netns", "exec", self.hosts[host], *command], start_new_session=True, **more)

    def answered(self, protocol, settings, flood, rate, seconds):
        """The share of pings that were answered, before a flood and under it."""
        sets = [word for s in settings for word in ("--set", s)]
        daemons = []
        for i in range(3):
            with open(os.path.join(self.folder, f"{i}.log"), "w", encoding="utf-8") as log:
                command = [self.wayhop, "node", "--interface", "eth1", "--address", f"10.0.0.{i + 1}/16",
                           "--protocol", protocol, *sets]
                environment = dict(os.environ, WAYHOP_RUNTIME_DIR=self.folder)
                daemons.append(self.spawn(i, command, stdout=subprocess.DEVNULL, stderr=log, env=environment))
        try:
            self.wait()
            before = self.ping(seconds / 4)
            command = (["python3", ATTACK, "eth1", str(10**9), "4728", *CAPTURES, f"--rate={rate}"] if flood == "mixed"
                       else ["python3", "-c", REQUESTS, "arp" if flood == "arp" else protocol, str(rate),
                             "1" if flood == "requests" else "2000"])
            attack = self.spawn(3, command, stderr=subprocess.DEVNULL)
            time.sleep(1)
            under = self.ping(seconds)
            if attack.poll() is not None:
                raise SystemExit("the flood ended early")
            attack.kill()
            attack.wait()
            return before, under
        finally:
            for d in daemons:
                d.terminate()
            for d in daemons:
                d.wait()

    def wait(self):
        """Until host 0 reaches host 2."""
        command = ["ip", "netns", "exec", self.hosts[0], "ping", "-q", "-c", "1", "-w", "5", "10.0.0.3"]
        for _ in range(60):
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.5)
        raise SystemExit("host 0 never reached host 2")

    def ping(self, seconds):
        count = int(seconds * 20)
        done = subprocess.run(["ip", "netns", "exec", self.hosts[0], "ping", "-q", "-i", "0.05", "-c", str(count), "-W", "1",
                               "10.0.0.3"], capture_output=True, text=True, check=False)
        return int(re.search(r"(\d+) received", done.stdout)[1]) / count

    def end(self):
        for host in [*self.hosts, self.hub]:
            subprocess.run(["ip", "netns", "del", host], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=20_000, help="frames a second")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--wayhop", default=os.environ.get("WAYHOP", os.path.join(HERE, "../target/dist/wayhop")))
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        mesh = Mesh(os.path.abspath(args.wayhop), folder)
        try:
            for protocol, floods in FLOODS.items():
                for flood in floods:
                    shares = {"standard": [], "none": []}
                    for _ in range(args.repeat):
                        for limits, settings in (("standard", []), ("none", NO_LIMITS)):
                            shares[limits].append(mesh.answered(protocol, settings, flood, args.rate, args.seconds))
                    for limits, pairs in shares.items():
                        before, under = (statistics.median(column) for column in zip(*pairs))
                        rows.append({"protocol": protocol, "flood": flood, "limits": limits, "answered_before": before,
                                     "answered_under": under, "runs": [under for _, under in pairs]})
                        print(f"{protocol:5} {flood:9} limits {limits:9} answered before {before:6.1%}, "
                              f"under the flood {under:6.1%}  {[round(u, 2) for _, u in pairs]}", flush=True)
        finally:
            mesh.end()
    with open(os.path.join(HERE, "results/flood.json"), "w", encoding="utf-8") as f:
        json.dump({"rate": args.rate, "seconds": args.seconds, "rows": rows}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
