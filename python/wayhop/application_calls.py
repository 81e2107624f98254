"""Calls of an application's handlers, and the description of its class.

`crates/routing/foreign/src/python/application` is the other side, and documents the messages.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from inspect import unwrap
from math import isfinite
from pathlib import Path
from struct import Struct
from typing import Any, Callable

from .application import Application
from .application_context import ApplicationCx
from .endpoint import Endpoint, Stream, StreamEnd, StreamEvent, StreamEventKind, unpacked
from .handler import HandlerCx
from .position import Fix
from .seam import Hosted, Seam, default_name, own_handlers, summary

_START = Struct("<16sI")
_DATAGRAM = Struct("<H16sH")
_KEY = Struct("<Q")
_STREAM = Struct("<BBQBH16sHQ")
_FIX = Struct("<ddff")
_COMMAND = Struct("<QI")
_NOBODY = 0xFFFF_FFFF
"""The number of a node that has none."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")

_HANDLERS = (
    "on_datagram", "on_timer", "on_stream", "on_position", "on_neighbours", "on_command", "on_resume",
    "on_end", "figures",
)  # fmt: skip

Node = Hosted[Application, ApplicationCx]
"""One node's application."""


def describe(cls: type[Application], path: str) -> dict[str, Any]:
    """What Wayhop needs to know of the class."""
    return {
        "name": cls.name or default_name(path),
        "about": cls.about or summary(cls),
        "version": f"{cls.version} (Python {platform.python_version()})".strip(),
        "parameters": [value.described(key) for key, value in cls._parameters.items()],
        "notes": list(cls.notes),
        "handlers": own_handlers(cls, Application, _HANDLERS),
    }


def create(
    cls: type[Application],
    before: Node | None,
    _number: int,
    more: Callable[[HandlerCx], None],
    data: bytes,
    at: int,
) -> Node:
    """A node's application. After a loss of memory, the one that ``on_restart`` prepared, or a new one."""
    if before is not None and not before.is_lost:
        return before
    address, node = _START.unpack_from(data, at)
    number = None if node == _NOBODY else node
    cx = before.cx if before is not None else ApplicationCx(unpacked(address), number, cls.notes, more)
    application = cls.__new__(cls)
    application.__dict__.update(json.loads(data[at + _START.size :]))
    application.__init__()  # type: ignore[misc]
    return Hosted(application, cx)


class WrongReturn(TypeError):
    """A method returned what it must not."""


def _refuse(method: Callable[..., Any], what: str, remedy: str) -> WrongReturn:
    code = getattr(unwrap(method), "__code__", None)
    place = f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code else ""
    return WrongReturn(f"returned {what}{place}; {remedy}")


def _check(returned: object, method: Callable[..., Any]) -> None:
    """Handlers return nothing: a coroutine of an ``async def`` would never run."""
    if returned is not None:
        name = type(returned).__name__
        what = f"{'an' if name[0] in 'aeiou' else 'a'} {name} from {method.__name__}"
        raise _refuse(method, what, "handlers return None, and are neither async nor generators")


def _start(node: Node, _data: bytes, _at: int) -> None:
    handler = node.object.on_start
    _check(handler(node.cx), handler)


def _datagram(node: Node, data: bytes, at: int) -> None:
    port, address, other = _DATAGRAM.unpack_from(data, at)
    handler = node.object.on_datagram
    sender = Endpoint(unpacked(address), other)
    _check(handler(node.cx, port, sender, data[at + _DATAGRAM.size :]), handler)


def _timer(node: Node, data: bytes, at: int) -> None:
    key = node.cx._fired(_KEY.unpack_from(data, at)[0])
    handler = node.object.on_timer
    _check(handler(node.cx, key), handler)


def _stream(node: Node, data: bytes, at: int) -> None:
    number, is_accepted, stream, end, port, address, other, length = _STREAM.unpack_from(data, at)
    kind = StreamEventKind(number)
    has_peer = kind in (StreamEventKind.ACCEPTED, StreamEventKind.CONNECTED)
    event = StreamEvent(
        kind,
        Stream(stream, is_accepted != 0),
        Endpoint(unpacked(address), other) if has_peer else None,
        port,
        data[at + _STREAM.size :],
        length,
        StreamEnd(end) if kind == StreamEventKind.CLOSED else None,
    )
    handler = node.object.on_stream
    _check(handler(node.cx, event), handler)


def _position(node: Node, data: bytes, at: int) -> None:
    handler = node.object.on_position
    _check(handler(node.cx, Fix(*_FIX.unpack_from(data, at))), handler)


def _neighbours(node: Node, data: bytes, at: int) -> None:
    handler = node.object.on_neighbours
    neighbours = [unpacked(data[i : i + 16]) for i in range(at, len(data), 16)]
    _check(handler(node.cx, neighbours), handler)


def _command(node: Node, data: bytes, at: int) -> None:
    program, length = _COMMAND.unpack_from(data, at)
    at += _COMMAND.size
    handler = node.object.on_command
    command = json.loads(data[at : at + length])
    _check(handler(node.cx, program, command, data[at + length :]), handler)


def _resume(node: Node, _data: bytes, _at: int) -> None:
    handler = node.object.on_resume
    _check(handler(node.cx), handler)


def _restart(node: Node, _data: bytes, _at: int) -> None:
    node.cx._forget_timers()
    if type(node.object).on_restart is Application.on_restart:
        node.is_lost = True
        return
    handler = node.object.on_restart
    _check(handler(), handler)


def _end(node: Node, data: bytes, at: int) -> None:
    handler = node.object.on_end
    _check(handler(node.cx, data[at] != 0), handler)


def _figures(node: Node, _data: bytes, _at: int) -> None:
    """Its answer is JSON: the figures that are defined."""
    method = node.object.figures
    figures = method()
    if not isinstance(figures, Mapping):
        remedy = "return a dict of numbers by name"
        raise _refuse(method, f"{figures!r:.80} from figures", remedy)
    known: dict[str, float] = {}
    for name, value in figures.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            remedy = "use a-z, 0-9 and _, from a letter on, 32 characters at most"
            raise _refuse(method, f"the name {name!r:.80} from figures", remedy)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _refuse(method, f"{value!r:.80} as {name} from figures", "give a number, or None")
        if isfinite(value):
            known[name] = float(value)
    node.cx._effects[:] = [json.dumps(known).encode()]


# By kind of call.
APPLICATIONS = Seam(
    Application,
    "applications",
    "its class is an application: name the file in [[applications]]",
    describe,
    create,
    (
        _start, _datagram, _timer, _stream, _position, _neighbours, _command, _resume, _restart, _end,
        _figures,
    ),
)  # fmt: skip
