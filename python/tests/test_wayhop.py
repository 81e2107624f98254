"""The package, and an interpreter as Wayhop starts it."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python/tests")]

import air  # noqa: E402

import wayhop  # noqa: E402
from wayhop import context, handler, host, packet, parameters  # noqa: E402

SOURCES = (
    "packet", "position", "parameters", "handler", "context", "protocol", "seam", "protocol_calls", "endpoint",
    "application_context", "application", "application_calls", "host", "__init__",
)  # fmt: skip
OWN, OTHER = "10.0.0.1", "10.0.0.2"
START, OUTBOUND, FRAME, TIMER, INSPECT, END = 0, 1, 2, 5, 9, 10
DONE, FAILED, MORE = range(3)


def sources() -> list[tuple[str, str]]:
    folder = ROOT / "python/wayhop"
    names = [(name, "wayhop" if name == "__init__" else f"wayhop.{name}") for name in SOURCES]
    return [(name, (folder / f"{file}.py").read_text()) for file, name in names]


class Interpreter:
    """Wayhop's side of the socket."""

    def __init__(self, module: str, limit_s: float = 10.0, kind: str = "protocol") -> None:
        ours, theirs = socket.socketpair()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "mine.py"
        path.write_text(module)
        boot = (ROOT / "python/wayhop/boot.py").read_text()
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-B", "-c", boot],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            cwd=self.folder.name,
        )
        theirs.close()
        self.socket = ours
        self.now = 0
        start = {"sources": sources(), "path": str(path), "kind": kind, "limit_s": limit_s}
        self.write(json.dumps(start).encode())
        self.kind, _, body = self.read()
        self.description = json.loads(body)

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()

    def write(self, body: bytes) -> None:
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def read(self) -> tuple[int, int, bytes]:
        head = self.socket.recv(9, socket.MSG_WAITALL)
        length, kind, left = struct.unpack("<IBI", head)
        return kind, left, self.socket.recv(length - 5, socket.MSG_WAITALL) if length > 5 else b""

    def call(self, kind: int, body: bytes = b"", words: tuple[int, ...] = ()) -> tuple[int, int, bytes]:
        head = struct.pack(f"<BIQIBH{len(words)}Q", kind, 7, self.now, 0, 1, len(words), *words)
        self.write(head + body)
        return self.read()

    def start(self, words: tuple[int, ...] = (), **values: Any) -> tuple[int, int, bytes]:
        place = socket.inet_aton(OWN) + struct.pack("<IBB", 0, 1, 8)
        return self.call(START, place + json.dumps(values).encode(), words)


def data(payload: bytes = b"hello", source: str = OWN, destination: str = OTHER) -> bytes:
    return wayhop.ip_protocol(200).packet(payload, source, destination, 9).data


def frame(payload: bytes, handle: int) -> bytes:
    rx = socket.inet_aton(OTHER) + struct.pack("<BBffI", 0, 1, -70.0, -95.0, 1000)
    return rx + struct.pack("<Q", handle) + payload


def checksum(head: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(head) // 2}H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Packets(unittest.TestCase):
    def test_headers_are_pushed_and_popped_with_length_and_checksum(self) -> None:
        plain = data()
        p = wayhop.Packet(plain)
        p.push(253, b"\1\2\3\4")
        p.ttl = 3
        self.assertEqual((p.protocol, p.ttl, len(p)), (253, 3, len(plain) + 4))
        self.assertEqual(p.payload, b"\1\2\3\4hello")
        self.assertEqual((checksum(p.data[:20]), struct.unpack("!H", p.data[2:4])[0]), (0xFFFF, len(p)))
        self.assertEqual(p.pop(4, 200), b"\1\2\3\4")
        p.ttl = 9
        self.assertEqual(p.data, plain)
        with self.assertRaisesRegex(ValueError, "5 bytes after its IP header, not 6"):
            p.pop(6, 200)

    def test_messages_are_those_of_the_carrier(self) -> None:
        carrier = wayhop.udp(7000)
        p = carrier.packet(b"beacon", OWN, wayhop.BROADCAST, 1)
        self.assertEqual(p.message(carrier), b"beacon")
        self.assertIsNone(p.message(wayhop.udp(7001)))
        self.assertIsNone(wayhop.Packet(data()).message(carrier))
        self.assertEqual((p.source, p.destination, p.ttl), (OWN, "255.255.255.255", 1))

    def test_bytes_that_are_no_packet_are_refused(self) -> None:
        for rubbish in (b"", b"\x45", b"\x10" * 40, b"\x4f" + bytes(30)):
            with self.assertRaisesRegex(ValueError, "no IPv4 packet"):
                packet.close(rubbish)


class Contexts(unittest.TestCase):
    def setUp(self) -> None:
        self.cx = wayhop.Cx(OWN, 0, wayhop.udp(7000), 1, lambda cx: cx._words.extend([1 << 63] * 3))

    def test_a_packet_is_passed_on_once(self) -> None:
        p = self.cx.message(b"x")
        self.cx.send(p)
        for again in (lambda: self.cx.send(p), lambda: self.cx.copy(p), lambda: setattr(p, "ttl", 3)):
            with self.assertRaisesRegex(ValueError, "this packet was sent"):
                again()
        self.assertEqual(len(self.cx._effects), 1)

    def test_random_numbers_come_from_the_stream(self) -> None:
        self.assertEqual(self.cx.random(), 0.5)
        self.assertEqual(self.cx.uniform(10, 20), 15)
        self.assertEqual(self.cx.below(10), 5)
        self.assertEqual(self.cx.choice("abcd"), "c")

    def test_timers_have_keys_of_any_kind(self) -> None:
        for key in ("beacon", ("retry", OTHER), 7):
            self.cx.set_timer(key, 1.5)
        self.cx.set_timer("beacon", 2)
        self.cx.clear_timer(7)
        self.cx.clear_timer("unknown")
        kinds = [e[0] for e in self.cx._effects]
        self.assertEqual(kinds, [handler.SET_TIMER] * 4 + [handler.CLEAR_TIMER])
        self.assertEqual(self.cx._fired(2), ("retry", OTHER))
        self.assertEqual(list(self.cx._numbers), ["beacon"])

    def test_distances_on_the_ground(self) -> None:
        # A minute of latitude is a nautical mile, 1852 m, to 0.3 %.
        self.assertAlmostEqual(wayhop.Fix(0, 0).distance_m(wayhop.Fix(1 / 60, 0)), 1853.2, delta=1)


OPENED = bytes((context.OPEN, 1, 253, 0))
FLOOD = (ROOT / "examples/python/flooding.py").read_text()


class Interpreters(unittest.TestCase):
    def test_the_description_follows_from_the_class(self) -> None:
        with Interpreter(FLOOD) as host:
            d = host.description
        self.assertEqual(
            (host.kind, d["name"], d["full_name"]), (DONE, "mine", "Flooding with duplicate suppression")
        )
        self.assertEqual(d["handlers"], ["on_outbound", "on_frame"])
        self.assertEqual([p["key"] for p in d["parameters"]], ["hops", "jitter_ms"])
        self.assertEqual((d["ip_protocol"], d["port"], d["data"]), (253, None, [[-1, "flood"]]))

    def test_handlers_are_called_and_their_effects_come_back(self) -> None:
        with Interpreter(FLOOD) as host:
            self.assertEqual(host.start((5, 1 << 63), hops=4, jitter_ms=10.0), (DONE, 1, OPENED))
            _, left, sent = host.call(OUTBOUND, struct.pack("<Q", 2) + data())
            self.assertEqual((left, sent[0]), (0, context.SEND))
            self.assertEqual(struct.unpack_from("<Q", sent, 7)[0], 5_000_000)
            heard = sent[-(len(data()) + 4) :]
            again = host.call(FRAME, frame(heard, 4))[2]
            self.assertEqual(again[:2], bytes((context.DROP, wayhop.DropReason.DUPLICATE)))

    def test_it_asks_for_more_random_numbers(self) -> None:
        with Interpreter(FLOOD) as host:
            self.assertEqual(host.start()[0], MORE)
            host.write(struct.pack("<2Q", 1, 2))
            self.assertEqual(host.read(), (DONE, 1, OPENED))

    def check_failure(self, body: str, what: str, place: str, limit_s: float = 10.0) -> None:
        module = f"import os, sys, time, wayhop\n\nclass Mine(wayhop.Protocol):\n    carrier = wayhop.udp(7000)\n{body}\n"
        with Interpreter(module, limit_s) as host:
            told: dict[str, str] = host.description
            if host.kind == DONE:
                kind, _, answer = host.start()
                if kind == DONE:
                    kind, _, answer = host.call(OUTBOUND, struct.pack("<Q", 2) + data())
                self.assertEqual(kind, FAILED)
                told = json.loads(answer)
        self.assertRegex(told["what"], what)
        self.assertEqual(told["place"], place)
        self.assertNotIn("<wayhop", told["traceback"].split("mine.py")[0])

    def test_mistakes_are_told_with_their_line(self) -> None:
        self.check_failure("    def on_start(self, cx):\n        {}[5]", "KeyError: 5", " (mine.py, line 6)")
        self.check_failure(
            "    def on_outbound(self, cx, packet):\n        pass", "without passing its packet", ""
        )
        twice = "    def on_outbound(self, cx, packet):\n        cx.send(packet)\n        cx.send(packet)"
        self.check_failure(twice, "was sent already", " (mine.py, line 7)")
        self.check_failure("    ) # what", "SyntaxError", " (mine.py, line 5)")
        self.check_failure("    x = wayhop.parameter([1], '')", "give a bool, int, float or str", "")
        self.check_failure("    pass\nclass Other(wayhop.Protocol): pass", "several protocols", "")
        endless = "    def on_start(self, cx):\n        while True: pass"
        self.check_failure(
            endless, "TimeoutError: the handler did not return within 0.5 s", " (mine.py, line 6)", 0.5
        )

    def test_what_a_module_prints_does_not_disturb(self) -> None:
        module = FLOOD.replace("HEADER = 4\n", "HEADER = 4\nprint('hello')\nimport os; os.read(0, 9)\n")
        with Interpreter(module) as host:
            self.assertEqual(host.kind, DONE)

    def test_kept_packets_are_told_from_lost_ones(self) -> None:
        keep = FLOOD.replace("self.repeat(cx, packet)", "self.kept = packet", 1)
        with Interpreter(keep) as host:
            host.start((5,) * 8, hops=4, jitter_ms=10.0)
            for handle in (2, 4):
                self.assertEqual(host.call(OUTBOUND, struct.pack("<Q", handle) + data())[2], b"")
            self.assertEqual(json.loads(host.call(INSPECT)[2]), {"rows": [], "held": [4]})

    def test_it_ends_with_wayhop(self) -> None:
        with Interpreter(FLOOD) as host:
            host.socket.close()
            self.assertEqual(host.process.wait(10), 0)


REQUEST = (ROOT / "examples/python/request.py").read_text()
A_START, A_DATAGRAM, A_TIMER, A_STREAM, A_COMMAND, A_RESTART, A_FIGURES, A_GONE = 0, 1, 2, 3, 6, 8, 10, 11
MAPPED = bytes(10) + b"\xff\xff"


class Applications(unittest.TestCase):
    def begin(self, host: Interpreter, words: tuple[int, ...] = (), **values: Any) -> tuple[int, int, bytes]:
        place = MAPPED + socket.inet_aton(OWN) + struct.pack("<I", 3)
        return host.call(A_START, place + json.dumps(values).encode(), words)

    def test_the_description_follows_from_the_class(self) -> None:
        with Interpreter(REQUEST, kind="application") as host:
            d = host.description
        self.assertEqual((host.kind, d["name"]), (DONE, "request-py"))
        self.assertEqual(d["about"], "Clients that ask a server over UDP, in Python")
        self.assertEqual(d["handlers"], ["on_datagram", "on_timer", "figures"])
        self.assertEqual((d["parameters"][0]["key"], d["parameters"][0]["type"]), ("server", 4))

    def test_a_request_is_sent_answered_and_counted(self) -> None:
        values = {"server": OTHER, "think_s": 1.0, "timeout_s": 2.0, "tries": 3, "max_requests": 1}
        with Interpreter(REQUEST, kind="application") as host:
            # -ln(1 - 1/2) s, as the first random number says.
            listen = struct.pack("<BH", 1, 7071)
            at = int(0.6931471805599453 * 1e9 + 0.5)
            timer = struct.pack("<BQQ", 5, 1, at)
            self.assertEqual(self.begin(host, (1 << 63, 1 << 63), **values), (DONE, 1, listen + timer))
            host.now = at
            _, _, sent = host.call(A_TIMER, struct.pack("<Q", 1))
            request = b"WREQ\1\0\0\0" + struct.pack(">II", 0, 1000) + bytes(48)
            to = MAPPED + socket.inet_aton(OTHER) + struct.pack("<H", 7070)
            head = struct.pack("<BH", 2, 7071) + to + struct.pack("<BBI", 64, 0, 64)
            self.assertEqual(sent, head + request + struct.pack("<BQQ", 5, 2, at + 2_000_000_000))
            host.now += 5_000_000
            answer = b"WREQ\2\0\0\0" + struct.pack(">II", 0, 1000) + bytes(984)
            _, _, heard = host.call(A_DATAGRAM, struct.pack("<H", 7071) + to + answer)
            self.assertEqual(heard[:9], struct.pack("<BQ", 6, 2))
            note = struct.pack("<BH", 9, 16) + to[:16] + struct.pack("<Q", 5_000_000) + b"request_answered"
            self.assertEqual(heard[9 : 9 + len(note)], note)
            figures = json.loads(host.call(A_FIGURES)[2])
            self.assertEqual(figures["response_mean_ms"], 5.0)
            self.assertEqual((figures["requests"], figures["answered"], figures["failed"]), (1, 1, 0))
            # Its number is free again, and nobody answers.
            host.write(struct.pack("<BIQIBH", A_GONE, 7, 0, 0, 1, 0))
            self.assertEqual(self.begin(host, (1,) * 8, **values)[0], DONE)

    APPLICATION = "import wayhop\nclass Mine(wayhop.Application):\n    notes = ['seen']\n"

    def test_streams_and_commands_come_and_go(self) -> None:
        body = """
    def on_start(self, cx):
        self.all = []
        self.stream = cx.connect(("fd00::7", 80))
        cx.listen_stream(81)

    def on_stream(self, cx, event):
        self.all.append(event)
        cx.write(event.stream, b"abc")
        cx.close(event.stream)

    def on_command(self, cx, program, command, data):
        cx.answer(program, {"streams": len(self.all), "is": command["do"], "data": data.decode()})
"""
        with Interpreter(self.APPLICATION + body, kind="application") as host:
            there = socket.inet_pton(socket.AF_INET6, "fd00::7")
            connect = struct.pack("<BQ", 4, 1) + there + struct.pack("<H", 80)
            self.assertEqual(self.begin(host), (DONE, 0, connect + struct.pack("<BH", 3, 81)))
            peer = MAPPED + socket.inet_aton(OTHER) + struct.pack("<H", 9)
            event = struct.pack("<BBQBH", 0, 1, 5, 0, 81) + peer + struct.pack("<Q", 0)
            stream = struct.pack("<BQ", 1, 5)
            said = b"\7" + stream + struct.pack("<I", 3) + b"abc" + b"\x08" + stream
            self.assertEqual(host.call(A_STREAM, event), (DONE, 0, said))
            command = json.dumps({"do": "list"}).encode()
            answer = host.call(A_COMMAND, struct.pack("<QI", 12, len(command)) + command + b"xy")[2]
            kind, program, head, length = struct.unpack_from("<BQII", answer)
            self.assertEqual((kind, program, length), (10, 12, 0))
            self.assertEqual(json.loads(answer[17 : 17 + head]), {"streams": 1, "is": "list", "data": "xy"})

    def test_after_a_loss_of_memory_there_is_a_new_object_unless_the_class_prepares_one(self) -> None:
        counts = (
            "    lives = 0\n    def on_start(self, cx):\n        self.lives += 1\n"
            "        cx.set_timer('x', 1)\n    def figures(self):\n        return {'lives': self.lives}\n"
        )
        for keeps, lives in (("", 1.0), ("    def on_restart(self):\n        pass\n", 2.0)):
            with Interpreter(self.APPLICATION + counts + keeps, kind="application") as host:
                first = self.begin(host)
                self.assertEqual(host.call(A_RESTART), (DONE, 0, b""))
                # The timers of the first life are gone, and their numbers are not used again.
                self.assertEqual((first[2][1], self.begin(host)[2][1]), (1, 2))
                self.assertEqual(json.loads(host.call(A_FIGURES)[2]), {"lives": lives})

    def check_failure(self, body: str, what: str, place: str) -> None:
        with Interpreter(self.APPLICATION + body, kind="application") as host:
            told: dict[str, str] = host.description
            if host.kind == DONE:
                kind, _, answer = self.begin(host)
                if kind == DONE:
                    kind, _, answer = host.call(A_FIGURES)
                self.assertEqual(kind, FAILED)
                told = json.loads(answer)
        self.assertRegex(told["what"], what)
        self.assertEqual(told["place"], place)

    def test_mistakes_are_told_with_their_line(self) -> None:
        start = "    def on_start(self, cx):\n        "
        here = " (mine.py, line 5)"
        for body, what in (
            ("cx.listen(0)", "ValueError: 0 is not a port; give 1 to 65535"),
            ("cx.note('unseen')", "ValueError: the remark 'unseen' is not in `notes`"),
            ("cx.send(9, ('10.0.0.1', 9), bytes(70000))", "a datagram of 70000 bytes; 65507 is the most"),
            ("cx.send(9, ('nowhere', 9), b'')", "OSError"),
            ("cx.answer(1, [])", "TypeError: a message to a program is"),
            ("[].pop()", "IndexError: pop from empty list"),
        ):
            self.check_failure(start + body, what, here)
        returned = "returned an? {} from on_start \\(mine.py, line 4\\); handlers return None"
        self.check_failure(start + "return 7", returned.format("int"), "")
        self.check_failure("    async def on_start(self, cx):\n        pass", returned.format("coroutine"), "")
        self.check_failure(start + "yield", returned.format("generator"), "")
        figures = "    def figures(self):\n        return "
        for value, what in (
            ("7", "returned 7 from figures .mine.py, line 4.; return a dict"),
            ("{'Mean delay': 1}", "returned the name 'Mean delay' from figures .mine.py, line 4.; use a-z"),
            ("{'x': 'y'}", "returned 'y' as x from figures .mine.py, line 4.; give a number"),
            ("{'x': True}", "returned True as x from figures"),
        ):
            self.check_failure(figures + value, what, "")
        self.check_failure("    pass\nclass Other(wayhop.Application): pass", "several applications", "")
        with Interpreter(FLOOD, kind="application") as host:
            self.assertIn("name the file in `protocol`", host.description["what"])

    def test_undefined_figures_are_left_out(self) -> None:
        body = "    def figures(self):\n        return {'a': None, 'b': float('nan'), 'c': 3}"
        with Interpreter(self.APPLICATION + body, kind="application") as host:
            self.begin(host)
            self.assertEqual(json.loads(host.call(A_FIGURES)[2]), {"c": 3.0})


class Examples(unittest.TestCase):
    """Over four hops; in simulation, the tests of Wayhop run them."""

    def check_delivery(self, name: str) -> air.Air:
        chain = air.Air(air.example(name), 5)
        for i in range(10):
            chain.send(20 + i, 0, 4, f"packet {i}".encode())
            chain.send(20 + i, 4, 1, f"answer {i}".encode())
        chain.run(40)
        payloads = [(to, wayhop.Packet(data).payload.decode()) for to, data in chain.delivered]
        expected = [("10.0.0.5", f"packet {i}") for i in range(10)] + [
            ("10.0.0.2", f"answer {i}") for i in range(10)
        ]
        self.assertEqual(sorted(payloads), sorted(expected))
        for _, data in chain.delivered:
            p = wayhop.Packet(data)
            self.assertEqual((p.protocol, checksum(data[:20])), (200, 0xFFFF))
        return chain

    def test_flooding_delivers_once(self) -> None:
        chain = self.check_delivery("flooding")
        self.assertEqual(set(chain.dropped), {wayhop.DropReason.DUPLICATE})

    def test_greedy_delivers_along_the_chain(self) -> None:
        chain = self.check_delivery("greedy")
        self.assertEqual(chain.dropped, [])
        ttls = sorted({wayhop.Packet(data).ttl for _, data in chain.delivered})
        self.assertEqual(ttls, [61, 62])

    def test_greedy_drops_what_nobody_is_nearer_to(self) -> None:
        chain = air.Air(air.example("greedy"), 3)
        chain.send(0.0, 0, 2, b"too early")
        chain.run(30)
        self.assertEqual(chain.dropped, [wayhop.DropReason.NO_ROUTE])


class Numbers(unittest.TestCase):
    def test_types_of_parameters_follow_their_defaults(self) -> None:
        kinds = [
            parameters.Parameter(d, "", None, None, ()).described("x")["type"] for d in (True, 1, 1.5, "x")
        ]
        self.assertEqual(kinds, [2, 0, 1, 3])


class Messages(unittest.TestCase):
    def test_two_that_come_at_once_are_two(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(b"\1\0\0\0a\2\0\0\0bc")
            pipe = host.Pipe(theirs.fileno())
            self.assertEqual([pipe.read(), pipe.read()], [b"\1\0\0\0a", b"\2\0\0\0bc"])


if __name__ == "__main__":
    unittest.main()
