"""Flooding: every node repeats every packet once, after a random wait.

Data travels in IP packets of protocol 253 (RFC 3692: experiments). Between the IP header and the
payload is a header of 4 bytes: the payload's own protocol, the hops left, and a number by which
nodes recognise packets that they have seen.
"""

import wayhop
from wayhop import Cx, DropReason, Packet, Rx

PROTOCOL = 253
HEADER = 4


class Flooding(wayhop.Protocol):
    """Flooding with duplicate suppression."""

    carrier = wayhop.ip_protocol(PROTOCOL)
    data = {wayhop.ANY: "flood"}
    header_room = HEADER
    version = "1.0"

    hops = wayhop.parameter(16, "Hops that a packet may travel", minimum=1, maximum=255)
    jitter_ms = wayhop.parameter(10.0, "Longest wait before a node repeats a packet", minimum=0, maximum=1000)

    def on_start(self, cx: Cx) -> None:
        self.next = cx.bits() & 0xFFFF  # not the numbers of an earlier life
        self.seen: set[tuple[str, bytes]] = set()

    def on_outbound(self, cx: Cx, packet: Packet) -> None:
        number = self.next.to_bytes(2, "big")
        self.next = (self.next + 1) & 0xFFFF
        self.seen.add((cx.address, number))
        packet.push(PROTOCOL, bytes((packet.protocol, self.hops)) + number)
        self.repeat(cx, packet)

    def on_frame(self, cx: Cx, packet: Packet, rx: Rx) -> None:
        header = packet.payload[:HEADER]
        if packet.protocol != PROTOCOL or len(header) < HEADER:
            cx.drop(packet, DropReason.MALFORMED)
            return
        key = (packet.source, header[2:])
        if key in self.seen:
            cx.drop(packet, DropReason.DUPLICATE)
            return
        self.seen.add(key)
        if packet.destination == cx.address:
            packet.pop(HEADER, protocol=header[0])
            cx.deliver(packet)
        elif packet.ttl <= 1 or header[1] <= 1:
            cx.drop(packet, DropReason.TTL_EXPIRED)
        else:
            packet.ttl -= 1
            packet.pop(HEADER, PROTOCOL)
            packet.push(PROTOCOL, bytes((header[0], header[1] - 1)) + header[2:])
            self.repeat(cx, packet)

    def repeat(self, cx: Cx, packet: Packet) -> None:
        cx.send(packet, delay=cx.uniform(0, self.jitter_ms) / 1000)
