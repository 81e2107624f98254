use std::net::Ipv4Addr;

use wayhop_core::{Packet, PacketMeta, Pool};
use wayhop_wire::dsr::{self as wire, Builder, DsrOption, edit};
use wayhop_wire::{Error, ipv4};

/// DSR headers, options, and the changes in place.
pub(crate) fn dsr(bytes: &[u8]) {
    options(bytes);
    let Ok(p) = wire::Packet::new_checked(bytes) else { return };
    assert_eq!(p.header_len() + p.payload().len(), bytes.len());
    options(p.options_bytes());
    if let Some(state) = p.flow_state() {
        let mut scratch = Vec::new();
        let out = Builder::flow_state(&mut scratch, p.next_header(), state);
        assert_eq!(out, p.header());
    } else {
        rebuild(p);
    }
    edits(bytes);
}

/// Each option that is read can be written, and reads the same again; together they cover all octets but a broken tail.
fn options(bytes: &[u8]) {
    let mut at = 0;
    for (range, option) in wire::options(bytes).located() {
        assert_eq!(range.start, at);
        at = range.end;
        let Ok(o) = option else { continue };
        assert_eq!(o.kind(), bytes[range.start]);
        let mut out = vec![0xff; o.buffer_len()];
        o.emit(&mut out).expect("what was read can be written");
        assert!(out.len() <= range.len(), "no more than what was read");
        let mut again = wire::options(&out);
        assert_eq!(again.next(), Some(Ok(o)));
        assert_eq!(again.next(), None);
    }
    assert_eq!(at, bytes.len());
}

/// A header built from the options read has the same options, then at most one of padding.
fn rebuild(p: wire::Packet<'_>) {
    let read: Vec<_> = p.options().filter_map(Result::ok).collect();
    let mut scratch = Vec::new();
    let mut b = Builder::new(&mut scratch, p.next_header());
    for o in &read {
        if b.push(o).is_err() {
            return;
        }
    }
    let out = b.finish();
    assert_eq!(out.len() % 4, 0);
    let q = wire::Packet::new_checked(out).expect("it was built");
    let mut written: Vec<_> = q.options().map(|o| o.expect("it was built")).collect();
    assert!(written.len() <= read.len() + 1);
    if written.len() > read.len() {
        assert!(matches!(written.pop(), Some(DsrOption::Pad1 | DsrOption::PadN(0 | 1))));
    }
    assert_eq!(written, read);
}

fn edits(dsr: &[u8]) {
    const ADDR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 99);
    let mut pool = Pool::new();
    let mut p = pool.zeroed(ipv4::HEADER_LEN, PacketMeta::default());
    p.extend(dsr);
    let Ok(len) = u16::try_from(dsr.len()) else { return };
    if usize::from(len) + ipv4::HEADER_LEN > 65_535 {
        return;
    }
    let header = ipv4::Repr::new(ADDR, Ipv4Addr::BROADCAST, ipv4::protocol::DSR, len);
    header.emit(p.bytes_mut());

    let mut q = pool.copy(&p);
    match edit::append_request_address(&mut q, ADDR) {
        Ok(()) => {
            assert_eq!(q.len(), p.len() + 4);
            let last = sound(&q).options().find_map(|o| match o {
                Ok(DsrOption::RouteRequest(r)) => Some(r.addresses.last()),
                _ => None,
            });
            assert_eq!(last, Some(Some(ADDR)));
        }
        Err(_) => assert_eq!(q.bytes(), p.bytes()),
    }
    let mut without = pool.copy(&p);
    if edit::remove_header(&mut without).is_ok() {
        let removed = p.len() - without.len();
        let header = p.bytes()[ipv4::HEADER_LEN..ipv4::HEADER_LEN + removed].to_vec();
        edit::insert_header(&mut without, &header).expect("it was there before");
        assert_eq!(without.bytes(), p.bytes());
        edit::replace_header(&mut without, &[0, 0, 0, 4, 0, 2, 0, 0]).expect("it is shorter");
        assert_eq!(sound(&without).next_header(), header[0]);
    }
    let ranges: Vec<_> =
        wire::Packet::new_checked(dsr).map(|d| d.options().located().take(32).collect()).unwrap_or_default();
    for (range, _) in ranges {
        let mut q = pool.copy(&p);
        edit::remove_option(&mut q, range.clone()).expect("the range is inside");
        sound(&q);
        let mut q = pool.copy(&p);
        let _ = edit::mark_option(q.bytes_mut(), range.start);
        sound(&q);
    }
}

/// The packet's DSR header; its IP header is right.
fn sound(p: &Packet) -> wire::Packet<'_> {
    let (ip, dsr) = edit::parse(p.bytes()).expect("complete headers");
    assert!(ip.checksum_is_valid());
    assert_eq!(ip.total_len(), p.len());
    dsr
}
