"""Movement and traffic files of static, saturated layouts: a chain, and a star of senders around one receiver."""

import math
import os

import generate

# 1500-byte IP packets. A real stack adds 8 bytes of UDP and 20 of IP header to the payload; ns-2 adds 20 to what its
# UDP agent sends, so it must be told 1480 to put the same number of bytes on the air.
PAYLOAD = {"wayhop": 1472, "ns2": 1480}
PAYLOAD_BITS = 8 * PAYLOAD["wayhop"]
# 3 Mb/s: beyond what 2 Mb/s radios carry.
INTERVAL_S = 0.004
START_S = 1.0


def goodput_kbps(received, seconds):
    """UDP payload delivered, whichever simulator counted the packets."""
    return received * PAYLOAD_BITS / seconds / 1000.0


def write(directory, name, places, flows, simulator):
    """Writes NAME.tcl and the traffic file for `simulator`; returns the two paths."""
    os.makedirs(directory, exist_ok=True)
    movement = os.path.join(directory, f"{name}.tcl")
    traffic = os.path.join(directory, f"{name}.{simulator}.cbr.tcl")
    with open(movement, "w", encoding="ascii", newline="\n") as out:
        for node, (x, y) in enumerate(places):
            out.write(generate.START.format(node=node, x=x, y=y))
    with open(traffic, "w", encoding="ascii", newline="\n") as out:
        for flow, (source, target) in enumerate(flows):
            # Starts lie apart, so that the first route discoveries do not collide.
            out.write(
                generate.FLOW.format(
                    i=flow,
                    source=source,
                    target=target,
                    size=PAYLOAD[simulator],
                    interval=INTERVAL_S,
                    jitter=0,
                    start=START_S - 0.05 * flow,
                )
            )
        out.write(f"set nflows {len(flows)}\n")
    return movement, traffic


def chain(directory, hops, spacing_m, simulator):
    """A row of nodes; the first sends to the last."""
    places = [(50.0 + node * spacing_m, 50.0) for node in range(hops + 1)]
    return write(directory, f"chain-{hops}x{spacing_m}", places, [(0, hops)], simulator)


TCP_FLOW = """set tcp_(0) [new Agent/{agent}]
$tcp_(0) set window_ {window}
$tcp_(0) set packetSize_ {payload}
$ns_ attach-agent $node_({source}) $tcp_(0)
set tcpsink_(0) [new Agent/{sink}]
$ns_ attach-agent $node_({target}) $tcpsink_(0)
$ns_ connect $tcp_(0) $tcpsink_(0)
set ftp_(0) [new Application/FTP]
$ftp_(0) attach-agent $tcp_(0)
$ns_ at 0.0 "$ftp_(0) start"
"""


def tcp_chain(directory, hops, spacing_m, agent="Reno", sink="TCPSink", window=32, payload=1460, apart=False):
    """A row of nodes; an endless FTP over TCP from the first to the last. Both simulators read the same files. The agent
    "Tahoe" is ns-2's Agent/TCP, which has no name of its own there. With `apart` node 0 stands out of everybody's reach and
    the row begins with node 1."""
    first = 1 if apart else 0
    if apart:
        places = [(50.0, 5050.0)] + [(50.0 + node * spacing_m, 50.0) for node in range(hops + 1)]
        movement, _ = write(directory, f"chain-{hops}x{spacing_m}-apart", places, [], "wayhop")
    else:
        movement, _ = chain(directory, hops, spacing_m, "wayhop")
    name = f"tcp-{agent}-{sink.replace('/', '')}-{hops}{'-apart' if apart else ''}.tcl"
    traffic = os.path.join(directory, name)
    tcp = "TCP" if agent == "Tahoe" else f"TCP/{agent}"
    with open(traffic, "w", encoding="ascii", newline="\n") as out:
        out.write(
            TCP_FLOW.format(agent=tcp, sink=sink, window=window, payload=payload, source=first, target=first + hops)
        )
    return movement, traffic


def star(directory, senders, simulator):
    """Senders on a circle of 30 m around a receiver: all hear all."""
    circle = [2.0 * math.pi * sender / senders for sender in range(senders)]
    places = [(50.0, 50.0)] + [(50.0 + 30.0 * math.cos(angle), 50.0 + 30.0 * math.sin(angle)) for angle in circle]
    return write(directory, f"star-{senders}", places, [(sender, 0) for sender in range(1, senders + 1)], simulator)
