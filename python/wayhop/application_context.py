"""What the handlers of applications can read and do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from struct import Struct
from typing import Any, Callable

from .endpoint import Endpoint, Stream, packed
from .handler import HandlerCx

_LISTEN = Struct("<BH")
_SEND = Struct("<BH16sHBBI")
_NOTE = Struct("<BH16sQ")
_CONNECT = Struct("<BQ16sH")
_WRITE = Struct("<BBQI")
_CLOSE = Struct("<BBQ")
_MESSAGE = Struct("<BQII")

# Kinds of effects.
LISTEN, SEND, LISTEN_STREAM, CONNECT = range(1, 5)
WRITE, CLOSE, NOTE, ANSWER, TELL = range(7, 12)

NEIGHBOURS = "255.255.255.255"
LONGEST = 65_507
"""The longest data of a datagram, bytes: what fits into an IPv4 packet after the UDP header."""
MOST_BYTES = 8 << 20
"""The most bytes for a stream or a program in one call."""


class ApplicationCx(HandlerCx):
    """The context of an application's handlers: time, address, random numbers, and effects.

    Effects are carried out in order after the handler has returned.
    """

    __slots__ = ("node", "_notes", "_streams")

    def __init__(
        self, address: str, node: int | None, notes: Sequence[str], more: Callable[[HandlerCx], None]
    ) -> None:
        super().__init__(address, more)
        self.node: int | None = node
        """This node's number in the scenario; None on a real host."""
        self._notes = notes
        self._streams = 0

    def listen(self, port: int) -> None:
        """Receive the datagrams to this UDP port, in ``on_datagram``."""
        self._effects.append(_LISTEN.pack(LISTEN, _port(port)))

    def send(self, port: int, to: tuple[str, int], data: bytes, *, ttl: int = 64, tos: int = 0) -> None:
        """Send a datagram from a UDP port at which the application listens.

        to: address and port. ttl: time to live, hops. tos: Type of Service, or traffic class.
        """
        if len(data) > LONGEST:
            raise ValueError(f"a datagram of {len(data)} bytes; {LONGEST} is the most")
        address, other = to
        head = _SEND.pack(SEND, _port(port), packed(address), _port(other), ttl, tos, len(data))
        self._effects.append(head + data)

    def send_to_neighbours(self, port: int, data: bytes) -> None:
        """Send a datagram to the same port of all neighbours, on every interface."""
        self.send(port, (NEIGHBOURS, port), data, ttl=1)

    def listen_stream(self, port: int) -> None:
        """Accept streams to this TCP port. They are told to ``on_stream``."""
        self._effects.append(_LISTEN.pack(LISTEN_STREAM, _port(port)))

    def connect(self, to: tuple[str, int]) -> Stream:
        """Open a stream to an address and a port. Write to it once ``on_stream`` tells CONNECTED."""
        self._streams += 1
        address, port = to
        self._effects.append(_CONNECT.pack(CONNECT, self._streams, packed(address), _port(port)))
        return Stream(self._streams, False)

    def write(self, stream: Stream, data: bytes) -> None:
        """Send bytes by a stream: 262,144 at first, later as many as ROOM tells."""
        _check_length(data)
        number, is_accepted = stream
        self._effects.append(_WRITE.pack(WRITE, is_accepted, number, len(data)) + data)

    def close(self, stream: Stream) -> None:
        """Close a stream when everything was sent. No more events about it follow."""
        self._effects.append(_CLOSE.pack(CLOSE, stream.is_accepted, stream.number))

    def note(self, what: str, about: str = "0.0.0.0", value: int = 0) -> None:
        """Write a remark into the run's table of events. ``what`` is one of the class's ``notes``.

        about: an address. value: a whole number from 0.
        """
        if what not in self._notes:
            raise ValueError(f"the remark {what!r} is not in `notes` of the class; list it there")
        name = what.encode()
        self._effects.append(_NOTE.pack(NOTE, len(name), packed(about), value) + name)

    def answer(self, program: int, message: dict[str, Any], data: bytes = b"") -> None:
        """Answer a program's command, once."""
        self._effects.append(_message(ANSWER, program, message, data))

    def tell(self, program: int, message: dict[str, Any], data: bytes = b"") -> None:
        """Tell a program something that it has not asked for just now."""
        self._effects.append(_message(TELL, program, message, data))

    def _forget_timers(self) -> None:
        self._keys.clear()
        self._numbers.clear()


def _port(number: int) -> int:
    if not 1 <= number <= 65535:
        raise ValueError(f"{number} is not a port; give 1 to 65535")
    return number


def _check_length(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        raise ValueError(f"{len(data)} bytes at once; {MOST_BYTES} is the most")


def _message(kind: int, program: int, message: dict[str, Any], data: bytes) -> bytes:
    if not isinstance(message, dict):
        raise TypeError(f"a message to a program is {message!r}; give a dict")
    head = json.dumps(message, allow_nan=False).encode()
    _check_length(head)
    _check_length(data)
    return _MESSAGE.pack(kind, program, len(head), len(data)) + head + data
