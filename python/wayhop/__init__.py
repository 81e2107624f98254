"""Routing protocols in Python for Wayhop.

Derive one class from `Protocol` in a file of its own, and run it:

    wayhop run scenario.toml --protocol ./mine.py

The tutorial: docs/tutorials/python-protocol.md. Wayhop brings this package with it: nothing has to
be installed, and no other package is needed.
"""

from .context import ANY_INTERFACE, BROADCAST, CONTROL, DATA, HIGH, Cx
from .packet import UDP, Carrier, Packet, ip_protocol, udp
from .protocol import (
    ANY,
    DropReason,
    Fix,
    LinkChange,
    Protocol,
    RouteUse,
    Rx,
    TxReport,
    TxStatus,
    parameter,
)

__all__ = [
    "ANY",
    "ANY_INTERFACE",
    "BROADCAST",
    "CONTROL",
    "DATA",
    "HIGH",
    "UDP",
    "Carrier",
    "Cx",
    "DropReason",
    "Fix",
    "LinkChange",
    "Packet",
    "Protocol",
    "RouteUse",
    "Rx",
    "TxReport",
    "TxStatus",
    "ip_protocol",
    "parameter",
    "udp",
]
