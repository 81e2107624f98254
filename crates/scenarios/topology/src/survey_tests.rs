use std::collections::BTreeSet;

use proptest::prelude::*;
use wayhop_core::Span;
use wayhop_world::{Axis, TrackBuilder};

use super::*;

const END_S: f64 = 100.0;

fn at(s: f64) -> Time {
    Time::from_secs_f64(s)
}

fn fixed(x: f64, y: f64) -> Track {
    Track::fixed(Position::new(x, y, 0.0))
}

/// From (`x`, `y`) along x at `speed` from `from_s` on.
fn driving(x: f64, y: f64, from_s: f64, speed: f64) -> Track {
    let mut b = TrackBuilder::new(Position::new(x, y, 0.0));
    b.set_destination(at(from_s), x + speed.signum() * 1e5, y, speed.abs());
    b.finish()
}

/// At `x` until `when_s`, at `then` from there on.
fn jumping(x: f64, y: f64, jumps: &[(f64, f64)]) -> Track {
    let mut b = TrackBuilder::new(Position::new(x, y, 0.0));
    for &(when_s, then) in jumps {
        b.jump(at(when_s), Axis::X, then);
    }
    b.finish()
}

fn zero_to_one(tracks: &[Track]) -> FlowTopology {
    let pair = Pair { src: 0, dst: 1, from: Time::ZERO, until: at(END_S) };
    survey(tracks, &[], 250.0, at(END_S), &[pair]).flows.remove(0)
}

fn counts(t: &FlowTopology) -> (u64, u64, u64) {
    (t.path_changes(), t.hop_changes(), t.partitions())
}

fn hops(t: &FlowTopology) -> Vec<Option<u16>> {
    t.steps.iter().map(|s| s.hops).collect()
}

fn begins(t: &FlowTopology) -> Vec<Time> {
    t.steps.iter().map(|s| s.from).collect()
}

#[test]
fn a_relay_that_takes_the_place_of_another_changes_the_path_but_not_the_hops() {
    // The example of the paper: a-b-c becomes a-d-c.
    let t = zero_to_one(&[
        fixed(0.0, 0.0),
        fixed(400.0, 0.0),
        jumping(200.0, 0.0, &[(30.0, 9_000.0)]),
        jumping(9_000.0, 0.0, &[(30.0, 200.0)]),
    ]);
    assert_eq!(counts(&t), (1, 0, 0));
    assert_eq!((begins(&t), hops(&t)), (vec![Time::ZERO, at(30.0)], vec![Some(2), Some(2)]));
    assert_eq!((t.hop_share(), t.unreachable_share()), (vec![0.0, 1.0], Some(0.0)));
}

#[test]
fn a_relay_that_comes_before_the_other_goes_was_not_there_all_the_time() {
    let ends = [fixed(0.0, 0.0), fixed(400.0, 0.0)];
    let [a, b] = ends;
    // b is there from the beginning to 50 s, d from 20 s on.
    let b_then_d = [jumping(200.0, 0.0, &[(50.0, 9_000.0)]), jumping(9_000.0, 0.0, &[(20.0, 200.0)])];
    let t = zero_to_one(&[&[a.clone(), b.clone()], &b_then_d[..]].concat());
    assert_eq!(begins(&t), [Time::ZERO, at(50.0)]);
    // Both from the beginning: d stands, so nothing changes when b goes, nor when it comes back. But then only d has been
    // there all the time, and when that goes the path changes.
    let both =
        [jumping(200.0, 0.0, &[(20.0, 9_000.0), (40.0, 200.0)]), jumping(200.0, 10.0, &[(60.0, 9_000.0)])];
    let t = zero_to_one(&[&[a, b], &both[..]].concat());
    assert_eq!(begins(&t), [Time::ZERO, at(60.0)]);
}

#[test]
fn a_car_that_passes_is_reached_for_as_long_as_the_chords_say() {
    // Node 1 drives along y = 150 at 10 m/s from x = -500: nodes 0 at (0, 0) and 2 at (400, 0) each reach it while it is
    // within 200 m of them along x. So: one hop from 30 to 70 s, two by node 2... node 0 and 2 are 400 m apart: no link.
    let alone = [fixed(0.0, 0.0), driving(-500.0, 150.0, 0.0, 10.0), fixed(400.0, 0.0)];
    let t = zero_to_one(&alone);
    assert_eq!(counts(&t), (2, 2, 1));
    let near = |a: Time, s: f64| a.since(at(s)).max(at(s).since(a)) <= Span::from_nanos(2);
    assert!(near(t.steps[1].from, 30.0) && near(t.steps[2].from, 70.0), "{:?}", t.steps);
    assert!((t.hop_share()[0] - 0.4).abs() < 1e-9 && (t.unreachable_share().unwrap() - 0.6).abs() < 1e-9);
    // With node 2 at 240 m the car is at two hops from 70 s, when it leaves node 0, to 94 s, when it leaves node 2.
    let relayed = [alone[0].clone(), alone[1].clone(), fixed(240.0, 0.0)];
    let t = zero_to_one(&relayed);
    assert_eq!(hops(&t), [None, Some(1), Some(2), None]);
    assert!(near(t.steps[2].from, 70.0) && near(t.steps[3].from, 94.0), "{:?}", t.steps);
    assert_eq!(counts(&t), (3, 3, 1));
    assert!((t.mean_hops().unwrap() - (40.0 + 2.0 * 24.0) / 64.0).abs() < 1e-9);
}

#[test]
fn a_link_that_goes_at_the_moment_another_comes_leaves_no_gap() {
    // Node 1 drives from one mast's disc into the other's: 500 m apart, they touch at one point, which it crosses at 25 s,
    // at speeds whose moments are no whole nanoseconds. Three relays, none of them near that point, join the masts.
    for speed in [10.0, 7.3, 33.333, 0.917] {
        let begin = 250.0 - speed * 25.0;
        let relays = [fixed(100.0, -220.0), fixed(250.0, -300.0), fixed(400.0, -220.0)];
        let masts = [fixed(0.0, 0.0), driving(begin, 0.0, 0.0, speed), fixed(500.0, 0.0)];
        let pair = Pair { src: 0, dst: 1, from: at(20.0), until: at(25.5) };
        let watch = |tracks: &[Track]| survey(tracks, &[], 250.0, at(30.0), &[pair]).flows.remove(0);
        let t = watch(&[&masts[..], &relays].concat());
        assert_eq!(hops(&t), [Some(1), Some(5)], "{speed}");
        // Without relays there is no path afterwards.
        assert_eq!(watch(&masts).partitions(), 1, "{speed}");
    }
    let masts = [fixed(0.0, 0.0), driving(0.0, 0.0, 0.0, 10.0), fixed(500.0, 0.0)];
    let links = survey(&masts, &[], 250.0, at(END_S), &[]).links;
    assert_eq!((links.ups(), links.downs()), (1, 2), "{:?}", links.contacts);
}

#[test]
fn changes_within_what_rounding_moves_them_by_are_one() {
    // 0-2-1 is lost, 0-3-1 comes `later_ns` later.
    for (later_ns, steps) in
        [(0, vec![Some(2), Some(2)]), (80, vec![Some(2), Some(2)]), (200, vec![Some(2), None, Some(2)])]
    {
        let net = Adjacency::new(vec![vec![2], vec![2, 3], vec![0, 1], vec![1]]);
        let (lost, found) = (Time::from_nanos(1_000), Time::from_nanos(1_000 + later_ns));
        let changes =
            [LinkChange { at: lost, a: 0, b: 2, up: false }, LinkChange { at: found, a: 0, b: 3, up: true }];
        let pair = Pair { src: 0, dst: 1, from: Time::ZERO, until: at(1.0) };
        let t = follow(net, &changes, at(1.0), &[pair]).flows.remove(0);
        assert_eq!(hops(&t), steps, "{later_ns} ns");
    }
}

#[test]
fn a_relay_whose_links_end_together_changes_the_path_once() {
    // Node 2 stands between and jumps away: both its links end; node 3 is a longer way round that remains.
    let t = zero_to_one(&[
        fixed(0.0, 0.0),
        fixed(400.0, 0.0),
        jumping(200.0, 0.0, &[(30.0, 9_000.0)]),
        fixed(120.0, 200.0),
        fixed(300.0, 200.0),
    ]);
    assert_eq!(hops(&t), [Some(2), Some(3)]);
}

#[test]
fn nodes_at_the_range_exactly_and_tangents_are_no_paths() {
    let t = zero_to_one(&[fixed(0.0, 0.0), fixed(250.0, 0.0)]);
    assert_eq!((counts(&t), t.unreachable_share()), ((0, 0, 0), Some(1.0)));
    let t = zero_to_one(&[fixed(0.0, 0.0), driving(-500.0, 250.0, 0.0, 10.0)]);
    assert_eq!((counts(&t), t.unreachable_share()), ((0, 0, 0), Some(1.0)));
    // A micrometre inside: sqrt(2 * 250 * 1e-6) = 22.4 mm to both sides, 4.47 ms.
    let t = zero_to_one(&[fixed(0.0, 0.0), driving(-500.0, 250.0 - 1e-6, 0.0, 10.0)]);
    assert_eq!(counts(&t), (2, 2, 1));
    assert!((t.hop_share()[0] * END_S - 4.472e-3).abs() < 1e-6, "{}", t.hop_share()[0] * END_S);
}

#[test]
fn a_flow_knows_nothing_of_what_was_before_it_and_after_it() {
    let tracks = [fixed(0.0, 0.0), jumping(100.0, 0.0, &[(10.0, 900.0), (20.0, 100.0), (60.0, 900.0)])];
    let over = |from_s, until_s| {
        let pair = Pair { src: 0, dst: 1, from: at(from_s), until: at(until_s) };
        survey(&tracks, &[], 250.0, at(END_S), &[pair]).flows.remove(0)
    };
    assert_eq!(counts(&over(0.0, 100.0)), (3, 3, 2));
    // From the moment of a change on, and up to one.
    let t = over(20.0, 60.0);
    assert_eq!((counts(&t), t.hop_share()), ((0, 0, 0), vec![1.0]));
    let t = over(15.0, 40.0);
    assert_eq!((counts(&t), t.unreachable_share()), ((1, 1, 0), Some(0.2)));
    let t = over(90.0, 200.0);
    assert_eq!((t.observed(), t.unreachable_share()), (Span::from_secs(10), Some(1.0)));
    let none = over(50.0, 50.0);
    assert_eq!((counts(&none), none.steps.len(), none.unreachable_share()), ((0, 0, 0), 0, None));
}

#[test]
fn links_are_written_down_from_beginning_to_end() {
    // Node 1 passes node 0 as above, from 30 to 70 s; node 2 stays with node 0.
    let tracks = [fixed(0.0, 0.0), driving(-500.0, 150.0, 0.0, 10.0), fixed(0.0, -240.0)];
    let links = survey(&tracks, &[], 250.0, at(END_S), &[]).links;
    assert_eq!(links.contacts.len(), 2);
    let (passing, staying) = (links.contacts[0], links.contacts[1]);
    assert_eq!((staying.a, staying.b, staying.up, staying.down), (0, 2, None, None));
    assert!((passing.lifetime().unwrap().as_secs_f64() - 40.0).abs() < 1e-8);
    assert_eq!((staying.lifetime(), staying.seen(at(END_S))), (None, Span::from_secs(100)));
    // 140 link seconds in which one link ended: 140 s is the best estimate of the mean lifetime.
    assert!((links.lifetime_mean_s().unwrap() - 140.0).abs() < 1e-6);
    assert!((links.links_mean() - 1.4).abs() < 1e-9 && (links.neighbours_mean() - 2.8 / 3.0).abs() < 1e-9);
    let [zero, one, _] = links.nodes[..] else { panic!() };
    assert_eq!((zero.neighbours_min, zero.neighbours_max, zero.changes), (1, 2, 2));
    assert!((zero.neighbours_mean - 1.4).abs() < 1e-9 && zero.isolated_share == 0.0);
    assert!((one.isolated_share - 0.6).abs() < 1e-9 && one.neighbours_min == 0);
}

/// All shortest paths, each as the list of its nodes, found by walking every one of them.
fn all_shortest(links: &BTreeSet<(u32, u32)>, nodes: u32) -> BTreeSet<Vec<u32>> {
    let linked = |a: u32, b: u32| links.contains(&(a.min(b), a.max(b)));
    let mut paths = vec![vec![0]];
    for _ in 0..nodes {
        let found: BTreeSet<Vec<u32>> = paths.iter().filter(|p| p.last() == Some(&1)).cloned().collect();
        if !found.is_empty() {
            return found;
        }
        let longer = |p: &Vec<u32>| -> Vec<Vec<u32>> {
            let end = p[p.len() - 1];
            (0..nodes)
                .filter(|&n| !p.contains(&n) && linked(end, n))
                .map(|n| [&p[..], &[n]].concat())
                .collect()
        };
        paths = paths.iter().flat_map(longer).collect();
    }
    BTreeSet::new()
}

proptest! {
    /// The running intersection of the sets themselves, as the paper has it, says the same as we do without the sets.
    #[test]
    fn path_changes_are_those_of_the_sets_of_all_shortest_paths(
        begin in proptest::collection::btree_set((0..7u32, 0..7u32), 0..14),
        toggles in proptest::collection::vec((0..7u32, 0..7u32, 0..3u64), 0..80),
    ) {
        let mut links: BTreeSet<(u32, u32)> =
            begin.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        let near = |links: &BTreeSet<(u32, u32)>| {
            (0..7).map(|n| (0..7).filter(|&k| links.contains(&(k.min(n), k.max(n)))).collect()).collect()
        };
        let net = Adjacency::new(near(&links));
        let mut standing = all_shortest(&links, 7);
        let mut hops = standing.first().map(|p| p.len() - 1);
        let mut expect = vec![(Time::ZERO, hops)];
        let (mut now, mut changes) = (0u64, Vec::new());
        for (k, &(a, b, wait)) in toggles.iter().enumerate().filter(|(_, (a, b, _))| a != b) {
            let (a, b) = (a.min(b), a.max(b));
            let up = links.insert((a, b));
            if !up {
                links.remove(&(a, b));
            }
            // Zero: at the same moment as the last.
            now += wait * 1_000_000;
            let moment = Time::from_nanos(now + 1);
            changes.push(LinkChange { at: moment, a, b, up });
            let is_last = toggles[k + 1..].iter().find(|(a, b, _)| a != b).is_none_or(|(_, _, wait)| *wait > 0);
            if !is_last {
                continue;
            }
            let paths = all_shortest(&links, 7);
            standing = standing.intersection(&paths).cloned().collect();
            // What went in this moment and came back did not go.
            let length = paths.first().map(|p| p.len() - 1);
            if length != hops || (standing.is_empty() && !paths.is_empty()) {
                hops = length;
                standing = paths;
                expect.push((moment, hops));
            }
        }
        let until = Time::from_nanos(now + 1_000_000_000);
        let pair = Pair { src: 0, dst: 1, from: Time::ZERO, until };
        let found = follow(net, &changes, until, &[pair]).flows.remove(0);
        let ours: Vec<_> = found.steps.iter().map(|s| (s.from, s.hops.map(usize::from))).collect();
        prop_assert_eq!(ours, expect);
    }
}
