"""Calls of a protocol's handlers, and the description of its class.

`crates/routing/foreign/src/python` is the other side, and documents the messages.
"""

from __future__ import annotations

import gc
import json
import platform
import sys
from pathlib import Path
from socket import inet_ntoa
from struct import Struct
from typing import Any, Callable

from .context import Cx
from .handler import HandlerCx
from .packet import NEW, Packet
from .position import Fix
from .protocol import LinkChange, Protocol, RouteUse, Rx, TxReport, TxStatus
from .seam import Hosted, Seam, default_name, own_handlers, summary

_START = Struct("<4sIBB")
_RX = Struct("<4sBBffI")
_HANDLE = Struct("<Q")
_REPORT = Struct("<BQ4sBBBQ")
_ROUTE_USED = Struct("<4s4s4sB4sB")
_LINK = Struct("<BB")
_FIX = Struct("<ddff")

_HANDLERS = (
    "on_outbound", "on_frame", "on_overheard", "on_tx_status", "on_timer", "on_route_used", "on_link",
    "on_position", "inspect",
)  # fmt: skip

Engine = Hosted[Protocol, Cx]
"""One node's protocol."""


def describe(cls: type[Protocol], path: str) -> dict[str, Any]:
    """What Wayhop needs to know of the class."""
    if not hasattr(cls, "carrier"):
        raise TypeError(f"has no carrier in class {cls.__name__}; add `carrier = wayhop.udp(7000)`")
    return {
        "name": cls.name or default_name(path),
        "full_name": cls.full_name or summary(cls),
        "specification": cls.specification,
        "version": f"{cls.version} (Python {platform.python_version()})".strip(),
        "forwards_by_routes": cls.forwards_by_routes,
        "header_room": cls.header_room,
        "position_interval_ns": int(cls.position_interval_s * 1e9),
        "ip_protocol": cls.carrier.ip_protocol,
        "port": cls.carrier.port,
        "parameters": [value.described(key) for key, value in cls._parameters.items()],
        "control": [[octet, name] for octet, name in cls.control.items()],
        "data": [[octet, name] for octet, name in cls.data.items()],
        "handlers": own_handlers(cls, Protocol, _HANDLERS),
    }


def create(
    cls: type[Protocol],
    _before: Engine | None,
    number: int,
    more: Callable[[HandlerCx], None],
    data: bytes,
    at: int,
) -> Engine:
    """A node's protocol, of what its start tells."""
    address, node, interfaces, prefix_length = _START.unpack_from(data, at)
    cx = Cx(inet_ntoa(address), node, cls.carrier, number, more)
    cx.interfaces, cx.prefix_length = interfaces, prefix_length
    protocol = cls.__new__(cls)
    protocol.__dict__.update(json.loads(data[at + _START.size :]))
    protocol.__init__()  # type: ignore[misc]
    return Hosted(protocol, cx)


def _start(engine: Engine, _data: bytes, _at: int) -> None:
    engine.cx.open(type(engine.object).carrier)
    engine.object.on_start(engine.cx)


def _packet(data: bytes, handle: int) -> Packet:
    packet = Packet(data)
    packet._handle = handle
    packet._is_changed = False
    return packet


def _alone() -> int:
    """How many references Python counts for a packet that only a caller and the called function have."""

    def count(packet: Packet) -> int:
        return sys.getrefcount(packet)

    packet = Packet(b"")
    return count(packet)


_ALONE = _alone() if hasattr(sys, "getrefcount") else -1


def _check_passed_on(packet: Packet) -> None:
    """Raises an error if the packet of a handler is lost: nothing but this call and its caller has it."""
    if packet._gone is None and sys.getrefcount(packet) <= _ALONE:
        raise RuntimeError(
            "returned without passing its packet on (send, deliver, drop or consume it, "
            "or keep it in an attribute)"
        )


def _outbound(engine: Engine, data: bytes, at: int) -> None:
    packet = _packet(data[at + 8 :], _HANDLE.unpack_from(data, at)[0])
    engine.object.on_outbound(engine.cx, packet)
    _check_passed_on(packet)


def _rx(data: bytes, at: int) -> Rx:
    sender, interface, is_broadcast, signal_dbm, noise_dbm, rate = _RX.unpack_from(data, at)
    return Rx(inet_ntoa(sender), interface, is_broadcast != 0, signal_dbm, noise_dbm, rate)


def _frame(engine: Engine, data: bytes, at: int) -> None:
    rx = _rx(data, at)
    at += _RX.size
    packet = _packet(data[at + 8 :], _HANDLE.unpack_from(data, at)[0])
    engine.object.on_frame(engine.cx, packet, rx)
    _check_passed_on(packet)


def _overheard(engine: Engine, data: bytes, at: int) -> None:
    rx = _rx(data, at)
    at += _RX.size
    engine.object.on_overheard(engine.cx, data[at + 4 :], inet_ntoa(data[at : at + 4]), rx)


def _tx_status(engine: Engine, data: bytes, at: int) -> None:
    has_report, report, next_hop, interface, status, tries, handle = _REPORT.unpack_from(data, at)
    packet = _packet(data[at + _REPORT.size :], handle) if handle != NEW else None
    engine.object.on_tx_status(
        engine.cx,
        TxReport(
            report if has_report else None, inet_ntoa(next_hop), interface, TxStatus(status), tries, packet
        ),
    )
    if packet is not None:
        _check_passed_on(packet)


def _timer(engine: Engine, data: bytes, at: int) -> None:
    key = engine.cx._fired(_HANDLE.unpack_from(data, at)[0])
    engine.object.on_timer(engine.cx, key)


def _route_used(engine: Engine, data: bytes, at: int) -> None:
    source, destination, next_hop, has_previous, previous, interface = _ROUTE_USED.unpack_from(data, at)
    used = RouteUse(
        inet_ntoa(source),
        inet_ntoa(destination),
        inet_ntoa(next_hop),
        inet_ntoa(previous) if has_previous else None,
        interface,
    )
    engine.object.on_route_used(engine.cx, used)


def _link(engine: Engine, data: bytes, at: int) -> None:
    interface, change = _LINK.unpack_from(data, at)
    engine.object.on_link(engine.cx, interface, LinkChange(change))


def _position(engine: Engine, data: bytes, at: int) -> None:
    engine.object.on_position(engine.cx, Fix(*_FIX.unpack_from(data, at)))


def _inspect(engine: Engine, _data: bytes, _at: int) -> None:
    """Its answer is JSON: rows of tables, and the handles of the packets that somebody still has."""
    tables = engine.object.inspect()
    # Those of all nodes: handles contain the engine.
    held = [p._handle for p in gc.get_objects() if type(p) is Packet and p._gone is None]
    rows = [[table, {k: str(v) for k, v in row.items()}] for table, all_ in tables.items() for row in all_]
    engine.cx._effects[:] = [json.dumps({"rows": rows, "held": held}).encode()]


# By kind of call.
PROTOCOLS = Seam(
    Protocol,
    "protocols",
    "its class is a protocol: name the file in `protocol`",
    describe,
    create,
    (
        _start, _outbound, _frame, _overheard, _tx_status, _timer, _route_used, _link, _position, _inspect,
    ),
)  # fmt: skip
