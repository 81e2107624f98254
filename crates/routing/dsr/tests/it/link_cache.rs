//! The link cache: RFC 4728 section 4.1 and appendix A (Link-MaxLife), with lifetimes worked out by hand.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use wayhop_core::{Span, Time};
use wayhop_dsr::Path;
use wayhop_dsr::cache::{Judge, LinkCache, Provenance, Purpose, RouteCache};
use wayhop_link_quality::etx::Cost;

fn a(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}
fn path(nodes: &[u8]) -> Path {
    Path::from_nodes(nodes.iter().map(|&n| a(n)))
}
fn s(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}
fn cache() -> LinkCache {
    LinkCache::new(64, 256, 15)
}
fn add(c: &mut LinkCache, nodes: &[u8], at: Time) -> bool {
    c.add(&path(nodes), Provenance::Overheard, at)
}
fn find(c: &mut LinkCache, to: u8, what_for: Purpose, at: Time) -> Option<Path> {
    let mut out = Path::EMPTY;
    c.find(a(to), what_for, at, &mut out).then_some(out)
}

#[test]
fn links_of_different_routes_make_a_new_one() {
    let mut c = cache();
    assert!(add(&mut c, &[0, 1, 2], s(0)));
    assert!(add(&mut c, &[0, 3, 2, 4], s(0)));
    assert!(!add(&mut c, &[0, 1, 2], s(1)), "nothing new");
    // No one route has it: 0 1 and 1 2 of the first, 2 4 of the second; as short as 0 3 2 4.
    c.remove_link(a(0), a(3));
    assert_eq!(find(&mut c, 4, Purpose::Check, s(1)), Some(path(&[0, 1, 2, 4])));
    assert_eq!(find(&mut c, 0, Purpose::Check, s(1)), None, "not to itself");
    assert_eq!(find(&mut c, 9, Purpose::Check, s(1)), None);
    // A link has one direction.
    assert_eq!(find(&mut c, 3, Purpose::Check, s(1)), None);
}

#[test]
fn a_new_link_lives_as_long_as_its_less_stable_end() {
    let mut c = cache();
    add(&mut c, &[0, 1, 2], s(0));
    assert_eq!(c.link_until(a(0), a(1)), Some(s(25)), "InitStability");
    // A break halves the stability of both ends: 12.5 s; another one 6.25 s of node 1.
    c.remove_link(a(0), a(1));
    assert_eq!(c.stability(a(1)), Span::from_millis(12_500));
    c.remove_link(a(1), a(2));
    assert_eq!(c.stability(a(1)), Span::from_millis(6_250));
    assert_eq!(c.stability(a(2)), Span::from_millis(12_500));
    add(&mut c, &[0, 1, 2], s(100));
    assert_eq!(c.link_until(a(1), a(2)), Some(s(100) + Span::from_millis(6_250)));
    assert!(!c.remove_link(a(5), a(6)) && !c.remove_link(a(2), a(1)), "unknown links do not break");
    assert_eq!(c.stability(a(2)), Span::from_millis(12_500));
}

#[test]
fn no_link_lives_shorter_than_a_second() {
    let mut c = cache();
    for k in 0..10 {
        add(&mut c, &[0, 1], s(k));
        c.remove_link(a(0), a(1));
    }
    assert!(c.stability(a(1)) < Span::from_millis(25), "25 s / 2^10");
    add(&mut c, &[0, 1], s(50));
    assert_eq!(c.link_until(a(0), a(1)), Some(s(51)), "MinLifetime");
    assert!(find(&mut c, 1, Purpose::Check, Time::from_secs_f64(50.999)).is_some());
    assert!(find(&mut c, 1, Purpose::Check, s(51)).is_none());
}

#[test]
fn use_makes_both_ends_more_stable_and_extends_the_link() {
    let mut c = cache();
    add(&mut c, &[0, 1], s(0));
    find(&mut c, 1, Purpose::Send, s(2));
    assert_eq!(c.link_until(a(0), a(1)), Some(s(122)), "UseExtends");
    assert_eq!(c.stability(a(1)), Span::from_secs(25), "the first use has no last one");
    // 3 s later: 25 + 4 * 3.
    find(&mut c, 1, Purpose::Salvage, s(5));
    assert_eq!(c.stability(a(0)), Span::from_secs(37));
    assert_eq!(c.stability(a(1)), Span::from_secs(37));
    assert_eq!(c.link_until(a(0), a(1)), Some(s(125)));
    // To answer a request or to check is no use.
    find(&mut c, 1, Purpose::Answer, s(50));
    find(&mut c, 1, Purpose::Check, s(50));
    assert_eq!((c.stability(a(1)), c.link_until(a(0), a(1))), (Span::from_secs(37), Some(s(125))));
    // A lifetime that is longer already stays: 37 + 4 * 60 s of stability, learned again at 70 s.
    find(&mut c, 1, Purpose::Send, s(65));
    assert_eq!(c.stability(a(1)), Span::from_secs(277));
    add(&mut c, &[0, 1], s(70));
    assert_eq!(c.link_until(a(0), a(1)), Some(s(347)));
    find(&mut c, 1, Purpose::Send, s(71));
    assert_eq!(c.link_until(a(0), a(1)), Some(s(347)));
}

#[test]
fn of_routes_of_equal_length_the_longest_lived_is_taken() {
    let mut c = cache();
    add(&mut c, &[0, 1, 9], s(0));
    add(&mut c, &[0, 2, 9], s(3));
    add(&mut c, &[0, 3, 9], s(1));
    assert_eq!(find(&mut c, 9, Purpose::Check, s(4)), Some(path(&[0, 2, 9])));
    // The shortest-lived link decides.
    c.remove_link(a(0), a(2));
    add(&mut c, &[0, 1], s(4));
    assert_eq!(find(&mut c, 9, Purpose::Check, s(4)), Some(path(&[0, 3, 9])));
}

#[test]
fn external_hops_stand_only_where_they_were_and_only_when_nothing_else_leads_there() {
    let mut c = cache();
    let mut out = path(&[0, 1, 8]);
    out.set_last_external(true);
    c.add(&out, Provenance::Asked, s(0));
    assert_eq!(find(&mut c, 8, Purpose::Check, s(0)), Some(out));
    assert_eq!(find(&mut c, 8, Purpose::Answer, s(0)), None);
    // Nothing leads on from there.
    add(&mut c, &[0, 2, 3, 4, 8, 9], s(0));
    c.remove_link(a(4), a(8));
    assert_eq!(find(&mut c, 9, Purpose::Check, s(0)), None);
    // A longer route without External hops comes first.
    add(&mut c, &[0, 2, 3, 4, 8], s(0));
    assert_eq!(find(&mut c, 8, Purpose::Check, s(0)), Some(path(&[0, 2, 3, 4, 8])));
    // A first hop through another network begins a route of this node.
    let mut first = path(&[0, 5, 6]);
    first.set_first_external(true);
    c.add(&first, Provenance::Asked, s(0));
    assert_eq!(find(&mut c, 6, Purpose::Check, s(0)), Some(first));
}

#[test]
fn what_has_no_room_pushes_out_what_is_worth_least() {
    // Nodes: this one and three more. Node 1 is touched last.
    let mut c = LinkCache::new(4, 256, 15);
    add(&mut c, &[0, 1], s(0));
    add(&mut c, &[0, 2], s(1));
    add(&mut c, &[0, 3], s(2));
    add(&mut c, &[0, 1], s(3));
    add(&mut c, &[0, 4], s(4));
    let known: Vec<_> = (1..=4).filter(|&n| find(&mut c, n, Purpose::Check, s(4)).is_some()).collect();
    assert_eq!(known, [1, 3, 4]);
    // Links: the one that ends first goes.
    let mut c = LinkCache::new(64, 2, 15);
    add(&mut c, &[0, 1], s(0));
    add(&mut c, &[0, 2], s(1));
    add(&mut c, &[0, 3], s(2));
    let known: Vec<_> = (1..=3).filter(|&n| find(&mut c, n, Purpose::Check, s(2)).is_some()).collect();
    assert_eq!(known, [2, 3]);
}

/// Compares costs. Refuses one link; the one to node 3 is measured with ETX 30.
#[derive(Default)]
struct Costs {
    refused: Option<(Ipv4Addr, Ipv4Addr)>,
    measured: bool,
}
impl Judge for Costs {
    fn penalty(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<u16> {
        (self.refused != Some((from, to))).then_some(0)
    }
    fn by_cost(&self) -> bool {
        true
    }
    fn measured(&self, neighbour: Ipv4Addr) -> Option<Cost> {
        (self.measured && neighbour == a(3)).then_some(Cost(30 * 1024))
    }
}

#[test]
fn two_good_links_cost_less_than_a_bad_one() {
    let mut c = cache();
    add(&mut c, &[0, 3], s(0));
    add(&mut c, &[0, 1, 3], s(0));
    let mut out = Path::EMPTY;
    let costs = |refused| Costs { refused, measured: true };
    // 0 -> 3 is measured; the others are unknown, 5 each.
    assert!(c.find_by(a(3), Purpose::Check, s(0), &costs(None), &mut out));
    assert_eq!(out, path(&[0, 1, 3]));
    // Told that 1 -> 3 costs 40: the direct link.
    c.set_cost(a(1), a(3), Cost(40 * 1024));
    assert!(c.find_by(a(3), Purpose::Check, s(0), &costs(None), &mut out));
    assert_eq!(out, path(&[0, 3]));
    // A link that is refused is not used at any cost.
    assert!(c.find_by(a(3), Purpose::Check, s(0), &costs(Some((a(0), a(3)))), &mut out));
    assert_eq!(out, path(&[0, 1, 3]));
    assert!(!c.find_by(a(1), Purpose::Check, s(0), &costs(Some((a(0), a(1)))), &mut out));
}

/// Every route without repetition from 0 to `to`, by trying all.
fn all_routes(links: &[(u8, u8)], so_far: &mut Vec<u8>, to: u8, each: &mut dyn FnMut(&[u8])) {
    let at = *so_far.last().expect("a route begins somewhere");
    if at == to {
        return each(so_far);
    }
    for &(_, next) in links.iter().filter(|l| l.0 == at) {
        if !so_far.contains(&next) {
            so_far.push(next);
            all_routes(links, so_far, to, each);
            so_far.pop();
        }
    }
}

proptest! {
    /// The search finds what trying every route finds: the fewest hops and then the longest life, or the lowest cost.
    #[test]
    fn the_search_agrees_with_trying_every_route(
        links in proptest::collection::btree_map((0_u8..7, 0_u8..7), (0_u64..20, 1_u32..20), 0..30)
    ) {
        let mut c = cache();
        // This node has the first place whatever comes.
        add(&mut c, &[0, 60], s(0));
        let links: Vec<_> = links.into_iter().filter(|((x, y), _)| x != y).collect();
        let mut in_order = links.clone();
        in_order.sort_by_key(|l| l.1.0);
        for ((x, y), (at, cost)) in &in_order {
            add(&mut c, &[*x, *y], s(*at));
            c.set_cost(a(*x), a(*y), Cost(*cost));
        }
        let ends: Vec<(u8, u8)> = links.iter().map(|l| l.0).collect();
        let of = |x: u8, y: u8| links.iter().find(|l| l.0 == (x, y)).expect("a link").1;
        for to in 1..7 {
            let (mut shortest, mut cheapest) = (None, None);
            all_routes(&ends, &mut vec![0], to, &mut |route| {
                let hops = route.len();
                let life = route.windows(2).map(|w| of(w[0], w[1]).0).min();
                let cost: u32 = route.windows(2).map(|w| of(w[0], w[1]).1).sum();
                let by_hops = (hops, std::cmp::Reverse(life));
                shortest = Some(shortest.map_or(by_hops, |b| std::cmp::min(b, by_hops)));
                cheapest = Some(cheapest.map_or(cost, |b: u32| b.min(cost)));
            });
            let nodes = |p: &Path| p.nodes().iter().map(|n| n.octets()[3]).collect::<Vec<_>>();
            let found = find(&mut c, to, Purpose::Check, s(20)).map(|p| {
                let life = nodes(&p).windows(2).map(|w| of(w[0], w[1]).0).min();
                (p.len(), std::cmp::Reverse(life))
            });
            prop_assert_eq!(found, shortest);
            let mut out = Path::EMPTY;
            let found = c.find_by(a(to), Purpose::Check, s(20), &Costs::default(), &mut out);
            let cost = found.then(|| nodes(&out).windows(2).map(|w| of(w[0], w[1]).1).sum::<u32>());
            prop_assert_eq!(cost, cheapest);
        }
    }
}

#[test]
fn a_purge_forgets_the_links_into_a_node_or_all() {
    let mut c = cache();
    add(&mut c, &[0, 1, 2, 3], s(0));
    c.purge(Some(a(2)));
    assert_eq!(find(&mut c, 1, Purpose::Check, s(1)), Some(path(&[0, 1])));
    assert!([2, 3].iter().all(|&n| find(&mut c, n, Purpose::Check, s(1)).is_none()));
    c.purge(Some(a(9)));
    assert_eq!(find(&mut c, 1, Purpose::Check, s(1)), Some(path(&[0, 1])), "nobody knows node 9");
    c.purge(None);
    assert_eq!(find(&mut c, 1, Purpose::Check, s(1)), None);
}
