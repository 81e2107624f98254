//! The octets of a frame, for captures.

use std::net::Ipv4Addr;

use wayhop_core::{Mac, Payload};
use wayhop_radio::{EVERYONE, FrameAt, FrameKind};
use wayhop_wire::{dot11, llc};

/// The network that all simulated nodes form: a locally administered address that reads "WAYHO" in ASCII.
const BSSID: Mac = Mac([0x02, b'W', b'A', b'Y', b'H', b'O']);

/// Writes an 802.11 frame, without its FCS, into `out`.
pub(crate) fn write(f: &FrameAt<'_>, addr_of: impl Fn(u32) -> Ipv4Addr, out: &mut Vec<u8>) {
    let transmitter = Mac::from_addr(addr_of(f.head.from));
    let receiver = match (f.head.to, f.body) {
        (EVERYONE, _) => Mac::BROADCAST,
        // Also for an address that no station has.
        (_, Some(body)) => body.frame.receiver,
        (to, None) => Mac::from_addr(addr_of(to)),
    };
    let duration_us = f.head.duration_us;
    let repr = match f.head.kind {
        FrameKind::Rts => dot11::Repr::Rts { duration_us, retry: f.head.retry, receiver, transmitter },
        FrameKind::Cts => dot11::Repr::Cts { duration_us, receiver },
        FrameKind::Ack => dot11::Repr::Ack { duration_us, receiver },
        FrameKind::Data | FrameKind::Broadcast => dot11::Repr::Data(dot11::Data {
            duration_us,
            retry: f.head.retry,
            more_fragments: false,
            receiver,
            transmitter,
            bssid: BSSID,
            sequence: (f.head.sequence & 0xfff) as u16,
            fragment: 0,
        }),
    };
    out.clear();
    out.resize(repr.buffer_len(), 0);
    repr.emit(out);
    if let Some(body) = f.body {
        let at = out.len();
        let ether_type = match body.frame.payload {
            Payload::Ip => llc::IPV4,
            Payload::Arp => llc::ARP,
        };
        out.resize(at + llc::LEN, 0);
        llc::Repr { ether_type }.emit(&mut out[at..]);
        out.extend_from_slice(body.frame.packet.bytes());
    }
}
