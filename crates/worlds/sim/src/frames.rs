//! The bytes of a frame, for captures.

use wayhop_core::{Mac, Packet, Payload};
use wayhop_radio::{EVERYONE, FrameAt, FrameKind};
use wayhop_wire::{dot11, llc};

/// The network that all simulated nodes form: a locally administered address that reads "WAYHO" in ASCII.
const BSSID: Mac = Mac([0x02, b'W', b'A', b'Y', b'H', b'O']);

/// Writes an 802.11 frame, without its FCS, into `out`.
pub(crate) fn write(f: &FrameAt<'_>, mac_of: impl Fn(u32) -> Mac, out: &mut Vec<u8>) {
    let transmitter = mac_of(f.head.from);
    let receiver = match (f.head.to, f.body) {
        // Also for an address that no station has, and for groups.
        (_, Some(body)) => body.frame.receiver,
        (EVERYONE, None) => Mac::BROADCAST,
        (to, None) => mac_of(to),
    };
    let duration_us = f.head.duration_us;
    if f.head.kind == FrameKind::Beacon {
        let beacon = dot11::Beacon {
            transmitter,
            bssid: BSSID,
            sequence: (f.head.sequence & 0xfff) as u16,
            timestamp_us: f.at.as_nanos() / 1000,
            interval_tu: 100,
            ssid: b"wayhop",
        };
        return beacon.write(out);
    }
    let repr = match f.head.kind {
        FrameKind::Rts => dot11::Repr::Rts { duration_us, retry: f.head.retry, receiver, transmitter },
        FrameKind::Cts => dot11::Repr::Cts { duration_us, receiver },
        FrameKind::Ack => dot11::Repr::Ack { duration_us, receiver },
        // Nobody understands noise; a capture never shows it.
        FrameKind::Data | FrameKind::Broadcast | FrameKind::Beacon | FrameKind::Noise => {
            dot11::Repr::Data(dot11::Data {
                duration_us,
                retry: f.head.retry,
                more_fragments: false,
                receiver,
                transmitter,
                bssid: BSSID,
                sequence: (f.head.sequence & 0xfff) as u16,
                fragment: 0,
            })
        }
    };
    out.clear();
    out.resize(repr.buffer_len(), 0);
    repr.emit(out);
    if let Some(body) = f.body {
        let at = out.len();
        out.resize(at + llc::LEN, 0);
        llc::Repr { ether_type: ether_type(body.frame.payload) }.emit(&mut out[at..]);
        out.extend_from_slice(body.frame.packet.bytes());
    }
}

/// Writes an Ethernet frame, without padding and FCS, into `out`.
pub(crate) fn write_ethernet(from: Mac, to: Mac, payload: Payload, packet: &Packet, out: &mut Vec<u8>) {
    out.clear();
    out.extend(to.0);
    out.extend(from.0);
    out.extend(ether_type(payload).to_be_bytes());
    out.extend_from_slice(packet.bytes());
}

fn ether_type(payload: Payload) -> u16 {
    match payload {
        Payload::Ip => llc::IPV4,
        Payload::Ip6 | Payload::Neighbour => llc::IPV6,
        Payload::Arp => llc::ARP,
        Payload::Ethernet(ether_type) => ether_type,
    }
}
