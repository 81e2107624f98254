"""IPv4 packets."""

from __future__ import annotations

from socket import inet_aton, inet_ntoa
from struct import unpack_from

UDP = 17
"""The IP protocol number of UDP."""
NEW = 0
"""The handle of a packet that only Python knows yet."""


class Packet:
    """An IPv4 packet, from its IP header on.

    Pass each packet that a handler receives on: send, deliver, drop or consume it, or keep it in an
    attribute for later. Afterwards it is gone, and using it again is an error. The length and the
    checksum of the IP header are updated when a packet that was changed is passed on.
    """

    __slots__ = ("_data", "_handle", "_is_changed", "_gone")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._handle = NEW
        self._is_changed = True
        self._gone: str | None = None

    def __repr__(self) -> str:
        if self._gone is not None:
            return f"<Packet, {self._gone}>"
        return f"<Packet {self.source} -> {self.destination}, {len(self._data)} bytes>"

    def __len__(self) -> int:
        return len(self._data)

    @property
    def data(self) -> bytes:
        """All bytes. Assign to replace them."""
        if self._is_changed:
            self._data = close(self._data)
        return self._data

    @data.setter
    def data(self, data: bytes) -> None:
        self._change(bytes(data))

    @property
    def source(self) -> str:
        """Source address, such as ``"10.0.0.3"``."""
        return inet_ntoa(self._data[12:16])

    @property
    def destination(self) -> str:
        """Destination address."""
        return inet_ntoa(self._data[16:20])

    @property
    def ttl(self) -> int:
        """Time to live. Wayhop does not decrement it for protocols that forward packets themselves."""
        return self._data[8]

    @ttl.setter
    def ttl(self, ttl: int) -> None:
        self._change(self._data[:8] + bytes((ttl,)) + self._data[9:])

    @property
    def protocol(self) -> int:
        """Protocol number of what follows the IP header."""
        return self._data[9]

    @property
    def header_length(self) -> int:
        """Length of the IP header, bytes."""
        return (self._data[0] & 15) * 4

    @property
    def payload(self) -> bytes:
        """What follows the IP header."""
        return self._data[(self._data[0] & 15) * 4 :]

    def push(self, protocol: int, header: bytes) -> None:
        """Insert a header behind the IP header, and set the IP header's protocol number."""
        data, at = self._data, self.header_length
        self._change(data[:9] + bytes((protocol,)) + data[10:at] + header + data[at:])

    def pop(self, length: int, protocol: int) -> bytes:
        """Remove a header of this length from behind the IP header, and set the protocol number.

        Returns the header.
        """
        data, at = self._data, self.header_length
        if len(data) < at + length:
            raise ValueError(f"the packet has {len(data) - at} bytes after its IP header, not {length}")
        self._change(data[:9] + bytes((protocol,)) + data[10:at] + data[at + length :])
        return data[at : at + length]

    def message(self, carrier: Carrier) -> bytes | None:
        """The routing message in the packet, if it is one of this carrier."""
        data = self._data
        if data[9] != carrier.ip_protocol:
            return None
        at = (data[0] & 15) * 4
        if carrier.port is None:
            return data[at:]
        if len(data) < at + 8 or unpack_from("!H", data, at + 2)[0] != carrier.port:
            return None
        return data[at + 8 :]

    def _change(self, data: bytes) -> None:
        if self._gone is not None:
            raise ValueError(f"this packet was {self._gone}; copy it before, with cx.copy(packet)")
        self._data = data
        self._is_changed = True


class Carrier:
    """The packets that carry a protocol's messages."""

    __slots__ = ("ip_protocol", "port")

    def __init__(self, ip_protocol: int, port: int | None) -> None:
        self.ip_protocol = ip_protocol
        self.port = port

    def packet(self, message: bytes, source: str, destination: str, ttl: int) -> Packet:
        """A new packet with this message."""
        if self.port is not None:
            ports = self.port.to_bytes(2, "big") * 2
            # A checksum of 0 is none (RFC 768).
            message = ports + (len(message) + 8).to_bytes(2, "big") + b"\0\0" + message
        head = bytes((0x45, 0, 0, 0, 0, 0, 0, 0, ttl, self.ip_protocol, 0, 0))
        return Packet(head + inet_aton(source) + inet_aton(destination) + message)


def ip_protocol(number: int) -> Carrier:
    """Messages directly in IP packets with this protocol number (253 and 254 are for experiments)."""
    if not 0 <= number <= 255:
        raise ValueError(f"IP protocol numbers are 0 to 255, not {number}")
    return Carrier(number, None)


def udp(port: int) -> Carrier:
    """Messages in UDP datagrams to this port."""
    if not 1 <= port <= 65535:
        raise ValueError(f"UDP ports are 1 to 65535, not {port}")
    return Carrier(UDP, port)


def close(data: bytes) -> bytes:
    """The packet with its length and the checksum of its IP header (RFC 1071)."""
    header = (data[0] & 15) * 4 if data else 0
    if header < 20 or len(data) < header or len(data) > 65535 or data[0] >> 4 != 4:
        raise ValueError(f"{len(data)} bytes that are no IPv4 packet: {data[:24].hex(' ')}")
    head = data[:2] + len(data).to_bytes(2, "big") + data[4:10] + b"\0\0" + data[12:header]
    total: int = sum(unpack_from(f"!{header // 2}H", head))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + (~total & 0xFFFF).to_bytes(2, "big") + head[12:] + data[header:]
