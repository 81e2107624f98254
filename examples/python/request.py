"""Requests and answers over UDP: the application `request` of Wayhop in Python.

A node with a `server` is a client: it sends a request, waits a random time after the answer, and
sends the next one; without an answer it tries again. A node without a `server` answers.
"""

from struct import Struct

import wayhop
from wayhop import ApplicationCx, Endpoint

PORT, CLIENT_PORT, LONGEST = 7070, 7071, 1400
MESSAGE = Struct(">8sII")  # kind, number of the request, bytes of the answer
REQUEST, ANSWER = b"WREQ\1\0\0\0", b"WREQ\2\0\0\0"


class Request(wayhop.Application):
    """Clients that ask a server over UDP, in Python."""

    name = "request-py"
    notes = ("request_answered", "request_retried", "request_failed")

    server = wayhop.address_parameter("Whom to ask; without it, a server")
    think_s = wayhop.parameter(1.0, "Mean time to the next request", minimum=0, maximum=86400)
    timeout_s = wayhop.parameter(2.0, "How long a client waits", minimum=0.001, maximum=86400)
    tries = wayhop.parameter(3, "How often a request is sent", minimum=1, maximum=1000)
    max_requests = wayhop.parameter(0, "Requests per client; 0: any number", minimum=0, maximum=2**32)

    def __init__(self) -> None:
        names = ("requests", "answered", "failed", "retries") if self.server else ("requests_served",)
        self.count, self.waited_ns, self.is_waiting = dict.fromkeys(names, 0), 0, False

    def on_start(self, cx: ApplicationCx) -> None:
        cx.listen(CLIENT_PORT if self.server else PORT)
        if self.server:
            cx.set_timer("thought", cx.exponential(self.think_s))

    def on_datagram(self, cx: ApplicationCx, port: int, sender: Endpoint, data: bytes) -> None:
        kind, number, length = MESSAGE.unpack_from(data.ljust(MESSAGE.size, b"\0"))
        if kind == REQUEST and not self.server:
            self.count["requests_served"] += 1
            cx.send(port, sender, MESSAGE.pack(ANSWER, number, length).ljust(min(length, LONGEST), b"\0"))
        elif self.is_waiting and (kind, number, sender.address) == self.expected:
            cx.clear_timer("timeout")
            self.waited_ns += cx.now_ns - self.since_ns
            self.think(cx, "answered", cx.now_ns - self.since_ns)

    def on_timer(self, cx: ApplicationCx, key: object) -> None:
        if key == "timeout" and self.tried == self.tries:
            self.think(cx, "failed", self.tried)
        elif key == "timeout":
            self.count["retries"] += 1
            cx.note("request_retried", self.server, self.tried + 1)
            self.ask(cx, self.tried + 1)
        elif not self.max_requests or self.count["requests"] < self.max_requests:
            self.is_waiting, self.since_ns = True, cx.now_ns
            self.expected = (ANSWER, self.count["requests"], self.server)
            self.count["requests"] += 1
            self.ask(cx, 1)

    def ask(self, cx: ApplicationCx, tried: int) -> None:
        self.tried = tried
        request = MESSAGE.pack(REQUEST, self.expected[1], 1000)
        cx.send(CLIENT_PORT, (self.server, PORT), request.ljust(64, b"\0"))
        cx.set_timer("timeout", self.timeout_s)

    def think(self, cx: ApplicationCx, how: str, value: int) -> None:
        self.is_waiting = False
        self.count[how] += 1
        cx.note(f"request_{how}", self.server, value)
        cx.set_timer("thought", cx.exponential(self.think_s))

    def on_restart(self) -> None:  # the counters are the run's, and the numbers go on
        if self.is_waiting:
            self.is_waiting, self.count["failed"] = False, self.count["failed"] + 1

    def figures(self) -> "dict[str, float | None]":
        answered = self.count.get("answered")
        return {**self.count, "response_mean_ms": self.waited_ns / 1e6 / answered if answered else None}
