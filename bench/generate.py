#!/usr/bin/env python3
"""Write random-waypoint movement and constant-bit-rate traffic in ns-2's file formats.

    generate.py movement OUT.tcl --seed 7 --nodes 50 --width 1500 --height 300 --max-speed 20 --pause 0 --duration 900
    generate.py traffic  OUT.cbr.tcl --seed 7 --nodes 50 --flows 20 --rate 4 --bytes 64 --start-until 180
    generate.py scaling  DIRECTORY --nodes 1000 [--flows 100] [--within 400] [--duration 60]

The same arguments give the same bytes. `scaling` keeps the density at 9000 square metres a node; it writes
DIRECTORY/nN.tcl and DIRECTORY/nN.cbr.tcl (with the number of flows and the distance in the name where they are not 10
and unlimited). `--within` takes destinations that start within that many metres of their sources, so that the load on a
node does not grow with the network: the way between two random nodes does.
"""

import argparse
import math
import os
import random
import re

SQUARE_METRES_PER_NODE = 9000.0
START = """$node_({node}) set X_ {x:.3f}
$node_({node}) set Y_ {y:.3f}
$node_({node}) set Z_ 0.000
"""
FLOW = """set udp_({i}) [new Agent/UDP]
$udp_({i}) set packetSize_ 2000
$ns_ attach-agent $node_({source}) $udp_({i})
set sink_({i}) [new Agent/LossMonitor]
$ns_ attach-agent $node_({target}) $sink_({i})
$ns_ connect $udp_({i}) $sink_({i})
set cbr_({i}) [new Application/Traffic/CBR]
$cbr_({i}) set packetSize_ {size}
$cbr_({i}) set interval_ {interval}
$cbr_({i}) set random_ {jitter}
$cbr_({i}) attach-agent $udp_({i})
$ns_ at {start:.6f} "$cbr_({i}) start"
"""


class Draw:
    """Uniform draws. Only `Random.random` is used: its sequence is promised not to change between Pythons."""

    def __init__(self, *key):
        self.random = random.Random(":".join(str(part) for part in key)).random

    def between(self, low, high):
        return low + (high - low) * self.random()

    def below(self, limit):
        return int(self.random() * limit)


def movement(path, seed, nodes, width, height, min_speed, max_speed, pause, duration):
    """Every node rests for `pause`, goes to a random point in a straight line at a random speed, and so on."""
    draw = Draw("movement", seed)
    moves = []
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write(
            f"# random waypoint: seed {seed}, {nodes} nodes, {width:.0f} m x {height:.0f} m, "
            f"{min_speed} to {max_speed} m/s, pause {pause} s, {duration} s\n"
        )

        def point():
            return round(draw.between(0.01, width - 0.01), 3), round(draw.between(0.01, height - 0.01), 3)

        for node in range(nodes):
            here = point()
            out.write(START.format(node=node, x=here[0], y=here[1]))
            time = pause
            while time < duration:
                there, speed = point(), draw.between(min_speed, max_speed)
                moves.append((time, node, there, speed))
                leg = math.sqrt((there[0] - here[0]) ** 2 + (there[1] - here[1]) ** 2)
                time += leg / speed + pause
                here = there
        for time, node, there, speed in sorted(moves):
            out.write(f'$ns_ at {time:.6f} "$node_({node}) setdest {there[0]:.3f} {there[1]:.3f} {speed:.6f}"\n')


def positions_at_start(path):
    """The (x, y) of each node in a movement file, by node number."""
    found = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            place = re.match(r"\$node_\((\d+)\) set ([XY])_ (\S+)", line)
            if place:
                found.setdefault(int(place[1]), {})[place[2]] = float(place[3])
    return [(found[node]["X"], found[node]["Y"]) for node in sorted(found)]


def destination(draw, source, nodes, places, within):
    """Another node at random; with `within`, one that starts that near to the source, or the nearest of all."""
    if within is None:
        return (source + 1 + draw.below(nodes - 1)) % nodes
    others = sorted((math.dist(places[source], place), node) for node, place in enumerate(places) if node != source)
    near = sum(distance <= within for distance, _ in others)
    return others[draw.below(max(1, near))][1]


def traffic(path, seed, nodes, flows, rate, size, start_from, start_until, jitter=0, places=None, within=None):
    """Flows from distinct sources (while there are enough nodes) to other nodes, started at random times."""
    draw = Draw("traffic", seed)
    sources = list(range(nodes))
    with open(path, "w", encoding="ascii", newline="\n") as out:
        for flow in range(flows):
            # A step of a Fisher-Yates shuffle for each flow.
            slot = flow % nodes
            other = slot + draw.below(nodes - slot)
            sources[slot], sources[other] = sources[other], sources[slot]
            source = sources[slot]
            target = destination(draw, source, nodes, places, within)
            start = draw.between(start_from, start_until)
            interval = 1.0 / rate
            out.write(
                FLOW.format(
                    i=flow, source=source, target=target, size=size, interval=interval, jitter=jitter, start=start
                )
            )
        out.write(f"set nflows {flows}\n")


def scaling(directory, nodes, flows=10, duration=60, within=None):
    """Movement and traffic of the scaling series; returns the two paths. Files that exist are kept."""
    side = round(math.sqrt(nodes * SQUARE_METRES_PER_NODE))
    os.makedirs(directory, exist_ok=True)
    moves = os.path.join(directory, f"n{nodes}.tcl")
    marks = (f"-f{flows}" if flows != 10 else "") + (f"-w{within:g}" if within is not None else "")
    load = os.path.join(directory, f"n{nodes}{marks}.cbr.tcl")
    if not os.path.exists(moves):
        movement(moves, nodes, nodes, side, side, 0.01, 20.0, 0, duration)
    if not os.path.exists(load):
        traffic(load, nodes, nodes, flows, 4, 64, 0.0, 10.0, places=positions_at_start(moves), within=within)
    return moves, load


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    moves = commands.add_parser("movement")
    load = commands.add_parser("traffic")
    series = commands.add_parser("scaling")
    for command in (moves, load):
        command.add_argument("out")
        command.add_argument("--seed", type=int, required=True)
        command.add_argument("--nodes", type=int, default=50)
    moves.add_argument("--width", type=float, default=1500)
    moves.add_argument("--height", type=float, default=300)
    moves.add_argument("--min-speed", type=float, default=0.01)
    moves.add_argument("--max-speed", type=float, default=20.0)
    moves.add_argument("--pause", type=float, default=0)
    moves.add_argument("--duration", type=float, default=900)
    load.add_argument("--flows", type=int, default=20)
    load.add_argument("--rate", type=float, default=4)
    load.add_argument("--bytes", type=int, default=64)
    load.add_argument("--start-from", type=float, default=0)
    load.add_argument("--start-until", type=float, default=180)
    load.add_argument("--jitter", type=int, choices=[0, 1], default=0, help="cbrgen's random_")
    series.add_argument("directory")
    series.add_argument("--nodes", type=int, required=True)
    series.add_argument("--flows", type=int, default=10)
    series.add_argument("--within", type=float)
    series.add_argument("--duration", type=float, default=60)
    a = parser.parse_args()
    if a.command == "movement":
        movement(a.out, a.seed, a.nodes, a.width, a.height, a.min_speed, a.max_speed, a.pause, a.duration)
    elif a.command == "traffic":
        traffic(a.out, a.seed, a.nodes, a.flows, a.rate, a.bytes, a.start_from, a.start_until, a.jitter)
    else:
        print("\n".join(scaling(a.directory, a.nodes, a.flows, a.duration, a.within)))


if __name__ == "__main__":
    main()
