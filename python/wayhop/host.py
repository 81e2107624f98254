"""The interpreter's side of the pipe to Wayhop: one call of a handler, one answer with its effects.

`crates/routing/foreign/src/python` is the other side, and documents the messages.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import platform
import signal
import sys
import traceback
from pathlib import Path
from socket import inet_ntoa
from struct import Struct, unpack_from
from types import ModuleType
from typing import Any, Callable, NoReturn

from .context import Cx
from .packet import NEW, Packet
from .protocol import DropReason, Fix, LinkChange, Protocol, RouteUse, Rx, TxReport, TxStatus

_CALL = Struct("<IBIQIBH")  # length, kind, engine, time, queued, flags, random words
_ANSWER = Struct("<IBI")  # length, kind, random words left
_START = Struct("<4sIBB")
_RX = Struct("<4sBBffI")
_HANDLE = Struct("<Q")
_REPORT = Struct("<BQ4sBBBQ")
_ROUTE_USED = Struct("<4s4s4sB4sB")
_LINK = Struct("<BB")
_FIX = Struct("<ddff")

_DONE, _FAILED, _MORE = range(3)
_CHUNK = 1 << 16
# A call that lasts longer than this many ticks of the limit's 20 is interrupted.
_TICKS, _MOST_TICKS = 20, 19

_HANDLERS = (
    "on_outbound", "on_frame", "on_overheard", "on_tx_status", "on_timer", "on_route_used", "on_link",
    "on_position", "inspect",
)  # fmt: skip


class Engine:
    """One node's protocol."""

    __slots__ = ("protocol", "cx", "number")

    def __init__(self, protocol: Protocol, cx: Cx, number: int) -> None:
        self.protocol = protocol
        self.cx = cx
        self.number = number


def load(path: str) -> type[Protocol]:
    """The class of the module at this path."""
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location("wayhop_protocol", path)
    if spec is None or spec.loader is None:
        raise ImportError("is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["wayhop_protocol"] = module
    spec.loader.exec_module(module)
    return _class_of(module)


def _class_of(module: ModuleType) -> type[Protocol]:
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Protocol) and value.__module__ == module.__name__
    ]
    last = [c for c in own if not any(c is not other and issubclass(other, c) for other in own)]
    if not last:
        raise TypeError("defines no class that is derived from wayhop.Protocol")
    if len(last) > 1:
        names = ", ".join(c.__name__ for c in last)
        raise TypeError(f"defines several protocols ({names}); leave one in each file")
    return last[0]


def describe(cls: type[Protocol], path: str) -> dict[str, Any]:
    """What Wayhop needs to know of the class."""
    if not hasattr(cls, "carrier"):
        raise TypeError(f"has no carrier in class {cls.__name__}; add `carrier = wayhop.udp(7000)`")
    doc = (cls.__doc__ or "").strip().splitlines()
    stem = "".join(c if c.isalnum() else "-" for c in Path(path).stem.lower())
    return {
        "name": cls.name or stem,
        "full_name": cls.full_name or (doc[0].rstrip(".") if doc else ""),
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
        "handlers": [h for h in _HANDLERS if getattr(cls, h) is not getattr(Protocol, h)],
    }


class Pipe:
    """Messages with their length in front of them. Nobody answers the end of an engine: the next call may come with it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._rest = b""

    def read(self) -> bytes:
        """A message with its length. Ends the process when Wayhop is gone."""
        data = self._rest or os.read(self.fd, _CHUNK)
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "little"):
            more = os.read(self.fd, _CHUNK)
            if not more:
                os._exit(0)
            data += more
        end = 4 + int.from_bytes(data[:4], "little")
        self._rest = data[end:]
        return data[:end]

    def write(self, data: bytes) -> None:
        """Writes a message with its length."""
        sent = os.write(self.fd, data)
        while sent < len(data):
            sent += os.write(self.fd, data[sent:])


class Watch:
    """Interrupts a call that takes too long, with an exception at the line where it is."""

    def __init__(self, limit_s: float) -> None:
        self.calls = 0
        self.is_busy = False
        self.limit_s = limit_s
        self._seen = (0, 0)
        if limit_s > 0:
            signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, limit_s / _TICKS, limit_s / _TICKS)

    def _tick(self, *_: object) -> None:
        calls, ticks = self._seen
        if not self.is_busy or calls != self.calls:
            self._seen = (self.calls, 0)
            return
        self._seen = (calls, ticks + 1)
        if ticks + 1 >= _MOST_TICKS:
            raise TimeoutError(f"the handler did not return within {self.limit_s:g} s")


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
    engine.protocol.on_outbound(engine.cx, packet)
    _check_passed_on(packet)


def _rx(data: bytes, at: int) -> Rx:
    sender, interface, is_broadcast, signal_dbm, noise_dbm, rate = _RX.unpack_from(data, at)
    return Rx(inet_ntoa(sender), interface, is_broadcast != 0, signal_dbm, noise_dbm, rate)


def _frame(engine: Engine, data: bytes, at: int) -> None:
    rx = _rx(data, at)
    at += _RX.size
    packet = _packet(data[at + 8 :], _HANDLE.unpack_from(data, at)[0])
    engine.protocol.on_frame(engine.cx, packet, rx)
    _check_passed_on(packet)


def _overheard(engine: Engine, data: bytes, at: int) -> None:
    rx = _rx(data, at)
    at += _RX.size
    engine.protocol.on_overheard(engine.cx, data[at + 4 :], inet_ntoa(data[at : at + 4]), rx)


def _tx_status(engine: Engine, data: bytes, at: int) -> None:
    has_report, report, next_hop, interface, status, tries, handle = _REPORT.unpack_from(data, at)
    packet = _packet(data[at + _REPORT.size :], handle) if handle != NEW else None
    engine.protocol.on_tx_status(
        engine.cx,
        TxReport(
            report if has_report else None, inet_ntoa(next_hop), interface, TxStatus(status), tries, packet
        ),
    )
    if packet is not None:
        _check_passed_on(packet)


def _timer(engine: Engine, data: bytes, at: int) -> None:
    key = engine.cx._fired(_HANDLE.unpack_from(data, at)[0])
    engine.protocol.on_timer(engine.cx, key)


def _route_used(engine: Engine, data: bytes, at: int) -> None:
    source, destination, next_hop, has_previous, previous, interface = _ROUTE_USED.unpack_from(data, at)
    used = RouteUse(
        inet_ntoa(source),
        inet_ntoa(destination),
        inet_ntoa(next_hop),
        inet_ntoa(previous) if has_previous else None,
        interface,
    )
    engine.protocol.on_route_used(engine.cx, used)


def _link(engine: Engine, data: bytes, at: int) -> None:
    interface, change = _LINK.unpack_from(data, at)
    engine.protocol.on_link(engine.cx, interface, LinkChange(change))


def _position(engine: Engine, data: bytes, at: int) -> None:
    engine.protocol.on_position(engine.cx, Fix(*_FIX.unpack_from(data, at)))


def _inspect(engine: Engine, _data: bytes, _at: int) -> None:
    """Its answer is JSON: rows of tables, and the handles of the packets that somebody still has."""
    tables = engine.protocol.inspect()
    # Those of all nodes: handles contain the engine.
    held = [p._handle for p in gc.get_objects() if type(p) is Packet and p._gone is None]
    rows = [[table, {k: str(v) for k, v in row.items()}] for table, all_ in tables.items() for row in all_]
    engine.cx._effects[:] = [json.dumps({"rows": rows, "held": held}).encode()]


# By kind of call; 0 is the start, and the last one ends an engine.
_CALLS: tuple[Callable[[Engine, bytes, int], None], ...] = (
    _outbound, _frame, _overheard, _tx_status, _timer, _route_used, _link, _position, _inspect,
)  # fmt: skip
_BEGIN, _END = 0, len(_CALLS) + 1


class Host:
    """All engines of a run."""

    def __init__(self, pipe: Pipe, cls: type[Protocol], watch: Watch) -> None:
        self.pipe = pipe
        self.cls = cls
        self.watch = watch
        self.engines: dict[int, Engine] = {}

    def more(self, cx: Cx) -> None:
        """Asks for random numbers in the middle of a call."""
        self.pipe.write(_ANSWER.pack(_ANSWER.size - 4, _MORE, 0))
        data = self.pipe.read()
        cx._words.extend(unpack_from(f"<{(len(data) - 4) // 8}Q", data, 4))

    def run(self) -> NoReturn:
        """Makes calls until Wayhop is gone."""
        read, write, engines, watch = self.pipe.read, self.pipe.write, self.engines, self.watch
        while True:
            data = read()
            _, kind, number, now, queued, flags, words = _CALL.unpack_from(data)
            at = _CALL.size + words * 8
            watch.calls += 1
            watch.is_busy = True
            try:
                if _BEGIN < kind < _END:
                    engine = engines[number]
                    cx = engine.cx
                    effects = cx._effects
                    effects.clear()
                    cx.now_ns, cx.queued, cx.acknowledges = now, queued, flags != 0
                    if words:
                        cx._words.extend(unpack_from(f"<{words}Q", data, _CALL.size))
                    _CALLS[kind - 1](engine, data, at)
                elif kind == _BEGIN:
                    cx = self._begin(number, now, queued, flags, data, at, words)
                    effects = cx._effects
                else:
                    del engines[number]
                    watch.is_busy = False
                    continue
            except BaseException as e:
                watch.is_busy = False
                write(_failure(e))
                continue
            watch.is_busy = False
            body = b"".join(effects)
            write(_ANSWER.pack(_ANSWER.size - 4 + len(body), _DONE, len(cx._words)) + body)

    def _begin(self, number: int, now: int, queued: int, flags: int, data: bytes, at: int, words: int) -> Cx:
        address, node, interfaces, prefix_length = _START.unpack_from(data, at)
        cls = self.cls
        cx = Cx(inet_ntoa(address), node, cls.carrier, number, self.more)
        cx.interfaces, cx.prefix_length = interfaces, prefix_length
        cx.now_ns, cx.queued, cx.acknowledges = now, queued, flags != 0
        cx._words.extend(unpack_from(f"<{words}Q", data, _CALL.size))
        protocol = cls.__new__(cls)
        protocol.__dict__.update(json.loads(data[at + _START.size :]))
        protocol.__init__()  # type: ignore[misc]
        self.engines[number] = Engine(protocol, cx, number)
        cx.open(cls.carrier)
        protocol.on_start(cx)
        return cx


def _is_ours(file: str) -> bool:
    return file.startswith("<wayhop") or "importlib" in file


def told(e: BaseException) -> dict[str, str]:
    """The exception in a line, with the last line of the user's code, and its traceback."""
    tb = e.__traceback__
    while tb is not None and tb.tb_next is not None and _is_ours(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    own: list[traceback.FrameSummary] = [f for f in traceback.extract_tb(tb) if not _is_ours(f.filename)]
    # The package's own errors are sentences; those of users have their type.
    only = "".join(traceback.format_exception_only(type(e), e)).strip().splitlines()[-1]
    what = only if own or isinstance(e, SyntaxError) else str(e)
    if isinstance(e, SyntaxError) and e.filename:
        place = f" ({Path(e.filename).name}, line {e.lineno})"
    else:
        place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    shown = traceback.TracebackException(type(e), e, tb)
    shown.stack = traceback.StackSummary.from_list(own)
    lines = "".join(shown.format())
    return {"what": what, "place": place, "traceback": lines if own or isinstance(e, SyntaxError) else ""}


def _failure(e: BaseException) -> bytes:
    body = json.dumps(told(e)).encode()
    return _ANSWER.pack(_ANSWER.size - 4 + len(body), _FAILED, 0) + body


def serve(fd: int, start: dict[str, Any]) -> None:
    """Loads the module, describes its class, and makes calls."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = Pipe(fd)
    watch = Watch(start["limit_s"])
    watch.is_busy = True
    try:
        cls = load(start["path"])
        answer = _ANSWER, _DONE, json.dumps(describe(cls, start["path"])).encode()
    except BaseException as e:
        watch.is_busy = False
        pipe.write(_failure(e))
        return
    watch.is_busy = False
    body = answer[2]
    pipe.write(_ANSWER.pack(_ANSWER.size - 4 + len(body), _DONE, 0) + body)
    # What was loaded stays: the collector need not look at it again.
    gc.freeze()
    Host(pipe, cls, watch).run()


__all__ = ["DropReason", "Host", "Pipe", "Watch", "describe", "load", "serve", "told"]
