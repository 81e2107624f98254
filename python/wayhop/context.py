"""What the handlers of protocols can read and do."""

from __future__ import annotations

from socket import inet_aton
from struct import Struct
from typing import TYPE_CHECKING, Callable

from .handler import HandlerCx, nanoseconds
from .packet import NEW, Carrier, Packet

if TYPE_CHECKING:
    from .protocol import DropReason

BROADCAST = "255.255.255.255"
"""As a next hop: all neighbours. As a destination: every node in range."""
ANY_INTERFACE = 255
"""Wayhop chooses the interface."""

CONTROL, HIGH, DATA = 0, 1, 2
"""Places in the interface queue, first to last."""

_SEND = Struct("<B4sBBQBQ")
_PACKET = Struct("<BQI")
_DROP = Struct("<BBQI")
_COPY = Struct("<BQQ")
_OPEN = Struct("<BBH")
_INSTALL = Struct("<B4sB4sBI")
_UNINSTALL = Struct("<B4sB")
_RECALL = Struct("<B4s")
_NOTE = Struct("<BH4sQ")
_HANDLE = Struct("<QI")

# Kinds of effects.
SEND, DELIVER, DROP, CONSUME = range(1, 5)
OPEN, INSTALL, UNINSTALL, RECALL, NOTE, COPY = range(7, 13)

UNCHANGED = 0xFFFF_FFFF
"""Stands for the length of a packet whose bytes Wayhop has already."""


class Cx(HandlerCx):
    """The context of a protocol's handlers: time, address, random numbers, and effects.

    Effects are carried out in order after the handler has returned.
    """

    __slots__ = (
        "node", "interfaces", "prefix_length", "queued", "acknowledges", "_carrier", "_copies",
    )  # fmt: skip

    def __init__(
        self, address: str, node: int, carrier: Carrier, engine: int, more: Callable[[HandlerCx], None]
    ) -> None:
        super().__init__(address, more)
        self.node: int = node
        """This node's number in the scenario. A protocol for real nodes must not depend on it."""
        self.interfaces: int = 1
        """Number of interfaces; they are numbered from 0."""
        self.prefix_length: int = 8
        """Length of the prefix of the mesh's addresses."""
        self.queued: int = 0
        """Packets in the interface queue."""
        self.acknowledges: bool = True
        """Whether the interface reports if a unicast was acknowledged."""
        self._carrier = carrier
        # Handles of copies are odd, those that Wayhop gives are even.
        self._copies = engine << 40 | 1

    def message(self, message: bytes, destination: str = BROADCAST, ttl: int = 1) -> Packet:
        """A new packet with a routing message, from this node, in the protocol's carrier."""
        return self._carrier.packet(message, self.address, destination, ttl)

    def copy(self, packet: Packet) -> Packet:
        """A second packet with the same bytes and the same identity in the run's record."""
        if packet._gone is not None:
            raise ValueError(f"this packet was {packet._gone}; copy it before")
        copy = Packet(packet._data)
        copy._is_changed = packet._is_changed
        if packet._handle != NEW:
            self._copies += 2
            copy._handle = self._copies
            self._effects.append(_COPY.pack(COPY, packet._handle, copy._handle))
        return copy

    def send(
        self,
        packet: Packet,
        to: str = BROADCAST,
        *,
        delay: float = 0.0,
        report: int | None = None,
        priority: int | None = None,
        interface: int = ANY_INTERFACE,
    ) -> None:
        """Put a packet into the interface queue, to a neighbour or to all.

        delay: seconds to wait before. report: a number under which ``on_tx_status`` reports the end.
        priority: CONTROL, HIGH or DATA; default CONTROL for new packets, DATA for others.
        """
        if priority is None:
            priority = CONTROL if packet._handle == NEW else DATA
        head = _SEND.pack(
            SEND, inet_aton(to), interface, priority, nanoseconds(delay), report is not None, report or 0
        )
        self._effects.append(head + _passed(packet, "sent"))

    def deliver(self, packet: Packet) -> None:
        """Give a packet to this node's applications."""
        self._effects.append(b"\2" + _passed(packet, "delivered"))

    def drop(self, packet: Packet, reason: DropReason) -> None:
        """End a packet that cannot be forwarded or delivered."""
        self._effects.append(bytes((DROP, reason)) + _passed(packet, "dropped"))

    def consume(self, packet: Packet) -> None:
        """End a packet that served its purpose, such as a routing message."""
        self._effects.append(b"\4" + _passed(packet, "consumed"))

    def open(self, carrier: Carrier) -> None:
        """Receive the packets of this carrier, too. The protocol's own is open from the start."""
        if carrier.port is None:
            self._effects.append(_OPEN.pack(OPEN, 1, carrier.ip_protocol))
        else:
            self._effects.append(_OPEN.pack(OPEN, 0, carrier.port))

    def install(
        self,
        destination: str,
        next_hop: str,
        *,
        prefix_length: int = 32,
        metric: int = 0,
        interface: int = ANY_INTERFACE,
    ) -> None:
        """Add or replace a route in the forwarding table."""
        self._effects.append(
            _INSTALL.pack(
                INSTALL, inet_aton(destination), prefix_length, inet_aton(next_hop), interface, metric
            )
        )

    def uninstall(self, destination: str, prefix_length: int = 32) -> None:
        """Remove a route."""
        self._effects.append(_UNINSTALL.pack(UNINSTALL, inet_aton(destination), prefix_length))

    def recall(self, next_hop: str) -> None:
        """Take the packets for this neighbour out of the interface queue; ``on_tx_status`` returns them."""
        self._effects.append(_RECALL.pack(RECALL, inet_aton(next_hop)))

    def note(self, what: str, about: str = "0.0.0.0", value: int = 0) -> None:
        """Write a remark into the run's table of events."""
        name = what.encode()[:200]
        self._effects.append(_NOTE.pack(NOTE, len(name), inet_aton(about), value) + name)

    def _enter(self, now_ns: int, queued: int, flags: int) -> None:
        self.now_ns, self.queued, self.acknowledges = now_ns, queued, flags != 0


def _passed(packet: Packet, did: str) -> bytes:
    """The packet for an effect. It is gone then."""
    if packet._gone is not None:
        raise ValueError(f"this packet was {packet._gone} already; copy it before, with cx.copy(packet)")
    # May refuse the bytes: then the packet is still there.
    data = packet.data if packet._is_changed else None
    packet._gone = did
    if data is None:
        return _HANDLE.pack(packet._handle, UNCHANGED)
    return _HANDLE.pack(packet._handle, len(data)) + data
