//! Reactive fragmentation: a contact that ends in the middle of a bundle loses nothing that was acknowledged.

use wayhop_core::{BundleEventKind, Span};
use wayhop_dtn::routing::Epidemic;
use wayhop_dtn::{Input, Request, flags};

use crate::basics::along_a_line;
use crate::common::{Layer, Net, request};

/// Octets that a bundle of 200,000 needs over contacts that end after each `room` octets.
fn octets_over_short_contacts(layer: Layer, custody: bool) -> (usize, usize) {
    let mut net = Net::new(2, layer, along_a_line(2), &|c| c);
    net.wire = Some(Vec::new());
    let payload: Vec<u8> = (0..200_000_u32).map(|i| (i * 31) as u8).collect();
    net.send(0, 1, payload.clone(), custody);
    let mut contacts = 0;
    while net.inbox(1).is_empty() {
        contacts += 1;
        assert!(contacts < 100, "{layer:?}: it never arrives");
        net.link(0, 1);
        for _ in 0..10 {
            net.exchange(6_000);
            net.pass(Span::from_millis(200));
        }
        net.cut(0, 1);
        net.pass(Span::from_secs(1));
    }
    assert_eq!(net.inbox(1)[0].1, payload);
    assert!(net.count(0, BundleEventKind::Fragmented) > 0);
    let wire = net.wire.unwrap();
    (contacts, wire.iter().filter(|(_, from, ..)| *from == 0).map(|(.., octets)| octets.len()).sum())
}

#[test]
fn a_bundle_goes_on_where_the_last_contact_ended() {
    for custody in [false, true] {
        let (contacts, octets) = octets_over_short_contacts(Layer::Tcpcl, custody);
        assert!(contacts > 2, "one contact is too short for it: {contacts}");
        // At most one segment of 16,384 octets a contact goes twice.
        assert!(
            octets < 200_000 + contacts * 17_500,
            "custody {custody}: {octets} octets in {contacts} contacts"
        );
    }
}

#[test]
fn ltp_goes_on_too_from_what_its_reports_have_claimed() {
    // LTP reports at the end of a block only: what was not reported goes again, so the contacts have to be long enough.
    let mut net = Net::new(2, Layer::Ltp, along_a_line(2), &|c| c);
    let payload = vec![5; 100_000];
    net.send(0, 1, payload.clone(), false);
    net.link(0, 1);
    for _ in 0..30 {
        net.exchange(1_400);
        net.pass(Span::from_millis(100));
    }
    net.cut(0, 1);
    assert_eq!(net.count(1, BundleEventKind::Receive), 1, "the first octets are kept as a fragment");
    net.link(0, 1);
    net.settle(20, 1 << 20);
    assert_eq!(net.inbox(1).len(), 1);
    assert_eq!(net.inbox(1)[0].1, payload);
}

#[test]
fn a_bundle_that_must_not_be_fragmented_starts_again() {
    let mut net = Net::new(2, Layer::Tcpcl, along_a_line(2), &|c| c);
    let whole = Request { flags: flags::MUST_NOT_FRAGMENT, ..request(0, 1, vec![8; 100_000]) };
    net.tell(0, Input::Send(whole));
    net.link(0, 1);
    net.exchange(60_000);
    net.exchange(60_000);
    net.cut(0, 1);
    assert_eq!(net.agent(1).statistics().bundles, 0);
    net.link(0, 1);
    net.settle(5, 1 << 20);
    assert_eq!(net.inbox(1).len(), 1);
    assert_eq!(net.count(0, BundleEventKind::Fragmented), 0);
}

#[test]
fn a_copy_goes_on_at_the_same_neighbour_and_stays_whole_at_its_node() {
    let mut net = Net::new(3, Layer::Tcpcl, Box::new(|_| Box::new(Epidemic)), &|c| c);
    net.wire = Some(Vec::new());
    net.send(0, 2, vec![1; 150_000], false);
    for _ in 0..6 {
        net.link(0, 1);
        for _ in 0..8 {
            net.exchange(6_000);
        }
        net.cut(0, 1);
        net.pass(Span::from_secs(1));
    }
    let octets: usize = net.wire.take().unwrap().iter().filter(|w| w.1 == 0).map(|w| w.3.len()).sum();
    assert!(octets < 150_000 + 6 * 17_500, "{octets}");
    net.link(1, 2);
    net.settle(10, 1 << 20);
    assert_eq!(net.inbox(2).len(), 1);
    assert_eq!(net.count(0, BundleEventKind::Fragmented), 0);
    assert_eq!(net.agent(0).statistics().bundles, 1);
}
