#!/usr/bin/env python3
"""A field run with everything going wrong: six hosts with keys, each protocol in turn, and what was lost by what.

The hosts are network namespaces (monday_hosts.py): two gateways with foreign agents, three cars, and a roving node with a cellular link.
Who hears whom follows the cars' drive (a macfilter); each host has a GPS receiver. Throughout there are pings car to car, car to LAN and
office to rover, datagrams of iperf3 car to car, and one TCP connection to the rover. At random moments of each round two cars are killed
(kill -9, and off the air, as by a flat battery) and started again some seconds later; the gateway in use is killed or cut off the air;
the rover loses the mesh for a while, and its cellular link is redialled then and another time. Afterwards all runs are merged, those of
killed nodes too. Drives and moments of a round are the same for all protocols.

    monday.py [--rounds 3] [--seconds 180] [--protocols dsr,aodv,dsdv] [--jobs 3] [--seed 1] [--wayhop PATH] [--keep DIR] [--out FILE]

Prints progress, and at the end Markdown tables: what was lost and by what (monday_losses.py), how much the records of killed nodes lack,
and what the merged runs say of the pings. All numbers go to results/monday.json. Exits with 1 if a record lacks more than 5 s, runs
cannot be merged, the TCP connection died, a host is not as before, or one of Wayhop's programs failed. Needs root, and Debian's
iproute2, iputils-ping, iperf3, nftables, procps and python3.
"""

import argparse
import collections
import csv
import functools
import itertools
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from host_changes import run
from monday_hosts import ADDRESS, CARS, DESK, GATEWAYS, HOME, MESH, RANGE, TALK, ECHO, GPS, Hosts
from monday_losses import Fault, Flow, Sky, cause, datagrams, pings, tables

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results", "monday.json")
NUMBER = {name: i for i, name in enumerate(MESH)}
EXITS = {NUMBER[g] for g in GATEWAYS}
# Where it is sent from, and to; the ping's identifier.
PINGS = {
    Flow("car-1 to car-3, ping", NUMBER["car-1"], frozenset({NUMBER["car-3"]}), False): ("car-1", ADDRESS["car-3"], 101),
    Flow("car-2 to LAN, ping", NUMBER["car-2"], frozenset(EXITS), False): ("car-2", DESK, 102),
    Flow("office to rover, ping", NUMBER["rover"], frozenset(EXITS), True): ("desk", HOME, 103),
}
DATAGRAMS = Flow("car-3 to car-1, UDP", NUMBER["car-3"], frozenset({NUMBER["car-1"]}), False)
# Ping interval, and how much of a killed node's record may be missing, s.
EVERY, MISSING = 0.2, 5
# Where each node drives: from and to, metres east.
ROAD = {"west": (0, 0), "east": (600, 600), "car-1": (100, 220), "car-2": (220, 380), "car-3": (380, 500), "rover": (50, 550)}


def drives(dice, seconds):
    """For each node its places: (since when, x, y, the speed at which it goes there)."""
    tracks = []
    for low, high in ROAD.values():
        x, y, t = (low + high) / 2, 0.0, 0.0
        track = [(t, x, y, 0)]
        while low < high and t < seconds:
            to, side, speed = dice.uniform(low, high), dice.uniform(-30, 30), dice.uniform(4, 12)
            t += ((to - x) ** 2 + (side - y) ** 2) ** 0.5 / speed
            x, y = to, side
            track.append((t, x, y, speed))
        tracks.append(track)
    return tracks


def scenario(tracks, seconds):
    lines = []
    for track in tracks:
        ways = [f"{{ at = {{ x = {x:.2f}, y = {y:.2f} }}, speed_mps = {speed:.3f} }}" for _, x, y, speed in track[1:]]
        lines.append(f"{{ start = {{ x = {track[0][1]}, y = {track[0][2]} }}, waypoints = [{', '.join(ways)}] }},")
    nodes = [f'{{ id = {i}, name = "{name}", address = "{ADDRESS[name]}" }},' for name, i in NUMBER.items()]
    key = "000102030405060708090a0b0c0d0e0f"
    return "\n".join([f'name = "monday"\nduration_s = {seconds}\norigin = {{ lat = 40.44, lon = -79.9425 }}',
                      f'security = {{ keys = [{{ id = 1, key = "{key}" }}] }}', "[nodes]\nnode = [", *nodes, "]",
                      '[movement]\nkind = "waypoints"\ntracks = [', *lines, "]\n"])


def seconds_of(track, seconds):
    """Where a node is at each second, for its receiver."""
    lines = []
    for t in range(seconds):
        past = [p for p in track if p[0] <= t]
        (began, x, y, _), ahead = past[-1], track[len(past):]
        if ahead:
            share = (t - began) / (ahead[0][0] - began)
            x, y = x + share * (ahead[0][1] - x), y + share * (ahead[0][2] - y)
        lines.append(f"{x:.2f} {y:.2f}\n")
    return "".join(lines)


def plan(dice, seconds, number):
    """(kind, begin, length, how) of each fault; seconds since the traffic began."""
    kinds = ["battery", "battery", "gateway", "hand-over", "redial"]
    dice.shuffle(kinds)
    cars = iter(dice.sample(CARS, 2))
    slot = (seconds - 30) / len(kinds)
    scale = min(1, slot / 30)
    faults = []
    for i, kind in enumerate(kinds):
        begin = 10 + slot * i + dice.uniform(0, 0.6) * slot
        longest = {"battery": 15, "gateway": 15, "hand-over": 22, "redial": 4}[kind]
        how = {"battery": lambda: next(cars), "gateway": lambda: ["killed", "cut off"][number % 2]}.get(kind, lambda: "rover")()
        faults.append((kind, begin, dice.uniform(0.5, 1) * longest * scale, how))
        if kind == "hand-over":
            faults.append(("redial", begin + dice.uniform(5, 7) * scale, 3 * scale, how))
    return faults


class Round:
    """One round with one protocol."""

    def __init__(self, protocol, number, arguments):
        self.protocol, self.number, self.seconds = protocol, number, arguments.seconds
        self.wayhop = os.path.abspath(arguments.wayhop)
        dice = random.Random(1000 * arguments.seed + number)
        if arguments.keep:
            self.folder = os.path.join(os.path.abspath(arguments.keep), f"{protocol}-{number}")
            os.makedirs(self.folder)
        else:
            self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        length = self.seconds + 180
        self.tracks, self.plan = drives(dice, length), plan(dice, self.seconds, number)
        file = f"{self.folder}/monday.toml"
        with open(file, "w", encoding="utf-8", opener=functools.partial(os.open, mode=0o600)) as out:
            out.write(scenario(self.tracks, length))
        self.macfilter = run(f"{self.wayhop} export macfilter {file} --range {RANGE}")
        self.sky = Sky(self.macfilter, len(MESH))
        self.faults, self.killed, self.runs, self.down = [], [], [], {}
        self.hosts = Hosts(f"mo{os.getpid()}{protocol}{number}", protocol, self.wayhop, self.folder)
        self.before = self.hosts.state()
        self.started = time.time()

    def now(self):
        return time.time() - self.started

    def filter_from(self, second, name):
        """The macfilter as of a second of the drive, for a node that starts then, in a file of this name."""
        lines = []
        for line in self.macfilter.splitlines():
            if line.startswith("at "):
                _, at, rest = line.split(maxsplit=2)
                line = f"at {max(0, float(at) - second):.9f} {rest}"
            lines.append(line + "\n")
        with open(name, "w", encoding="utf-8") as out:
            out.writelines(lines)
        return name

    def start_node(self, host):
        """Starts a node, into a run directory of its own."""
        out = f"{self.folder}/run-{host}-{sum(r[0] == host for r in self.runs) + 1}"
        self.runs.append((host, out, time.time()))
        self.hosts.start_node(host, out, self.filter_from(self.now(), f"{out}.macfilter"))

    def start(self):
        for host, track in zip(MESH, self.tracks):
            with open(f"{self.folder}/{host}.track", "w", encoding="utf-8") as out:
                out.write(seconds_of(track, self.seconds + 180))
        self.started = time.time()
        for host in MESH:
            self.hosts.start_python(host, "gps", GPS, f"{self.folder}/{host}.track", str(self.started))
            self.start_node(host)
        for host in MESH:
            self.hosts.await_node(host)
        for host in ["office", *GATEWAYS, "rover"]:
            self.hosts.start_agent(host)
        for host, target, _ in PINGS.values():
            self.hosts.until(f"{target} answers {host}", functools.partial(self.answers, host, target))

    def answers(self, host, target):
        return "1 received" in self.hosts.run(host, f"ping -c 1 -W 1 {target}", check=False)

    def start_traffic(self):
        self.hosts.start_python("rover", "echo", ECHO, ready="ready")
        self.hosts.start_python("desk", "talk", TALK)
        for host, target, number in PINGS.values():
            count = int(self.seconds / EVERY)
            self.hosts.start(host, "ping", ["ping", "-D", "-n", "-i", str(EVERY), "-e", str(number), "-c", str(count), "-W", "5", target])
        serve = "iperf3 -s -i 1 --forceflush --timestamps=%s\\  --rcv-timeout 3000 --idle-timeout 15"
        ask = f"while :; do timeout 20 iperf3 -u -c {ADDRESS['car-1']} -b 200k -l 1000 -t 10 --connect-timeout 2000; sleep 1; done"
        self.hosts.start("car-1", "iperf3", ["sh", "-c", f"exec {serve}"])
        self.hosts.start("car-3", "iperf3", ["sh", "-c", ask])

    def go_wrong(self):
        """All that is planned, each at its time."""
        zero = self.now()
        todo = [(begin, i, True) for i, (_, begin, *_) in enumerate(self.plan)]
        todo += [(begin + length, i, False) for i, (_, begin, length, _) in enumerate(self.plan)]
        for at, i, begins in sorted(todo):
            time.sleep(max(0, zero + at - self.now()))
            kind, _, _, how = self.plan[i]
            if begins:
                host = self.gateway_in_use() if kind == "gateway" else how
                self.down[i] = (self.now(), host)
                self.break_down(kind, how, host)
            else:
                begin, host = self.down[i]
                self.mend(kind, how, host)
                self.faults.append(Fault(begin, self.now(), kind, host))
                self.say(f"{kind} of {host}{f' ({how})' if kind == 'gateway' else ''} from {begin:.1f} to {self.now():.1f} s")
        time.sleep(max(0, zero + self.seconds - self.now()))

    def break_down(self, kind, how, host):
        if kind == "battery" or how == "killed":
            at = self.hosts.kill(host)
            self.killed.append({"host": host, "of": [r for r in self.runs if r[0] == host][-1], "at": at})
        elif kind == "redial":
            self.hosts.hang_up(host)
        else:
            self.hosts.on_air(host, False)

    def mend(self, kind, how, host):
        if kind == "redial":
            self.hosts.dial(host)
            return
        self.hosts.on_air(host, True)
        if kind == "battery" or how == "killed":
            self.start_node(host)
            self.hosts.await_node(host, sum(r[0] == host for r in self.runs))
            if host in GATEWAYS:
                self.hosts.start_agent(host)

    def gateway_in_use(self):
        """The gateway whose uplink carries more packets just now."""
        def packets():
            return [json.loads(self.hosts.ip(g, "-s -j link show up0"))[0]["stats64"]["tx"]["packets"] for g in GATEWAYS]
        before = packets()
        time.sleep(1)
        return max(zip([b - a for a, b in zip(before, packets())], GATEWAYS))[1]

    def finish(self):
        """Ends all programs. What this round found."""
        ended = self.now()
        self.hosts.until("the TCP connection is used again", lambda: self.dead() or self.echoes()[-1:] > [ended])
        died = self.dead()
        for host, _, _ in PINGS.values():
            self.hosts.programs.pop((host, "ping")).wait()
        wrong = [w for program in ("iperf3", "talk", "echo", "gps", "mobile-ip", "node") for w in self.hosts.stop(program)]
        after = self.hosts.state()
        changed = [f"{host}: {a!r} is {b!r}" for host in after for a, b in zip(self.before[host], after[host]) if a != b]
        merged = subprocess.run([self.wayhop, "merge", *(out for _, out, _ in self.runs), "--out", f"{self.folder}/merged", "--json"],
                                capture_output=True, text=True, check=False)
        echoes = self.echoes()
        silence = max((b - a for a, b in zip(echoes, echoes[1:])), default=self.seconds)
        result = {
            "protocol": self.protocol, "round": self.number, "faults": [f._asdict() for f in self.faults],
            "killed": [self.missing(**k) for k in self.killed],
            "merge": None if merged.returncode == 0 else merged.stderr.strip(),
            "tcp": {"died": died, "echoes": len(echoes), "longest_silence_s": round(silence, 2)}, "changed": changed, "wrong": wrong,
        }
        if merged.returncode == 0:
            report = json.loads(merged.stdout)
            clocks = [node["clock"] for node in report["nodes"]]
            result["clocks"] = {"strange_receptions": report["strange_receptions"], "error_us": max(c["error_us"] or 0 for c in clocks),
                                "bound_us": [c["bound_us"] for c in clocks]}
        result["flows"] = self.losses(result["killed"], merged.returncode == 0)
        return result

    def echoes(self):
        """When each line came back over the TCP connection."""
        lines = [line.split() for line in self.hosts.said("desk", "talk").splitlines()]
        return [float(asked) + float(took) - self.started for asked, took in lines]

    def dead(self):
        return self.hosts.programs["desk", "talk"].poll() is not None

    def table(self, directory, name):
        return list(csv.DictReader(run(f"{self.wayhop} export csv {directory} {name}").splitlines()))

    def missing(self, host, of, at):
        """How much the record of a killed node lacks at its end, at most: its times count from just after the program's start."""
        _, directory, started = of
        last = max(int(row["time_ns"]) for row in self.table(directory, "packets")) / 1e9
        return {"host": host, "at": round(at - self.started, 2), "missing_s": round(at - started - last, 2)}

    def losses(self, killed, merged):
        """What each flow lost, and by what."""
        period = 15 if self.protocol == "dsdv" else 0
        why = functools.partial(cause, faults=self.faults, sky=self.sky, period=period)
        found = {}
        for flow, (host, _, number) in PINGS.items():
            rows = [(seq, at - self.started, answered) for seq, at, answered in pings(self.hosts.said(host, "ping"), EVERY)]
            found[flow.name] = summed(len(rows), [(t, why(t, flow)) for _, t, answered in rows if not answered])
            # Where kernels forward, packets are in no record; those of the rover are in tunnels.
            if merged and self.protocol == "dsr" and host in CARS:
                found[flow.name]["record"] = self.compared(host, number, rows, killed)
        received, lost = datagrams(self.hosts.said("car-1", "iperf3"))
        found[DATAGRAMS.name] = summed(received + len(lost), [(t - self.started, why(t - self.started, DATAGRAMS)) for t in lost])
        return found

    def compared(self, host, number, rows, killed):
        """What the merged run says of the pings of a host with this identifier."""
        directory = f"{self.folder}/merged"
        seen = [r for r in self.table(directory, "identities") if r["source_port"] == str(number)]
        answered = {int(r["echo_reply"]) for r in seen if r["event"] == "deliver" and r["echo_reply"] and r["node_name"] == host}
        numbers = {r["packet"]: int(r["echo_request"] or r["echo_reply"]) for r in seen}
        reasons = {}
        for line in run(f"{self.wayhop} why {directory} --json").splitlines():
            row = json.loads(line)
            if str(row["packet"]) in numbers:
                reasons[numbers[str(row["packet"])]] = row["reason"] or row["outcome"]
        # The end of a killed node's record, and the time until it is there again.
        kills = [k for k in killed if k["host"] == host]
        gaps = [(k["at"] - k["missing_s"] - 1, next(f.end for f in self.faults if f.host == host and f.end > k["at"])) for k in kills]
        missing = [t for seq, t, is_answered in rows if is_answered and seq not in answered]
        in_gaps = sum(any(begin <= t <= end for begin, end in gaps) for t in missing)
        return {"answered": len(answered), "in_gaps": in_gaps, "missing": len(missing) - in_gaps,
                "beyond": len(answered - {seq for seq, _, is_answered in rows if is_answered}),
                "reasons": collections.Counter(reasons.get(seq, "not recorded") for seq, _, is_answered in rows if not is_answered)}

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')} {self.protocol} {self.number}: {text}", flush=True)


def summed(sent, lost):
    """A flow's figures: lost are (when, by what)."""
    return {"sent": sent, "lost": len(lost), "causes": collections.Counter(c for _, c in lost),
            "unexplained_at": [round(t, 1) for t, c in lost if c == "none of these"]}


def one_round(job):
    protocol, number, arguments = job
    this = None
    try:
        this = Round(protocol, number, arguments)
        this.start()
        this.say("traffic begins")
        this.start_traffic()
        this.go_wrong()
        return this.finish()
    except Exception:
        return {"protocol": protocol, "round": number, "failed": traceback.format_exc()}
    finally:
        if this:
            this.hosts.end()
            if not arguments.keep:
                shutil.rmtree(this.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--protocols", default="dsr,aodv,dsdv")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wayhop", default="target/dist/wayhop")
    parser.add_argument("--keep", metavar="DIR", help="keep run directories, configurations and logs there")
    parser.add_argument("--out", default=RESULTS)
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("monday.py: makes network namespaces; run it as root")
    protocols = arguments.protocols.split(",")
    jobs = [(p, n, arguments) for n, p in itertools.product(range(1, arguments.rounds + 1), protocols)]
    with multiprocessing.Pool(arguments.jobs) as pool:
        results = list(pool.imap_unordered(one_round, jobs))
    results.sort(key=lambda r: (protocols.index(r["protocol"]), r["round"]))
    with open(arguments.out, "w", encoding="utf-8") as out:
        json.dump({"seconds": arguments.seconds, "seed": arguments.seed, "rounds": results}, out, indent=1)
        out.write("\n")
    print(tables(results))
    failed = [r for r in results if "failed" in r]
    good = [r for r in results if "failed" not in r]
    for r in failed:
        print(f"{r['protocol']} {r['round']}: {r['failed']}", file=sys.stderr)
    bad = [f"{r['protocol']} {r['round']}: {text}" for r in good for text in complaints(r)]
    print(*bad, sep="\n", file=sys.stderr)
    sys.exit(bool(failed or bad))


def complaints(result):
    """What of a round must not be."""
    late = [f"the record of {k['host']} lacks {k['missing_s']} s" for k in result["killed"] if k["missing_s"] > MISSING]
    merge = [f"merge: {result['merge']}"] if result["merge"] else []
    died = ["the TCP connection died"] if result["tcp"]["died"] else []
    return late + merge + died + result["changed"] + result["wrong"]


if __name__ == "__main__":
    main()
