"""The interpreter's side of the pipe to Wayhop: one call of a handler, one answer with its effects.

`crates/routing/foreign/src/python` is the other side, and documents the messages.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from struct import Struct, unpack_from
from types import ModuleType
from typing import Any, NoReturn

from .application_calls import APPLICATIONS
from .handler import HandlerCx
from .protocol_calls import PROTOCOLS
from .seam import Hosted, Seam

_CALL = Struct("<IBIQIBH")  # length, kind, engine, time, queued, flags, random words
_ANSWER = Struct("<IBI")  # length, kind, random words left

_DONE, _FAILED, _MORE = range(3)
_CHUNK = 1 << 16
# A call that lasts longer than this many ticks of the limit's 20 is interrupted.
_TICKS, _MOST_TICKS = 20, 19

SEAMS = {"protocol": PROTOCOLS, "application": APPLICATIONS}


def load(path: str, seam: Seam) -> type[Any]:
    """The class of this kind in the module at this path."""
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location("wayhop_module", path)
    if spec is None or spec.loader is None:
        raise ImportError("is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["wayhop_module"] = module
    spec.loader.exec_module(module)
    return _class_of(module, seam)


def _class_of(module: ModuleType, seam: Seam) -> type[Any]:
    named = (value for value in vars(module).values() if isinstance(value, type))
    own = [cls for cls in named if cls.__module__ == module.__name__]
    derived = [cls for cls in own if issubclass(cls, seam.base)]
    last = [c for c in derived if not any(c is not other and issubclass(other, c) for other in derived)]
    base = f"wayhop.{seam.base.__name__}"
    if not last:
        others = (other for other in SEAMS.values() if any(issubclass(c, other.base) for c in own))
        remedy = next((f"; {other.remedy}" for other in others), "")
        raise TypeError(f"defines no class that is derived from {base}{remedy}")
    if len(last) > 1:
        names = ", ".join(c.__name__ for c in last)
        raise TypeError(f"defines several {seam.noun} ({names}); leave one in each file")
    return last[0]


class Pipe:
    """Messages with their length in front of them. Nobody answers the end of an engine: the next call may come with it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._rest = b""

    def read(self) -> bytes:
        """A message with its length. Ends the process when Wayhop is gone."""
        data = self._rest or self._more()
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "little"):
            data += self._more()
        end = 4 + int.from_bytes(data[:4], "little")
        self._rest = data[end:]
        return data[:end]

    def _more(self) -> bytes:
        try:
            more = os.read(self.fd, _CHUNK)
        except ConnectionResetError:  # It was killed, and had not read all.
            more = b""
        if not more:
            os._exit(0)
        return more

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


class Host:
    """The objects of all nodes of a run."""

    def __init__(self, pipe: Pipe, cls: type[Any], seam: Seam, watch: Watch) -> None:
        self.pipe = pipe
        self.cls = cls
        self.seam = seam
        self.watch = watch
        self.nodes: dict[int, Hosted[Any, Any]] = {}

    def more(self, cx: HandlerCx) -> None:
        """Asks for random numbers in the middle of a call."""
        self.pipe.write(_ANSWER.pack(_ANSWER.size - 4, _MORE, 0))
        data = self.pipe.read()
        cx._words.extend(unpack_from(f"<{(len(data) - 4) // 8}Q", data, 4))

    def run(self) -> NoReturn:
        """Makes calls until Wayhop is gone."""
        read, write, nodes, watch = self.pipe.read, self.pipe.write, self.nodes, self.watch
        calls = self.seam.calls
        begin, end = 0, len(calls)
        while True:
            data = read()
            _, kind, number, now, queued, flags, words = _CALL.unpack_from(data)
            if kind == end:
                nodes.pop(number, None)
                continue
            at = _CALL.size + words * 8
            watch.calls += 1
            watch.is_busy = True
            try:
                if kind == begin:
                    nodes[number] = self.seam.create(
                        self.cls, nodes.get(number), number, self.more, data, at
                    )
                node = nodes[number]
                cx = node.cx
                effects = cx._effects
                effects.clear()
                cx._enter(now, queued, flags)
                if words:
                    cx._words.extend(unpack_from(f"<{words}Q", data, _CALL.size))
                calls[kind](node, data, at)
            except BaseException as e:
                watch.is_busy = False
                write(_failure(e))
                continue
            watch.is_busy = False
            body = b"".join(effects)
            write(_ANSWER.pack(_ANSWER.size - 4 + len(body), _DONE, len(cx._words)) + body)


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
        seam = SEAMS[start["kind"]]
        cls = load(start["path"], seam)
        body = json.dumps(seam.describe(cls, start["path"])).encode()
    except BaseException as e:
        watch.is_busy = False
        pipe.write(_failure(e))
        return
    watch.is_busy = False
    pipe.write(_ANSWER.pack(_ANSWER.size - 4 + len(body), _DONE, 0) + body)
    # What was loaded stays: the collector need not look at it again.
    gc.freeze()
    Host(pipe, cls, seam, watch).run()
