"""Packets without sense out of a node's mesh0: random octets, and whole IPv4 headers of this node before random octets.

    nonsense.py COUNT
"""

import random
import socket
import struct
import sys

rand = random.Random(48)
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
own = socket.inet_aton(socket.gethostbyname("mesh-0"))


def sum16(b):
    t = sum(struct.unpack(f"!{len(b) // 2}H", b))
    t = (t & 65535) + (t >> 16)
    return (t & 65535) + (t >> 16)


for i in range(int(sys.argv[1])):
    if rand.randrange(4) == 0:
        packet = rand.randbytes(rand.randrange(1, 1500 if rand.randrange(20) == 0 else 80))
    else:
        body = rand.randbytes(rand.randrange(0, 60))
        protocol = rand.choice((48, 17, 6, 1, 4, 59, rand.randrange(256)))
        if protocol == 17:
            body = struct.pack("!HHHH", 654, rand.choice((654, 9)), 8 + len(body), 0) + body
        dst = own[:3] + bytes([rand.randrange(8)]) if rand.randrange(4) else rand.choice((b"\xff" * 4, b"\xe0\0\0\1", b"\0" * 4))
        flags = rand.choice((0, 0, 0x4000, 0x2000, rand.randrange(65536)))
        h = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), i & 65535, flags, rand.randrange(256), protocol, 0) + own + dst
        packet = h[:10] + struct.pack("!H", ~sum16(h) & 65535) + h[12:] + body
    try:
        s.sendto(packet, ("mesh0", 0x0800))
    except OSError:
        pass
