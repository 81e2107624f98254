"""What the arithmetic of the IEEE 802.11 DCF gives for saturated senders, without a simulator.

Direct-sequence PHY: slot 20 us, SIFS 10 us, DIFS 50 us, long preamble and header 192 us, contention window 31.
"""

SLOT_US, SIFS_US, DIFS_US, PLCP_US = 20.0, 10.0, 50.0, 192.0
CONTENTION_WINDOW = 31
RTS_BYTES, CTS_BYTES, ACK_BYTES = 20, 14, 14


def frame_us(size_bytes, rate_mbps):
    """Air time of a frame with its preamble and header."""
    return PLCP_US + 8.0 * size_bytes / rate_mbps


def exchange_us(ip_bytes, mac_bytes, data_mbps=2.0, basic_mbps=2.0, backoff_slots_mean=CONTENTION_WINDOW / 2):
    """The mean time from one data frame to the next of a single saturated sender that nobody disturbs.

    DIFS, mean backoff, RTS, CTS, DATA, ACK and the three SIFS between. `mac_bytes` is the header with the frame check
    sequence: 28 in IEEE 802.11 plus 8 for LLC/SNAP, 34 in ns-2.35. IEEE draws the backoff from 0..31 (mean 15.5);
    ns-2 from 0..30 (mean 15).
    """
    return (
        DIFS_US
        + backoff_slots_mean * SLOT_US
        + frame_us(RTS_BYTES, basic_mbps)
        + frame_us(CTS_BYTES, basic_mbps)
        + frame_us(ip_bytes + mac_bytes, data_mbps)
        + frame_us(ACK_BYTES, basic_mbps)
        + 3 * SIFS_US
    )


def goodput_kbps(ip_bytes, mac_bytes, udp_payload_bytes, **rates):
    """Payload that a single hop carries."""
    return 8000.0 * udp_payload_bytes / exchange_us(ip_bytes, mac_bytes, **rates)


def chain_bounds_kbps(single_hop_kbps, hops, spacing_m, sense_m=550.0):
    """The bounds of a chain's goodput: (a perfect schedule, none that reuses the channel).

    A transmission over one link keeps silent every node that senses its sender or its receiver. In a row of nodes the
    link k hops further may be used at the same time only if its sender is out of range of this link's two ends; with
    `reach` the hops that carrier sense spans, one link in reach + 2 can be active, which bounds a long chain from above.
    """
    reach = int(sense_m // spacing_m)
    return single_hop_kbps / min(hops, reach + 2), single_hop_kbps / hops
