"""What somebody without a key sends to nodes that have one: their own routing frames again, changed, and forged.

    outsider.py INTERFACE COUNT SEED RATE

Listens for 3 s at least, until it has heard a routing frame, for a minute at most. Then it sends COUNT frames, RATE a second, and goes on
listening. A third are routing frames of DSR, AODV or DSDV as they were
heard, with their link addresses; a third have some octets behind the IP header changed, checksums put right; a third have other addresses
and numbers in their messages and a block of random octets, under link addresses of nodes. Prints
how many were heard, and in what time all were sent.
"""

import collections
import random
import socket
import struct
import sys
import time

INTERFACE, COUNT, SEED, RATE = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
DSR, UDP, PORTS = 48, 17, (654, 269)


def is_routing(frame):
    if frame[12:14] != b"\x08\x00" or len(frame) < 42:
        return False
    if frame[23] == DSR:
        # Without data: no next header.
        return frame[34] == 59
    return frame[23] == UDP and struct.unpack_from("!H", frame, 36)[0] in PORTS


def sum16(b):
    t = sum(struct.unpack(f"!{len(b) // 2}H", b))
    t = (t & 65535) + (t >> 16)
    return (t & 65535) + (t >> 16)


def put_right(b):
    """The checksum of IP; none of UDP."""
    b[24:26] = b"\0\0"
    b[24:26] = struct.pack("!H", ~sum16(bytes(b[14:34])) & 65535)
    if b[23] == UDP:
        b[40:42] = b"\0\0"


def changed(frame):
    b = bytearray(frame)
    for _ in range(rand.randrange(1, 4)):
        b[rand.randrange(42, len(b))] ^= 1 << rand.randrange(8)
    put_right(b)
    return b


def forged(frame):
    b = bytearray(frame)
    for at in range(42, len(b) - 36):
        if b[at : at + 3] == b"\x0a\x00\x00":
            b[at + 3] = rand.randrange(1, 80)
        elif rand.randrange(8) == 0:
            b[at] = rand.randrange(256)
    b[-28:] = rand.randbytes(28)
    b[29] = rand.randrange(1, 5)
    b[11] = b[29]
    put_right(b)
    return b


rand = random.Random(SEED)
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((INTERFACE, 0))
# PACKET_QDISC_BYPASS.
s.setsockopt(263, 20, 1)
air = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
air.bind((INTERFACE, 0))
air.setblocking(False)
heard = collections.deque(maxlen=400)
total = 0


def listen():
    global total
    try:
        frame, (_, _, kind, *_) = air.recvfrom(2048)
    except BlockingIOError:
        return False
    # Not what it sent itself.
    if kind != socket.PACKET_OUTGOING and is_routing(frame):
        heard.append(frame)
        total += 1
    return True


began = time.monotonic()
while time.monotonic() < began + (3 if heard else 60):
    listen() or time.sleep(0.01)
assert heard, "no routing frames"
begun = time.monotonic()
for i in range(COUNT):
    if i % 64 == 0:
        while listen():
            pass
    while i > (time.monotonic() - begun) * RATE:
        time.sleep(0.001)
    frame = rand.choice(heard)
    way = i % 3
    s.send(frame if way == 0 else changed(frame) if way == 1 else forged(frame))
print(f"{total} frames heard, {COUNT} sent in {time.monotonic() - begun:.1f} s")
