"""Addresses with ports, streams, and what happens to them."""

from __future__ import annotations

from enum import IntEnum
from socket import AF_INET6, inet_aton, inet_ntoa, inet_ntop, inet_pton
from typing import NamedTuple

_MAPPED = bytes(10) + b"\xff\xff"
"""Before an IPv4 address, as an IPv6 one (RFC 4291, section 2.5.5.2)."""


class Endpoint(NamedTuple):
    """An address and a port."""

    address: str
    """IPv4 or IPv6, such as ``"10.0.0.3"``."""
    port: int
    """UDP or TCP port."""


class Stream(NamedTuple):
    """A TCP connection of an application."""

    number: int
    is_accepted: bool
    """Whether the other end opened it."""


class StreamEventKind(IntEnum):
    """What happened to a stream."""

    ACCEPTED = 0
    """Somebody connected to a port at which the application listens."""
    CONNECTED = 1
    """A stream that the application opened is there."""
    DATA = 2
    """Bytes arrived."""
    PATTERN = 3
    """Bytes of a scenario's TCP flow arrived: only ``length`` tells how many."""
    ROOM = 4
    """Bytes have left: write ``length`` at most."""
    CLOSED = 5
    """It is gone, or did not come about."""


class StreamEnd(IntEnum):
    """Why a stream is gone."""

    FINISHED = 0
    """The other end closed it, and all that it sent has arrived."""
    UNREACHABLE = 1
    """Nobody listens there, or nobody answered in time."""
    BROKEN = 2


class StreamEvent(NamedTuple):
    """Something happened to a stream."""

    kind: StreamEventKind
    """What happened."""
    stream: Stream
    """Which stream."""
    peer: Endpoint | None
    """The other end, with ACCEPTED and CONNECTED."""
    port: int
    """The port at which the application listens, with ACCEPTED."""
    data: bytes
    """The bytes, with DATA."""
    length: int
    """How many bytes arrived, or can be written, with DATA, PATTERN and ROOM."""
    end: StreamEnd | None
    """Why it is gone, with CLOSED."""


def packed(address: str) -> bytes:
    """An address in 16 bytes."""
    return inet_pton(AF_INET6, address) if ":" in address else _MAPPED + inet_aton(address)


def unpacked(data: bytes) -> str:
    """The address in 16 bytes."""
    return inet_ntoa(data[12:]) if data[:12] == _MAPPED else inet_ntop(AF_INET6, data)
