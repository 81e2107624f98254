"""The base class of routing protocols, and what their handlers receive."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

from .context import Cx
from .packet import Carrier, Packet
from .parameters import Parameterised
from .position import Fix

ANY = -1
"""In a table of messages: whatever the first octet is."""


class DropReason(IntEnum):
    """Why a packet ends undelivered. The names are those of Wayhop's tables."""

    NO_ROUTE = 0
    DISCOVERY_FAILED = 1
    BUFFER_TIMEOUT = 2
    BUFFER_FULL = 3
    QUEUE_FULL = 4
    MAC_RETRIES = 5
    TTL_EXPIRED = 8
    LOOP = 9
    NO_SALVAGE = 10
    SALVAGE_LIMIT = 11
    MALFORMED = 12
    DUPLICATE = 13
    POLICY = 14
    NO_LISTENER = 15
    TOO_LONG = 16


class Rx(NamedTuple):
    """What the interface knows about a received packet."""

    sender: str
    """The neighbour that transmitted it."""
    interface: int
    """The interface that received it."""
    is_broadcast: bool
    """Whether the frame was a broadcast."""
    signal_dbm: float
    """Received power; NaN if unknown."""
    noise_dbm: float
    """Noise and interference; NaN if unknown."""
    rate_kbps: int
    """Rate of the frame's data part; 0 if unknown."""


class TxStatus(IntEnum):
    """How a transmission ended."""

    ACKED = 0
    NO_ACK = 1
    """No acknowledgement after all tries: the link is probably broken."""
    QUEUE_FULL = 2
    RECALLED = 3
    UNKNOWN = 4
    """It was sent without acknowledgement, as every broadcast is."""


class TxReport(NamedTuple):
    """The end of a transmission."""

    report: int | None
    """The number given to ``cx.send``; None for a packet that the node forwarded along a route."""
    next_hop: str
    """The neighbour that it was for."""
    interface: int
    """The interface that sent it."""
    status: TxStatus
    """How it ended."""
    tries: int
    """How often it was sent, with NO_ACK."""
    packet: Packet | None
    """The packet, unless it was sent: send it elsewhere, or drop it."""


class RouteUse(NamedTuple):
    """A route in the forwarding table was used."""

    source: str
    destination: str
    next_hop: str
    previous_hop: str | None
    """The neighbour that the packet came from; None for this node's own."""
    interface: int


class LinkChange(IntEnum):
    """What happened to an interface."""

    UP = 0
    DOWN = 1
    CHANGED = 2


class Protocol(Parameterised):
    """A routing protocol at one node. Derive one class from it, and define the handlers you need.

    Wayhop creates one object per node. For reproducible runs, use only ``cx.now`` as time and only
    the random numbers of ``cx``.
    """

    name: ClassVar[str] = ""
    """Name in scenarios and tables: a-z, 0-9 and -. Default: that of the file."""
    full_name: ClassVar[str] = ""
    """Name for people. Default: the first line of the class's docstring."""
    specification: ClassVar[str] = ""
    """Where the protocol is specified."""
    version: ClassVar[str] = ""
    """Version, for the manifest of runs."""
    carrier: ClassVar[Carrier]
    """The packets that carry its messages: ``udp(7000)`` or ``ip_protocol(253)``."""
    control: ClassVar[dict[int, str]] = {}
    """Names of routing messages by their first octet."""
    data: ClassVar[dict[int, str]] = {}
    """Names of messages that carry packets of applications, by their first octet."""
    forwards_by_routes: ClassVar[bool] = False
    """False: the handlers see and forward every packet. True: the node forwards along installed
    routes, and ``on_outbound`` receives only packets without a route."""
    header_room: ClassVar[int] = 0
    """Bytes that the protocol adds to packets of applications."""
    position_interval_s: ClassVar[float] = 1.0
    """Seconds between calls of ``on_position``."""

    def on_start(self, cx: Cx) -> None:
        """The node comes up."""

    def on_outbound(self, cx: Cx, packet: Packet) -> None:
        """An application sends a packet, or there is no route for one. Default: drop it."""

    def on_frame(self, cx: Cx, packet: Packet, rx: Rx) -> None:
        """A packet arrives from the air, to this node or as a broadcast. Default: drop it.

        On real hosts, in an emulation and with ``forwards_by_routes`` only packets of the protocol's
        carrier arrive here.
        """

    def on_overheard(self, cx: Cx, data: bytes, next_hop: str, rx: Rx) -> None:
        """A neighbour sent a packet to another node. Nothing needs to be done with it."""

    def on_tx_status(self, cx: Cx, report: TxReport) -> None:
        """A transmission with ``report`` ended. Default: drop the packet if it comes back."""

    def on_timer(self, cx: Cx, key: Any) -> None:
        """A timer fires that ``cx.set_timer`` set with this key."""

    def on_route_used(self, cx: Cx, used: RouteUse) -> None:
        """A packet was forwarded along an installed route."""

    def on_link(self, cx: Cx, interface: int, change: LinkChange) -> None:
        """An interface came up, went down or changed."""

    def on_position(self, cx: Cx, fix: Fix) -> None:
        """The node's position, every ``position_interval_s``."""

    def inspect(self) -> dict[str, list[dict[str, str | int | float]]]:
        """Tables for ``wayhop ctl``: rows by the table's name."""
        return {}
