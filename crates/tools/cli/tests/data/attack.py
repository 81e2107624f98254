"""Frames of DSR and AODV that are wrong in every way that comes to mind, as fast as a packet socket takes them.

    attack.py INTERFACE COUNT SEED FOLDER... [--rate=FRAMES_A_SECOND]

Of the messages in the pcapng files of the folders: octets changed, cut short, made longer, with other addresses, and with
the lengths and checksums of IP put right, so that they get as far as they can. Besides: random octets behind right headers,
routes and lists as long as the octet that counts them allows, and random frames.
"""

import glob
import random
import socket
import struct
import sys
import time

RATE = next((int(a[7:]) for a in sys.argv if a.startswith("--rate=")), 0)
sys.argv = [a for a in sys.argv if not a.startswith("--rate=")]
INTERFACE, COUNT, SEED, FOLDERS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
ALL = b"\xff" * 6
MACS = [ALL, ALL, *(bytes.fromhex(f"02000a00000{i}") for i in (1, 2, 3))]


def packets(path):
    """The packets of a pcapng file of raw IP (link type 101)."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            size = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28 : at + 28 + size]
        at += length


def sum16(b):
    t = sum(struct.unpack(f"!{len(b) // 2}H", b))
    t = (t & 65535) + (t >> 16)
    return (t & 65535) + (t >> 16)


def ip(protocol, src, dst, ttl, body):
    h = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, ttl, protocol, 0) + src + dst
    return h[:10] + struct.pack("!H", ~sum16(h) & 65535) + h[12:] + body


def udp(body):
    return struct.pack("!HHHH", 654, 654, 8 + len(body), 0) + body


def dsr(options, following=59):
    return bytes([following, 0]) + struct.pack("!H", len(options)) + options


def address():
    # Nodes that there are, some that could be, and any of the mesh.
    n = rand.randrange(10)
    if n < 6:
        return bytes([10, 0, 0, rand.randrange(1, 5)])
    return bytes([10, 0, 0, rand.randrange(256)]) if n < 8 else bytes([10, 0]) + rand.randbytes(2)


def long_ones():
    n = rand.randrange(20, 63)
    route = b"".join(address() for _ in range(n))
    kind = rand.randrange(5)
    if kind == 0:
        return 48, dsr(bytes([1, min(255, 6 + len(route))]) + rand.randbytes(2) + address() + route)
    if kind == 1:
        return 48, dsr(bytes([2, 3 + len(route), 0]) + bytes([0, 0])[: rand.randrange(3)] + route)
    if kind == 2:
        flags = rand.randrange(1 << 10) << 6 | rand.randrange(64)
        return 48, dsr(bytes([96, 2 + len(route)]) + struct.pack("!H", flags) + route)
    if kind == 3:
        count = rand.randrange(100, 256)
        pairs = b"".join(address() + rand.randbytes(4) for _ in range(min(count, 170)))
        return 17, udp(bytes([3, 0, 0, count]) + pairs)
    return 48, dsr(b"\x00" * rand.randrange(1400))


def changed(packet):
    b = bytearray(packet)
    for _ in range(rand.randrange(1, 5)):
        at = rand.randrange(20, len(b))
        what = rand.randrange(4)
        if what == 0:
            b[at] = rand.randrange(256)
        elif what == 1:
            b[at] ^= 1 << rand.randrange(8)
        elif what == 2:
            b[at : at + 4] = address()
        else:
            b[at] = rand.choice((0, 1, 127, 128, 254, 255))
    cut = rand.randrange(12)
    if cut == 0:
        del b[rand.randrange(20, len(b)) :]
    elif cut == 1:
        b += rand.randbytes(rand.randrange(80))
    body = bytes(b[20:])
    if packet[9] == 17:
        body = body[:6] + b"\0\0" + body[8:]
    dst = packet[16:20] if rand.randrange(2) else address()
    return packet[9], body, dst


rand = random.Random(SEED)
seeds = [p for folder in FOLDERS for f in sorted(glob.glob(folder + "/*.pcapng")) for p in packets(f) if len(p) > 24]
assert len(seeds) > 50, "no messages to change"
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((INTERFACE, 0))
begun = time.monotonic()
for i in range(COUNT):
    while RATE and i > (time.monotonic() - begun) * RATE:
        time.sleep(0.001)
    way = rand.randrange(20)
    dst = b"\xff" * 4 if rand.randrange(2) else bytes([10, 0, 0, rand.randrange(1, 4)])
    if way < 13:
        protocol, body, dst = changed(rand.choice(seeds))
        packet = ip(protocol, address(), dst, rand.randrange(1, 256), body)
    elif way < 16:
        body = rand.randbytes(rand.randrange(120))
        if way == 13:
            packet = ip(17, address(), dst, rand.randrange(1, 256), udp(bytes([rand.randrange(5)]) + body))
        else:
            packet = ip(48, address(), dst, rand.randrange(1, 256), dsr(body, rand.choice((59, 6, 17, 1))))
    elif way < 18:
        protocol, body = long_ones()
        packet = ip(protocol, address(), dst, rand.randrange(1, 256), body[:1480])
    elif way == 18:
        packet = rand.choice(seeds)[: rand.randrange(60)]
    else:
        packet = rand.randbytes(rand.randrange(100))
    mac = b"\x02\x00\x0a\x00\x01" + bytes([rand.randrange(256)]) if rand.randrange(4) else b"\x02" + rand.randbytes(5)
    try:
        s.send(rand.choice(MACS) + mac + b"\x08\x00" + packet)
    except OSError:
        pass
