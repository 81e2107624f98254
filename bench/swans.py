#!/usr/bin/env python3
"""SWANS' beaconing experiment: time and memory by the number of nodes, in Wayhop, ns-2 and ns-3.

    swans.py [--nodes 500 5000 50000] [--duration 60] [--rounds 1]
    swans.py --nodes 500 5000 --duration 900 --out FILE        as long as in SWANS' publications

Every node broadcasts a beacon every 2 to 5 s and lists the neighbours that it hears; it moves by random waypoint at 2 to
10 m/s with pauses of 30 s. The density is constant: a transmission can be received by 4 to 5 nodes, and about 35 sense
it. That is so at the start, where nodes are uniformly distributed: random waypoint concentrates them in the middle of
the area, the sooner the smaller it is. So a comparison of sizes runs for a minute. The experiment is that of R. Barr,
Z. Haas and R. van Renesse, "JiST: an efficient approach to simulation using virtual machines" (Software: Practice and
Experience, 2005), and of the SWANS user guide (http://jist.ece.cornell.edu/swans-user/node15.html). Density, transmit
power, frequency, propagation and the sensing threshold are those of the sources of SWANS (driver/ndp.java,
swans/Constants.java).

ns-2 and ns-3 follow the movement that Wayhop exports, in turn with Wayhop. ns-3 takes so long that it gets the first
seconds only, and Wayhop the same. None of them writes records, unless --tables says so for Wayhop. Times are processor
times of whole processes.
"""

import argparse
import bisect
import csv
import json
import math
import os
import subprocess
import tempfile

import cases
import ns2_run
import ns3_run
import scaling
import wayhop_run

# The radio of SWANS (Constants.java: TRANSMIT, FREQUENCY, SENSITIVITY), and the density of the examples of ndp.java: 10,000
# nodes on a square of 57,735 m.
POWER_DBM = 15.0
FREQUENCY_MHZ = 2400.0
SENSE_DBM = -91.0
SQUARE_METRES_PER_NODE = 57_735.0**2 / 10_000
# At SWANS' default of -81 dBm a transmission would reach 3.7 nodes, not the 4 to 5 of the text: with this one it is 4.7.
RECEIVE_DBM = -82.0
# Bytes above UDP. SWANS counts none; the beacon of Wayhop has at least these.
PAYLOAD = 8
# What ns-2 counts in addition to a CBR packet's size: IP. It knows no UDP header.
UDP_HEADER = 8
INTERVAL_S = (2.0, 5.0)
# SWANS forgets a neighbour after five own beacons without one of the neighbour's.
LIFETIME_S = 5 * sum(INTERVAL_S) / 2

SCENARIO = """duration_s = {duration}
nodes.count = {nodes}
area = {{ x_m = {side}, y_m = {side} }}
movement = {{ kind = "random-waypoint", speed_min_mps = 2, speed_max_mps = 10, pause_s = 30 }}
protocol = {{ name = "none" }}

[radio]
preset = "wavelan-914-ns2"
path_loss = "free-space"
frequency_mhz = {frequency}
tx_power_dbm = {power}
receive_threshold_dbm = {receive}
carrier_sense_threshold_dbm = {sense}

[[applications]]
name = "beacon"
interval_min_s = {low}
interval_max_s = {high}
lifetime_s = {lifetime}
payload_bytes = {payload}
"""

# ns-2's CBR draws intervals from half to one and a half times the mean: 1.75 to 5.25 s. LossMonitor, at port 0, counts what it
# receives; it keeps no list of neighbours.
BEACONS = """for {{set i 0}} {{$i < {nodes}}} {{incr i}} {{
    set sink_($i) [new Agent/LossMonitor]
    $ns_ attach-agent $node_($i) $sink_($i)
    set udp_($i) [new Agent/UDP]
    $ns_ attach-agent $node_($i) $udp_($i)
    $udp_($i) set dst_addr_ -1
    $udp_($i) set dst_port_ 0
    set cbr_($i) [new Application/Traffic/CBR]
    $cbr_($i) set packetSize_ {size}
    $cbr_($i) set interval_ {interval}
    $cbr_($i) set random_ 1
    $cbr_($i) attach-agent $udp_($i)
    $ns_ at [expr {{{low} + ({high} - {low}) * [ns-random] / 2147483647.0}}] "$cbr_($i) start"
}}
"""


def range_m(threshold_dbm):
    """Up to which distance a signal is as strong as this, in free space (Friis)."""
    wavelength = 299_792_458.0 / (FREQUENCY_MHZ * 1e6)
    return wavelength / (4 * math.pi) * 10 ** ((POWER_DBM - threshold_dbm) / 20)


def watts(dbm):
    return 10 ** (dbm / 10 - 3)


def side_m(nodes):
    return math.sqrt(nodes * SQUARE_METRES_PER_NODE)


def write_scenario(folder, nodes, duration):
    path = os.path.join(folder, f"swans{nodes}.toml")
    values = {
        "nodes": nodes,
        "duration": duration,
        "side": round(side_m(nodes), 1),
        "frequency": FREQUENCY_MHZ,
        "power": POWER_DBM,
        "receive": RECEIVE_DBM,
        "sense": SENSE_DBM,
        "low": INTERVAL_S[0],
        "high": INTERVAL_S[1],
        "lifetime": LIFETIME_S,
        "payload": PAYLOAD,
    }
    with open(path, "w", encoding="ascii") as out:
        out.write(SCENARIO.format(**values))
    return path


def wayhop(scenario, seed, duration, tables):
    """A run's time, memory, and how many nodes received a beacon, on average."""
    run = wayhop_run.run_words([scenario, "--seed", seed, "--duration", f"{duration:g}"], tables=tables)
    sent, heard = (sum(a["figures"][name] for a in run["applications"]) for name in ("beacons_sent", "beacons_received"))
    return measured({**run, "wall_s": run["process_s"]}, sent, heard) | {"events": run["events"]}


def measured(run, sent, heard):
    row = {"cpu_s": run["cpu_s"], "wall_s": run["wall_s"], "peak_mb": round(run["peak_kb"] / 1024, 1)}
    return row | {"beacons": round(sent), "received_mean": round(heard / sent, 3) if sent else None}


def exported(scenario, folder, seed, duration):
    """The scenario's movement as a file of ns-2."""
    command = [wayhop_run.binary(), "export", "ns2", scenario, "--seed", str(seed), "--duration", f"{duration:g}"]
    subprocess.run([*command, "--no-god", "--out", folder], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, os.path.basename(scenario).replace(".toml", ".movement.tcl"))


def ns2(movement, nodes, seed, duration):
    """The same in ns-2. What it sends follows from the mean interval: it counts only what arrives."""
    traffic = os.path.join(os.path.dirname(movement), "beacons.tcl")
    mean = sum(INTERVAL_S) / 2
    with open(traffic, "w", encoding="ascii") as out:
        values = {"nodes": nodes, "size": PAYLOAD + UDP_HEADER, "interval": mean, "low": INTERVAL_S[0], "high": INTERVAL_S[1]}
        out.write(BEACONS.format(**values))
    # Its model of free space prints a line for each signal. With antennas so high, two-ray ground is free space up to 2.5 km.
    radio = {"height_m": 5, "power_w": watts(POWER_DBM), "frequency": FREQUENCY_MHZ * 1e6}
    thresholds = {"receive_w": watts(RECEIVE_DBM), "sense_w": watts(SENSE_DBM)}
    files = {"movement": movement, "traffic": traffic}
    run = ns2_run.run(protocol="DumbAgent", basic="1Mb", seed=seed, duration=duration, **files, **radio, **thresholds)
    sent = nodes * (duration - mean) / mean + nodes / 2
    return measured(run, sent, run["delivered"])


def ns3(movement, seed, duration):
    """The same in ns-3; None if it crashes."""
    case = cases.Case(movement, None, duration)
    options = {"beacons": PAYLOAD, "receive-dbm": RECEIVE_DBM, "sense-dbm": SENSE_DBM}
    run = ns3_run.run(case, "none", seed, duration, **options)
    return run and measured(run, run["beacons"], run["heard"])


def table(run_directory, name):
    """The rows of a table of a run."""
    command = [wayhop_run.binary(), "export", "csv", run_directory, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from csv.DictReader(process.stdout)


class Positions:
    """Where each node is at each time, by the table `positions`."""

    def __init__(self, rows):
        self.legs = {}
        for row in rows:
            leg = (int(row["time_ns"]), *(float(row[key]) for key in ("x_m", "y_m", "vx_mps", "vy_mps")))
            self.legs.setdefault(int(row["node"]), []).append(leg)
        for legs in self.legs.values():
            legs.sort()

    def at(self, node, time_ns):
        legs = self.legs[node]
        since, x, y, vx, vy = legs[max(0, bisect.bisect_right(legs, (time_ns, math.inf)) - 1)]
        seconds = (time_ns - since) / 1e9
        return x + vx * seconds, y + vy * seconds

    def within(self, node, time_ns, limit_m):
        """How many others are at most so far away from a node."""
        here = self.at(node, time_ns)
        return sum(other != node and math.dist(here, self.at(other, time_ns)) <= limit_m for other in self.legs)


def counted(scenario, seed, duration, samples):
    """By the record of a run: how many nodes received a transmission, how many could have, and how many others sensed it."""
    with tempfile.TemporaryDirectory(prefix="wayhop-") as folder:
        record = os.path.join(folder, "run")
        command = [wayhop_run.binary(), "run", scenario, "--seed", str(seed), "--duration", f"{duration:g}"]
        subprocess.run([*command, "--out", record, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        transmissions, received = [], 0
        for row in table(record, "packets"):
            if row["event"] == "transmit":
                transmissions.append((int(row["node"]), int(row["time_ns"])))
            received += row["event"] == "receive"
        positions = Positions(table(record, "positions"))
    chosen = transmissions[:: max(1, len(transmissions) // samples)]
    near, sensing = (sum(positions.within(*t, range_m(dbm)) for t in chosen) for dbm in (RECEIVE_DBM, SENSE_DBM))
    return {
        "simulated_s": duration,
        "transmissions": len(transmissions),
        "received_mean": round(received / len(transmissions), 3),
        "receivable_mean": round(near / len(chosen), 3),
        "interfered_mean": round((sensing - near) / len(chosen), 3),
        "sampled": len(chosen),
    }


def pairs(nodes, duration, a, folder):
    """The rows of one size: Wayhop alone, then beside ns-2, then beside ns-3, in turn."""
    scenario = write_scenario(folder, nodes, duration)
    row = {"nodes": nodes, "simulated_s": duration, "wayhop": [], "ns2": [], "ns3": [], "wayhop_beside_ns3": []}
    for seed in range(1, a.rounds + 1):
        row["wayhop"].append(wayhop(scenario, seed, duration, a.tables))
        movement = None
        if nodes <= max(a.ns2_most, a.ns3_most):
            movement = exported(scenario, folder, seed, duration)
        if nodes <= a.ns2_most:
            row["ns2"].append(ns2(movement, nodes, seed, duration))
        if nodes <= a.ns3_most:
            short = min(duration, a.ns3_duration)
            row["ns3_simulated_s"] = short
            row["wayhop_beside_ns3"].append(wayhop(scenario, seed, short, a.tables))
            run = ns3(movement, seed, short)
            row["ns3"] += [run] if run else []
    if nodes <= a.count_most:
        row["counted"] = counted(scenario, 1, min(duration, a.count_duration), a.samples)
    return row


def best(runs, key):
    """The least of several runs: what other programs on the machine take only adds."""
    return min((run[key] for run in runs), default=None)


def line(row):
    """A row of the printed table."""
    ours, ns2_s, ns3_s = (best(row[name], "cpu_s") for name in ("wayhop", "ns2", "ns3"))
    short = best(row["wayhop_beside_ns3"], "cpu_s")
    cells = [f"{row['nodes']:>9}{row['simulated_s']:>7g}{ours:>10.2f}{best(row['wayhop'], 'peak_mb'):>9.1f}"]
    cells.append(f"{row['wayhop'][0]['received_mean']:>10.2f}")
    cells.append(f"{ns2_s:>9.1f}{best(row['ns2'], 'peak_mb'):>9.1f}{ns2_s / ours:>7.1f}" if ns2_s else f"{'-':>9}{'-':>9}{'-':>7}")
    cells.append(f"{ns3_s:>9.1f}{best(row['ns3'], 'peak_mb'):>9.1f}{ns3_s / short:>7.1f}" if ns3_s else f"{'-':>9}{'-':>9}{'-':>7}")
    return "".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", nargs="+", type=int, default=[500, 5000, 50_000])
    parser.add_argument("--duration", type=float, default=60.0, help="simulated seconds")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--tables", action="store_true", help="Wayhop writes its run directory")
    parser.add_argument("--ns2-most", type=int, default=5000, help="nodes of ns-2 at most; 0 without it")
    parser.add_argument("--ns3-most", type=int, default=500, help="nodes of ns-3 at most; 0 without it")
    parser.add_argument("--ns3-duration", type=float, default=20.0)
    parser.add_argument("--count-most", type=int, default=5000, help="nodes up to which receivers are counted from a record")
    parser.add_argument("--count-duration", type=float, default=100.0)
    parser.add_argument("--samples", type=int, default=500, help="transmissions whose receivers are counted")
    parser.add_argument("--out", default=os.path.join(cases.RESULTS, "swans.json"))
    a = parser.parse_args()
    if a.ns3_most:
        ns3_run.build()
    rows = []
    print(f"{'nodes':>9}{'sim s':>7}{'wayhop s':>10}{'MB':>9}{'received':>10}{'ns-2 s':>9}{'MB':>9}{'ratio':>7}{'ns-3 s':>9}{'MB':>9}{'ratio':>7}")
    with tempfile.TemporaryDirectory(prefix="swans-") as folder:
        for nodes in a.nodes:
            rows.append(pairs(nodes, a.duration, a, folder))
            print(line(rows[-1]), flush=True)
            if "counted" in rows[-1]:
                print(f"{'':>9}{rows[-1]['counted']}", flush=True)
    told = subprocess.run([wayhop_run.binary(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    report = {"wayhop": told, "ns2": ns2_run.version(), "ns3": ns3_run.version(), "processors": os.cpu_count()}
    report |= {"load": os.getloadavg(), "tables": a.tables, "rows": rows}
    if len(rows) > 1:
        points = [(row["nodes"], best(row["wayhop"], "cpu_s") / row["simulated_s"]) for row in rows]
        report["exponent"] = round(scaling.exponent(points), 3)
        print(f"time grows as N^{report['exponent']:.3f}")
    with open(a.out, "w", encoding="utf-8") as out:
        json.dump(report, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
