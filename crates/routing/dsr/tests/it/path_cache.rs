//! The path cache: RFC 4728 section 4.1, and the rules of ns-2.35's mobicache.cc.

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};
use wayhop_dsr::Path;
use wayhop_dsr::cache::{PathCache, Provenance, Purpose, RouteCache};

fn a(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}
fn path(nodes: &[u8]) -> Path {
    Path::from_nodes(nodes.iter().map(|&n| a(n)))
}
fn find(c: &mut PathCache, to: u8, what_for: Purpose) -> Option<Path> {
    let mut out = Path::EMPTY;
    c.find(a(to), what_for, Time::ZERO, &mut out).then_some(out)
}
fn cache(primary: usize, secondary: usize) -> PathCache {
    PathCache::new(primary, secondary, Span::ZERO)
}
fn add(c: &mut PathCache, nodes: &[u8], how: Provenance) -> bool {
    c.add(&path(nodes), how, Time::ZERO)
}

#[test]
fn a_route_leads_to_every_node_on_it() {
    let mut c = cache(4, 4);
    assert!(add(&mut c, &[0, 1, 2, 3], Provenance::Asked));
    assert_eq!(find(&mut c, 2, Purpose::Send), Some(path(&[0, 1, 2])));
    assert_eq!(find(&mut c, 3, Purpose::Send), Some(path(&[0, 1, 2, 3])));
    assert_eq!(find(&mut c, 0, Purpose::Send), None, "not to itself");
    assert_eq!(find(&mut c, 9, Purpose::Send), None);
}

#[test]
fn the_shortest_route_is_taken_and_the_first_of_equals() {
    let mut c = cache(4, 4);
    add(&mut c, &[0, 1, 2, 9], Provenance::Asked);
    add(&mut c, &[0, 3, 9], Provenance::Asked);
    add(&mut c, &[0, 4, 9], Provenance::Asked);
    add(&mut c, &[0, 5, 9], Provenance::Overheard);
    assert_eq!(find(&mut c, 9, Purpose::Send), Some(path(&[0, 3, 9])));
}

#[test]
fn a_beginning_of_a_known_route_teaches_nothing_and_a_longer_one_replaces_it() {
    let mut c = cache(1, 1);
    assert!(add(&mut c, &[0, 1, 2], Provenance::Asked));
    assert!(!add(&mut c, &[0, 1], Provenance::Asked));
    assert!(!add(&mut c, &[0, 1, 2], Provenance::Asked));
    assert!(add(&mut c, &[0, 1, 2, 3], Provenance::Asked));
    assert_eq!(find(&mut c, 3, Purpose::Salvage), Some(path(&[0, 1, 2, 3])));
}

#[test]
fn slots_are_taken_in_turn() {
    let mut c = cache(2, 1);
    for n in [1, 2, 3] {
        add(&mut c, &[0, n, n + 10], Provenance::Asked);
    }
    assert_eq!(find(&mut c, 11, Purpose::Salvage), None, "the first slot is the first victim");
    assert!(find(&mut c, 12, Purpose::Salvage).is_some());
    add(&mut c, &[0, 4, 14], Provenance::Asked);
    assert_eq!(find(&mut c, 12, Purpose::Salvage), None, "then the second");
    assert!(find(&mut c, 13, Purpose::Salvage).is_some());
}

#[test]
fn what_was_overheard_does_not_push_out_what_was_asked_for() {
    let mut c = cache(1, 2);
    add(&mut c, &[0, 1, 9], Provenance::Asked);
    for n in 20..60 {
        add(&mut c, &[0, n, n + 60], Provenance::Overheard);
    }
    assert_eq!(find(&mut c, 9, Purpose::Send), Some(path(&[0, 1, 9])));
}

#[test]
fn a_route_used_for_sending_moves_to_the_first_tier() {
    let mut c = cache(2, 1);
    add(&mut c, &[0, 1, 9], Provenance::Overheard);
    assert!(find(&mut c, 9, Purpose::Salvage).is_some(), "salvaging leaves it where it is");
    add(&mut c, &[0, 2, 8], Provenance::Overheard);
    assert_eq!(find(&mut c, 9, Purpose::Send), None);
    assert!(find(&mut c, 8, Purpose::Send).is_some());
    add(&mut c, &[0, 3, 7], Provenance::Overheard);
    assert!(find(&mut c, 8, Purpose::Send).is_some(), "kept although its old slot was taken");
}

#[test]
fn a_broken_link_cuts_every_route_over_it_in_one_direction() {
    let mut c = cache(4, 4);
    add(&mut c, &[0, 1, 2, 3], Provenance::Asked);
    add(&mut c, &[0, 4, 2, 1, 5], Provenance::Overheard);
    assert!(c.remove_link(a(1), a(2)));
    assert!(!c.remove_link(a(1), a(2)), "known no more");
    assert_eq!(find(&mut c, 1, Purpose::Send), Some(path(&[0, 1])));
    assert_eq!(find(&mut c, 3, Purpose::Send), None);
    assert_eq!(find(&mut c, 5, Purpose::Send), Some(path(&[0, 4, 2, 1, 5])), "2 to 1 is another link");
    assert!(c.remove_link(a(0), a(1)));
    assert_ne!(find(&mut c, 1, Purpose::Send), Some(path(&[0, 1])));
}

#[test]
fn external_hops_are_the_last_resort_and_never_an_answer() {
    let mut c = cache(4, 4);
    let mut external = path(&[0, 1, 9]);
    external.set_last_external(true);
    c.add(&external, Provenance::Asked, Time::ZERO);
    assert_eq!(find(&mut c, 9, Purpose::Answer), None);
    assert_eq!(find(&mut c, 9, Purpose::Send), Some(external));
    assert_eq!(find(&mut c, 1, Purpose::Answer), Some(path(&[0, 1])), "the first hop is an ordinary link");
    add(&mut c, &[0, 2, 3, 4, 9], Provenance::Asked);
    assert_eq!(find(&mut c, 9, Purpose::Send), Some(path(&[0, 2, 3, 4, 9])), "longer, but without");
}

#[test]
fn an_unused_route_ends_and_use_prolongs_it() {
    let s = |n| Time::ZERO + Span::from_secs(n);
    let mut c = PathCache::new(2, 2, Span::from_secs(10));
    let mut out = Path::EMPTY;
    c.add(&path(&[0, 1]), Provenance::Asked, s(0));
    assert!(c.find(a(1), Purpose::Send, s(9), &mut out));
    assert!(c.find(a(1), Purpose::Send, s(18), &mut out));
    assert!(!c.find(a(1), Purpose::Send, s(28), &mut out));
}

#[test]
fn a_purge_cuts_what_leads_to_a_node_or_empties_the_cache() {
    let mut c = cache(4, 4);
    add(&mut c, &[0, 1, 2, 3], Provenance::Asked);
    add(&mut c, &[0, 2], Provenance::Overheard);
    add(&mut c, &[0, 4, 5], Provenance::Asked);
    c.purge(Some(a(2)));
    assert_eq!(find(&mut c, 1, Purpose::Send), Some(path(&[0, 1])));
    assert!([2, 3].iter().all(|&n| find(&mut c, n, Purpose::Send).is_none()));
    assert_eq!(find(&mut c, 5, Purpose::Send), Some(path(&[0, 4, 5])));
    c.purge(None);
    assert!([1, 4, 5].iter().all(|&n| find(&mut c, n, Purpose::Send).is_none()));
}
