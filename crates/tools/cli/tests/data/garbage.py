"""Everything but proper requests to a control socket, and at its end one proper request, which must be answered.

    garbage.py SOCKET CONNECTIONS
"""

import json
import random
import socket
import sys

PATH, CONNECTIONS = sys.argv[1], int(sys.argv[2])
rand = random.Random(5)


def connect():
    s = socket.socket(socket.AF_UNIX)
    # Waits while the listener's queue is full; with a time limit it would fail at once (connect(2), EAGAIN).
    s.connect(PATH)
    s.settimeout(10)
    return s


def send(data):
    """Sends until the other end has had enough; what it answers is not read."""
    s = connect()
    try:
        s.sendall(data)
    except OSError:
        pass
    s.close()


# Connections that come and go.
for _ in range(CONNECTIONS):
    s = socket.socket(socket.AF_UNIX)
    s.connect(PATH)
    if rand.randrange(4) == 0:
        try:
            s.send(b'{"wayhop": 1, "do": "tabl')
        except OSError:
            pass
    s.close()
# Octets, lines without end, lines of any length, text that is no JSON, JSON that is no request.
for _ in range(300):
    send(rand.randbytes(rand.randrange(100_000)))
send(b"x" * 20_000_000)
send(b'{"wayhop": 1, "do": "hello", "id": ' + b"9" * 1_000_000 + b"}\n")
send(b"[" * 60_000 + b"\n" + b'{"a":' * 10_000 + b"\n")
send(b"\n" * 1_000_000)
words = ["wayhop", "do", "id", "node", 1, 0, -1, 1e308, None, True, "hello", "tables", "set-parameters", "values", {}, []]
words += ["set-position", "place", {"x": 1e300, "y": "\u0000"}, "subscribe", "events", "set-link", "a", "b", "\ud800"]
for _ in range(3_000):
    request = {str(rand.choice(words)): rand.choice(words) for _ in range(rand.randrange(6))}
    send(json.dumps(rand.choice([request, list(request), str(request)])).encode() + b"\n")
# Clients that ask and never read, and clients that begin and never end, as many as there may be.
greedy = []
for i in range(40):
    try:
        s = connect()
        s.settimeout(0.2)
        greedy.append(s)
        s.sendall(b'{"wayhop": 1, "do": "tables"}\n' * 20_000 if i % 2 else b'{"wayhop": 1, "do"')
    except OSError:
        pass
for s in greedy:
    s.close()
while True:
    s = connect()
    try:
        s.sendall(b'{"wayhop": 1, "do": "hello", "id": 77}\n')
        answer = json.loads(s.makefile().readline())
    except (OSError, ValueError):
        continue
    # The places of those who have just gone may be taken still.
    if answer.get("error", {}).get("code") == "busy":
        s.close()
        continue
    assert answer["id"] == 77 and answer["ok"]["wayhop"], answer
    break
