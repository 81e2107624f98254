"""The other nodes of one of ns-3's captures, on an Ethernet: they say what the capture's node heard, and answer ARP.

    ns3_wire.py play CAPTURE OWN FROM_S TO_S     sends the frames of that time, at their times
    ns3_wire.py record OUT                       answers ARP requests, and writes what the node under test sends as pcap

OWN is the number of the capturing node, in whose place the node under test is. ns-3's node N has the IP address 10.1.1.N
and here the link address 02:00:0a:01:01:0N; that of the node under test is 02:00:0a:00:00:01. ns-3 leaves IP header
checksums zero; the right ones are put in.
"""

import socket
import struct
import sys
import time

UNDER_TEST = bytes.fromhex("02000a000001")
ALL = b"\xff" * 6


def mac(n):
    return bytes.fromhex("02000a0101") + bytes([n])


def frames(path, own):
    """Time and Ethernet frame of each IPv4 packet that the capturing node heard (pcap, IEEE 802.11 data frames)."""
    with open(path, "rb") as f:
        data = f.read()
    at, begun = 24, None
    while at < len(data):
        s, us, size, _ = struct.unpack_from("<IIII", data, at)
        frame, at = data[at + 16 : at + 16 + size], at + 16 + size
        begun = s * 1_000_000 + us if begun is None else begun
        if frame[0] & 0x0C != 8 or frame[30:32] != b"\x08\x00":
            continue
        receiver, transmitter, ip = frame[4:10], frame[10:16], frame[32:]
        if transmitter[5] == own or receiver not in (ALL, bytes(5) + bytes([own])):
            continue
        ip = ip[: struct.unpack_from("!H", ip, 2)[0]]
        head = ip[:10] + b"\0\0" + ip[12:20]
        t = sum(struct.unpack("!10H", head))
        t = (t & 65535) + (t >> 16)
        ip = head[:10] + struct.pack("!H", ~((t & 65535) + (t >> 16)) & 65535) + head[12:] + ip[20:]
        to = ALL if receiver == ALL else UNDER_TEST
        yield (s * 1_000_000 + us - begun) / 1e6, to + mac(transmitter[5]) + b"\x08\x00" + ip


def play(s, path, own, begin, end):
    start = time.monotonic()
    for at, frame in frames(path, own):
        if begin <= at <= end:
            time.sleep(max(0.0, start + at - begin - time.monotonic()))
            s.send(frame)


def record(s, path):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        out.flush()
        while True:
            frame = s.recv(65535)
            if frame[6:12] != UNDER_TEST:
                continue
            now = time.time()
            out.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(frame), len(frame)) + frame)
            out.flush()
            if frame[12:14] == b"\x08\x06" and frame[21] == 1 and frame[38:41] == bytes([10, 1, 1]):
                own, asked = mac(frame[41]), frame[38:42]
                s.send(UNDER_TEST + own + frame[12:20] + b"\0\2" + own + asked + frame[22:32])


wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.bind(("eth1", 0))
if sys.argv[1] == "play":
    play(wire, sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
else:
    record(wire, sys.argv[2])
