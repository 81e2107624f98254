"""A chain of nodes on a perfect radio, for tests of the examples without Wayhop."""

from __future__ import annotations

import heapq
import importlib.util
import random
import sys
from pathlib import Path
from socket import inet_ntoa
from struct import unpack_from
from typing import Any

import wayhop
from wayhop import context, handler, host, packet, protocol_calls

ROOT = Path(__file__).resolve().parents[2]
SPACING_DEG = 200 / 111_195


def example(name: str) -> type[wayhop.Protocol]:
    """The class of an example."""
    path = ROOT / f"examples/python/{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return host._class_of(module, protocol_calls.PROTOCOLS)


class Air:
    """Neighbours in the chain hear each other after a millisecond."""

    def __init__(self, cls: type[wayhop.Protocol], count: int) -> None:
        draws = random.Random(1)
        self.addresses = [f"10.0.0.{i + 1}" for i in range(count)]
        self.events: list[tuple[int, int, int, Any]] = []
        self.delivered: list[tuple[str, bytes]] = []
        self.dropped: list[int] = []
        self.bytes: dict[int, bytes] = {}
        self.handles = self.order = self.now = 0
        self.nodes: list[wayhop.Protocol] = []
        self.contexts = []
        for i, address in enumerate(self.addresses):
            more = lambda cx: cx._words.append(draws.getrandbits(64))  # noqa: E731
            self.contexts.append(wayhop.Cx(address, i, cls.carrier, i + 1, more))
            self.nodes.append(cls())
            self.call(i, "on_start")
            self.call(i, "on_position", wayhop.Fix(i * SPACING_DEG, 0.0))

    def at(self, time: int, node: int, event: Any) -> None:
        self.order += 1
        heapq.heappush(self.events, (time, self.order, node, event))

    def given(self, data: bytes) -> wayhop.Packet:
        self.handles += 2
        self.bytes[self.handles] = data
        return protocol_calls._packet(data, self.handles)

    def call(self, node: int, handler: str, *arguments: Any) -> None:
        cx = self.contexts[node]
        cx.now_ns = self.now
        cx._effects.clear()
        getattr(self.nodes[node], handler)(cx, *arguments)
        for effect in cx._effects:
            self.apply(node, effect)

    def data(self, effect: bytes, at: int) -> bytes:
        handle, length = unpack_from("<QI", effect, at)
        return self.bytes[handle] if length == context.UNCHANGED else effect[at + 12 :]

    def apply(self, node: int, effect: bytes) -> None:
        kind = effect[0]
        if kind == context.SEND:
            to, delay = inet_ntoa(effect[1:5]), unpack_from("<Q", effect, 7)[0]
            data = self.data(effect, 24)
            for near in (node - 1, node + 1):
                if 0 <= near < len(self.nodes) and to in (self.addresses[near], wayhop.BROADCAST):
                    self.at(self.now + delay + 1_000_000, near, ("frame", data, node))
        elif kind == context.DELIVER:
            self.delivered.append((self.addresses[node], self.data(effect, 1)))
        elif kind == context.DROP:
            self.dropped.append(effect[1])
        elif kind == handler.SET_TIMER:
            key, time = unpack_from("<QQ", effect, 1)
            self.at(time, node, ("timer", key))

    def run(self, until_s: float) -> None:
        while self.events and self.events[0][0] <= until_s * 1e9:
            self.now, _, node, event = heapq.heappop(self.events)
            if event[0] == "timer":
                self.call(node, "on_timer", self.contexts[node]._fired(event[1]))
            elif event[0] == "frame":
                rx = wayhop.Rx(self.addresses[event[2]], 0, True, -70.0, -95.0, 1000)
                self.call(node, "on_frame", self.given(event[1]), rx)
            else:
                self.call(node, "on_outbound", self.given(event[1]))

    def send(self, time_s: float, source: int, destination: int, payload: bytes) -> bytes:
        """An application sends; returns the packet as it should arrive, but for its TTL."""
        carrier = packet.Carrier(200, None)
        data = carrier.packet(payload, self.addresses[source], self.addresses[destination], 64).data
        self.at(int(time_s * 1e9), source, ("outbound", data))
        return data
