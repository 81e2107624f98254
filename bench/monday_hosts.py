"""The hosts of monday.py, in network namespaces: six in a mesh, and the network of an office behind the mesh's gateways.

    desk - office (home agent) - router - west, east (gateways, foreign agents)  ~  car-1, car-2, car-3, rover
                                   └───── ppp0, cellular ─────────────────────────────────────────────┘
"""

import os
import re
import subprocess
import sys
import time

from host_changes import run

GATEWAYS = ["west", "east"]
CARS = ["car-1", "car-2", "car-3"]
MESH = [*GATEWAYS, *CARS, "rover"]
OTHERS = ["air", "router", "office", "desk"]
ADDRESS = {name: f"10.9.0.{i + 1}" for i, name in enumerate(MESH)}
DESK, HOME = "10.1.0.2", "10.1.0.9"
# Each wire to the router: its interface at the host, and its network.
WIRES = {"office": ("up0", "10.3.0"), "west": ("up0", "10.4.0"), "east": ("up0", "10.5.0"), "rover": ("ppp0", "10.6.0")}
# How far radios reach, m; and how long to wait for a program to be ready, s.
RANGE, PATIENCE = 250, 60
KEY = "00112233445566778899aabbccddeeff"

# A receiver behind gpsd's port: where the node of this number is at each second since the start, by a file with a line "x y" a second.
GPS = r"""
import json, math, socket, sys, threading, time
track = [tuple(map(float, line.split())) for line in open(sys.argv[1])]
started = float(sys.argv[2])
def serve(client):
    client.sendall(b'{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}\n')
    client.recv(4096)
    while True:
        now = time.time()
        x, y = track[min(max(0, round(now - started)), len(track) - 1)]
        lat, lon = 40.44 + y / 111132, -79.9425 + x / (111320 * math.cos(math.radians(40.44)))
        at = time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now)) + f'.{int(now % 1 * 1000):03d}Z'
        client.sendall(json.dumps({'class': 'TPV', 'mode': 3, 'time': at, 'lat': lat, 'lon': lon, 'alt': 300.0}).encode() + b'\n')
        time.sleep(1)
server = socket.create_server(('127.0.0.1', 2947))
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"""

# One connection that has a line echoed each second; the client prints when each came back and how long that took.
ECHO = """
import socket
s = socket.create_server(('0.0.0.0', 7))
print('ready', flush=True)
c, _ = s.accept()
while d := c.recv(4096): c.sendall(d)
"""
TALK = f"""
import socket, time
s = socket.create_connection(('{HOME}', 7))
f = s.makefile('rw')
while True:
    asked = time.time()
    f.write('x' * 40 + chr(10)); f.flush()
    if not f.readline(): break
    print(asked, time.time() - asked, flush=True)
    time.sleep(max(0, 1 - (time.time() - asked)))
"""

HOME_AGENT = f"""interface = "lan0"
address = "10.1.0.1/24"
uplinks = ["up0"]
[[mobiles]]
address = "{HOME}"
spi = 256
key = "{KEY}"
"""
FOREIGN_AGENT = 'uplink = "up0"\ncare_of = "{care_of}"\n[[links]]\ninterface = "mesh0"\nmesh = true\n{radio}'
# Who routes in the kernel gets what is for the agents by the radio's interface; who floods needs no names of agents.
MOBILE_NODE = f"""home = "{HOME}/24"
home_agent = "10.1.0.1"
spi = 256
key = "{KEY}"
[[links]]
interface = "mesh0"
kind = "mesh"
{{mesh}}[[links]]
interface = "ppp0"
kind = "co-located"
"""


class Hosts:
    """The namespaces with their wires, and the programs in them."""

    def __init__(self, name, protocol, wayhop, folder):
        self.prefix, self.protocol, self.wayhop, self.folder = name, protocol, wayhop, folder
        self.programs = {}
        for host in [*MESH, *OTHERS]:
            run(f"ip netns add {self.prefix}{host}")
            self.ip(host, "link set lo up")
        for bridge in ("sky", "lan"):
            self.ip("air", f"link add {bridge} type bridge ageing_time 0 mcast_snooping 0")
            self.ip("air", f"link set {bridge} up")
        for host, interface, bridge in [*((h, "radio0", "sky") for h in MESH), ("office", "lan0", "lan"), ("desk", "eth0", "lan")]:
            self.ip("air", f"link add {host} type veth peer name {interface} netns {self.prefix}{host}")
            self.ip("air", f"link set {host} up master {bridge}")
        for i, host in enumerate(MESH):
            # As a lab's, which is what a macfilter names.
            self.ip(host, f"link set radio0 up address 02:00:0a:09:00:{i + 1:02x}")
        for host in WIRES:
            self.dial(host)
        self.ip("office", "link set lan0 up")
        self.ip("desk", "link set eth0 up")
        self.ip("office", "address add 10.1.0.1/24 dev lan0")
        self.ip("desk", f"address add {DESK}/24 dev eth0")
        self.ip("desk", "route add default via 10.1.0.1")
        self.ip("router", "route add 10.1.0.0/24 via 10.3.0.2")
        for host in ("router", "office"):
            self.run(host, "sysctl -qw net.ipv4.ip_forward=1")

    def ip(self, host, line):
        return run(f"ip -n {self.prefix}{host} {line}")

    def run(self, host, line, check=True):
        return run(f"ip netns exec {self.prefix}{host} {line}", check)

    def dial(self, host):
        """Makes a host's wire to the router, with its addresses and the host's default route."""
        interface, network = WIRES[host]
        self.ip(host, f"link add {interface} type veth peer name {host} netns {self.prefix}router")
        for at, name, own in ((host, interface, 2), ("router", host, 1)):
            self.ip(at, f"address add {network}.{own}/24 dev {name}")
            self.ip(at, f"link set {name} up")
        self.ip(host, f"route add default via {network}.1")

    def hang_up(self, host):
        self.ip(host, f"link del {WIRES[host][0]}")

    def on_air(self, host, is_on):
        self.ip("air", f"link set {host} {'master sky' if is_on else 'nomaster'}")

    def start(self, host, program, command, ready=None):
        """Starts a program at a host, and waits until it says what shows that it is ready."""
        log = self.log(host, program)
        environment = dict(os.environ)
        for variable in ("WAYHOP_RUNTIME_DIR", "WAYHOP_STATE_DIR"):
            environment[variable] = f"{self.folder}/{variable}-{host}"
        with open(log, "a", encoding="utf-8") as out:
            before = out.tell()
            process = subprocess.Popen(["ip", "netns", "exec", self.prefix + host, *command], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=out, env=environment, start_new_session=True)
        self.programs[host, program] = process
        if ready:
            self.until(f"{program} of {host} is ready", lambda: ready in self.said(host, program)[before:])

    def log(self, host, program):
        return f"{self.folder}/{host}.{program}.log"

    def said(self, host, program):
        with open(self.log(host, program), encoding="utf-8", errors="replace") as file:
            return file.read()

    def until(self, what, is_so):
        begun = time.time()
        while not is_so():
            if time.time() - begun > PATIENCE:
                raise RuntimeError(f"not within {PATIENCE} s: {what}; see {self.folder}")
            time.sleep(0.1)

    def start_node(self, host, out, macfilter):
        setting = "gateway.uplink=up0" if host in GATEWAYS else 'outside=["0.0.0.0/0"]'
        command = [self.wayhop, "node", f"{self.folder}/monday.toml", "--as", host, "--interface", "radio0", "--protocol", self.protocol]
        command += ["--macfilter", macfilter, "--out", out, "--set", setting, "--set", "gpsd=127.0.0.1:2947"]
        self.start(host, "node", command)

    def await_node(self, host, times=1):
        self.until(f"the node of {host} is ready", lambda: self.said(host, "node").count("programs use mesh0") >= times)

    def start_agent(self, host):
        """What a host has of Mobile IP."""
        kernel = self.protocol != "dsr"
        if host == "office":
            role, text = "home-agent", HOME_AGENT
        elif host == "rover":
            agents = ", ".join(f'"{ADDRESS[g]}"' for g in GATEWAYS)
            role, text = "node", MOBILE_NODE.format(mesh=f'radio = "radio0"\nagents = [{agents}]\n' if kernel else "")
        else:
            role = "foreign-agent"
            text = FOREIGN_AGENT.format(care_of=f"{WIRES[host][1]}.2", radio='radio = "radio0"\n' if kernel else "")
        file = f"{self.folder}/{host}.mobile-ip.toml"
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        self.start(host, "mobile-ip", [self.wayhop, "mobile-ip", role, file], ready="begins: ")

    def start_python(self, host, program, text, *arguments, ready=None):
        self.start(host, program, [sys.executable, "-c", text, *arguments], ready)

    def kill(self, host):
        """Ends what Wayhop runs at a host as a flat battery would. The moment."""
        processes = [self.programs.pop((host, p)) for p in ("node", "mobile-ip") if (host, p) in self.programs]
        # The node's helper.
        children = [f"/proc/{p.pid}/task/{p.pid}/children" for p in processes]
        pids = [int(pid) for file in children for pid in open(file, encoding="ascii").read().split()]
        self.on_air(host, False)
        moment = time.time()
        for pid in [*(p.pid for p in processes), *pids]:
            os.kill(pid, 9)
        for process in processes:
            process.wait()
        return moment

    def stop(self, program):
        """Ends a program at all hosts in good order. What ended otherwise."""
        of_all = [(host, self.programs.pop((host, p))) for host, p in list(self.programs) if p == program]
        for _, process in of_all:
            process.send_signal(2 if program == "ping" else 15)
        ends = [(host, process.wait()) for host, process in of_all]
        return [f"{program} of {host} ended with {s}" for host, s in ends if s and program in ("node", "mobile-ip")]

    def state(self):
        """What of each host Wayhop could have changed."""
        asked = ["ip -4 -br address", "ip -4 route show table all", "ip -4 rule", "ip neigh show proxy", "nft list ruleset",
                 "sysctl -a -r net.ipv4.(ip_forward|conf.*(forwarding|redirects|arp_ignore|source_route))"]
        # An interface that was made again has another number.
        return {host: [re.sub(r"@if\d+", "", self.run(host, line)) for line in asked] for host in [*MESH, "office", "desk"]}

    def end(self):
        for process in self.programs.values():
            process.kill()
            process.wait()
        for host in [*MESH, *OTHERS]:
            for pid in run(f"ip netns pids {self.prefix}{host}", check=False).split():
                os.kill(int(pid), 9)
            run(f"ip netns del {self.prefix}{host}", check=False)
