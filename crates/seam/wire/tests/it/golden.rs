//! The golden captures of DSR (captures/rfc4728), whose octets were written down by hand from RFC 4728 sections 6 and 7: our
//! encoder makes them of what they mean, and our parser reads what they mean and writes them again.

mod meaning;

use crate::common::each_golden;
use meaning::{Sent, meaning};
use wayhop_wire::dsr::{self, Builder, DsrOption};
use wayhop_wire::ipv4::{self, protocol};

/// Calls `check` with each packet and what it means.
fn each(check: impl FnMut(&str, &[u8], &Sent)) {
    each_golden("rfc4728", 27, meaning, check);
}

/// The packet as our encoder writes it.
fn encoded(m: &Sent, options: Option<&[DsrOption<'_>]>) -> Vec<u8> {
    let mut scratch = Vec::new();
    let mut behind_ip = Vec::new();
    let next = if options.is_some() { protocol::DSR } else { m.next };
    if let Some(state) = m.flow {
        behind_ip.extend_from_slice(Builder::flow_state(&mut scratch, next, state));
    }
    if let Some(options) = options {
        let mut b = Builder::new(&mut scratch, m.next);
        for o in options {
            b.push(o).expect("it fits");
        }
        behind_ip.extend_from_slice(b.finish());
    }
    behind_ip.extend_from_slice(&m.payload);
    let repr = ipv4::Repr { payload_len: behind_ip.len() as u16, ..m.ip };
    let mut out = vec![0; repr.buffer_len()];
    repr.emit(&mut out);
    out.extend_from_slice(&behind_ip);
    out
}

#[test]
fn our_encoder_writes_the_golden_octets() {
    each(|what, bytes, m| assert_eq!(encoded(m, m.options.as_deref()), bytes, "{what}"));
}

#[test]
fn our_encoder_pads_headers_as_the_golden_octets_are_padded() {
    let mut padded = 0;
    each(|what, bytes, m| {
        let Some((last, before)) = m.options.as_deref().and_then(<[_]>::split_last) else { return };
        // Where padding is what a packet shows, there is more of it than a header needs.
        let shows_padding = what.starts_with("pad");
        if matches!(last, DsrOption::Pad1 | DsrOption::PadN(_)) && !shows_padding {
            assert_eq!(encoded(m, Some(before)), bytes, "{what}");
            padded += 1;
        }
    });
    assert_eq!(padded, 5, "three replies and two errors");
}

#[test]
fn our_parser_reads_the_golden_octets_and_writes_them_again() {
    each(|what, bytes, m| {
        let ip = ipv4::Packet::new_checked(bytes).expect(what);
        assert!(ip.checksum_is_valid(), "{what}");
        let repr = ipv4::Repr::parse(bytes).expect(what);
        assert_eq!(repr, ipv4::Repr { payload_len: ip.payload().len() as u16, ..m.ip }, "{what}");
        let mut header = dsr::Packet::new_checked(ip.payload()).expect(what);
        assert_eq!(header.flow_state(), m.flow, "{what}");
        if m.flow.is_some() && m.options.is_some() {
            assert_eq!(header.next_header(), protocol::DSR, "{what}");
            header = dsr::Packet::new_checked(header.payload()).expect(what);
            assert_eq!(header.flow_state(), None, "{what}");
        }
        assert_eq!((header.next_header(), header.payload()), (m.next, &m.payload[..]), "{what}");
        let options: Vec<_> = header.options().map(|o| o.expect(what)).collect();
        assert_eq!(options, m.options.as_deref().unwrap_or_default(), "{what}");
        let read = m.options.is_some().then_some(&options[..]);
        let again = Sent { flow: m.flow, ip: repr, next: header.next_header(), ..m.clone() };
        assert_eq!(encoded(&again, read), bytes, "{what}: written again");
    });
}
