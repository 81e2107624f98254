"""Greedy forwarding by positions, as in GPSR (Karp and Kung 2000), without its perimeter mode."""

from socket import inet_aton, inet_ntoa
from struct import calcsize, iter_unpack, pack

import wayhop
from wayhop import Cx, DropReason, Fix, Packet, Rx, TxReport, TxStatus

PROTOCOL, BEACON, DATA, ENTRY = 254, 1, 2, "!4sddd"


class Greedy(wayhop.Protocol):
    """Greedy forwarding by positions."""

    carrier = wayhop.ip_protocol(PROTOCOL)
    control = {BEACON: "beacon"}
    data = {DATA: "data"}
    header_room = 2
    beacon_s = wayhop.parameter(1.0, "Mean time between beacons, seconds", minimum=0.1)
    entries = wayhop.parameter(40, "Positions in a beacon, the newest first", minimum=1, maximum=50)

    def on_start(self, cx: Cx) -> None:
        self.places: dict[str, tuple[float, Fix]] = {}  # when and where each node was
        self.heard: dict[str, float] = {}  # neighbours, and when their last beacon came
        cx.set_timer("beacon", cx.uniform(0, self.beacon_s))

    def on_position(self, cx: Cx, fix: Fix) -> None:
        self.places[cx.address] = (cx.now, fix)

    def on_timer(self, cx: Cx, key: object) -> None:
        cx.set_timer("beacon", self.beacon_s * cx.uniform(0.75, 1.25))
        newest = sorted(self.places.items(), key=lambda p: -p[1][0])[: self.entries]
        rows = (pack(ENTRY, inet_aton(a), t, *fix[:2]) for a, (t, fix) in newest)
        cx.send(cx.message(bytes((BEACON,)) + b"".join(rows)))

    def on_outbound(self, cx: Cx, packet: Packet) -> None:
        packet.push(PROTOCOL, bytes((DATA, packet.protocol)))
        self.forward(cx, packet)

    def on_frame(self, cx: Cx, packet: Packet, rx: Rx) -> None:
        message = packet.payload or b"\0"
        if message[0] == BEACON and (len(message) - 1) % calcsize(ENTRY) == 0:
            self.heard[rx.sender] = cx.now
            for address, time, latitude, longitude in iter_unpack(ENTRY, message[1:]):
                node = inet_ntoa(address)
                is_news = node != cx.address and time > self.places.get(node, (-1.0,))[0]
                if is_news and abs(latitude) <= 90 and abs(longitude) <= 180:
                    self.places[node] = (time, Fix(latitude, longitude))
            cx.consume(packet)
        elif message[0] != DATA or len(message) < 2:
            cx.drop(packet, DropReason.MALFORMED)
        elif packet.destination == cx.address:
            packet.pop(2, protocol=message[1])
            cx.deliver(packet)
        elif packet.ttl <= 1:
            cx.drop(packet, DropReason.TTL_EXPIRED)
        else:
            packet.ttl -= 1
            self.forward(cx, packet)

    def on_tx_status(self, cx: Cx, report: TxReport) -> None:
        if report.status == TxStatus.NO_ACK:
            self.heard.pop(report.next_hop, None)  # it has gone
            if report.packet:
                self.forward(cx, report.packet)
        elif report.packet:
            cx.drop(report.packet, DropReason.QUEUE_FULL)

    def forward(self, cx: Cx, packet: Packet) -> None:
        near = [n for n, t in self.heard.items() if t > cx.now - 3 * self.beacon_s and n in self.places]
        if packet.destination in near:
            return cx.send(packet, packet.destination, report=1)
        if packet.destination not in self.places or cx.address not in self.places:
            return cx.drop(packet, DropReason.NO_ROUTE)
        target = self.places[packet.destination][1]
        left = {n: self.places[n][1].distance_m(target) for n in (cx.address, *near)}  # metres
        if (best := min(left, key=left.__getitem__)) == cx.address:
            return cx.drop(packet, DropReason.NO_ROUTE)  # a local maximum
        cx.send(packet, best, report=1)
