"""What the arithmetic of the IEEE 802.11 DCF gives for saturated senders, without a simulator.

Direct-sequence PHY: slot 20 us, SIFS 10 us, DIFS 50 us, long preamble and header 192 us, contention windows 31 to 1023.
"""

SLOT_US, SIFS_US, DIFS_US, PLCP_US = 20.0, 10.0, 50.0, 192.0
WINDOW_MIN, WINDOW_DOUBLINGS = 32, 5
RTS_BYTES, CTS_BYTES, ACK_BYTES = 20, 14, 14
# MAC header with frame check sequence: ns-2.35 counts four addresses; IEEE 802.11 has three, and LLC/SNAP after them.
MAC_BYTES_NS2, MAC_BYTES_IEEE = 34, 28 + 8


def frame_us(size_bytes, rate_mbps):
    """Air time of a frame with its preamble and header."""
    return PLCP_US + 8.0 * size_bytes / rate_mbps


def eifs_us():
    """What a station waits after a frame that it could not read: an ACK at 1 Mb/s would fit."""
    return SIFS_US + DIFS_US + frame_us(ACK_BYTES, 1.0)


def exchange_us(ip_bytes, mac_bytes, data_mbps=2.0, basic_mbps=2.0):
    """A four-way exchange with the DIFS before it: RTS, CTS, DATA, ACK and the three SIFS between."""
    control = sum(frame_us(size, basic_mbps) for size in (RTS_BYTES, CTS_BYTES, ACK_BYTES))
    return DIFS_US + control + frame_us(ip_bytes + mac_bytes, data_mbps) + 3 * SIFS_US


def single_sender_kbps(ip_bytes, mac_bytes, payload_bytes, backoff_slots_mean=(WINDOW_MIN - 1) / 2, **rates):
    """The goodput of one sender that nobody disturbs: a mean backoff, then an exchange, and again."""
    cycle_us = exchange_us(ip_bytes, mac_bytes, **rates) + backoff_slots_mean * SLOT_US
    return 8000.0 * payload_bytes / cycle_us


def attempt_probability(senders):
    """Bianchi's fixed point: (tau, p), the chance that a saturated station sends in a slot, and that it then collides.

    G. Bianchi, Performance Analysis of the IEEE 802.11 DCF, IEEE JSAC 18(3), 2000, eq. 7 and 9.
    """
    low, high = 0.0, 1.0
    for _ in range(200):
        collides = (low + high) / 2
        growth = sum((2 * collides) ** step for step in range(WINDOW_DOUBLINGS))
        tau = 2.0 / (1 + WINDOW_MIN + collides * WINDOW_MIN * growth)
        if 1 - (1 - tau) ** (senders - 1) > collides:
            low = collides
        else:
            high = collides
    return tau, collides


def bianchi_kbps(senders, ip_bytes, mac_bytes, payload_bytes, **rates):
    """The goodput of saturated senders together that all hear each other (op. cit. eq. 13), with RTS and CTS.

    After a collision of RTS frames the others wait an EIFS, as they could not read it.
    """
    tau, _ = attempt_probability(senders)
    idle = (1 - tau) ** senders
    one = senders * tau * (1 - tau) ** (senders - 1)
    collision_us = frame_us(RTS_BYTES, rates.get("basic_mbps", 2.0)) + eifs_us()
    slot_us = idle * SLOT_US + one * exchange_us(ip_bytes, mac_bytes, **rates) + (1 - idle - one) * collision_us
    return 8000.0 * payload_bytes * one / slot_us
