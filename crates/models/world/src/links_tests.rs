use super::*;
use crate::TrackBuilder;
use wayhop_core::Span;

fn at(x: f64, y: f64) -> Position {
    Position::new(x, y, 0.0)
}

#[test]
fn a_node_that_passes_by_links_for_as_long_as_the_chord() {
    // Past a node at rest at a distance of 150 m and 10 m/s: half the chord is 200 m, so from 500 - 200 to 500 + 200.
    let still = Track::fixed(at(500.0, 150.0));
    let mut b = TrackBuilder::new(at(0.0, 0.0));
    b.set_destination(Time::ZERO, 1_000.0, 0.0, 10.0);
    let c = changes(&[still, b.finish()], 250.0, Time::from_secs_f64(100.0));
    let expect = [(30.0, true), (70.0, false)];
    assert_eq!(c.len(), 2);
    for (c, (s, up)) in c.iter().zip(expect) {
        assert!((c.at.as_secs_f64() - s).abs() < 2e-9 && c.up == up && (c.a, c.b) == (0, 1), "{c:?}");
    }
}

#[test]
fn a_jump_changes_links_at_once_and_a_touch_is_no_link() {
    let still = Track::fixed(at(0.0, 0.0));
    let mut b = TrackBuilder::new(at(1_000.0, 0.0));
    b.jump(Time::from_secs_f64(3.0), crate::Axis::X, 100.0);
    b.jump(Time::from_secs_f64(5.0), crate::Axis::X, 250.0);
    let c = changes(&[still.clone(), b.finish()], 250.0, Time::from_secs_f64(9.0));
    assert_eq!(c.iter().map(|c| (c.at.as_secs_f64(), c.up)).collect::<Vec<_>>(), [(3.0, true), (5.0, false)]);
    // A tangent: exactly 250 m at the nearest.
    let mut b = TrackBuilder::new(at(-300.0, 250.0));
    b.set_destination(Time::ZERO, 300.0, 250.0, 10.0);
    assert_eq!(changes(&[still, b.finish()], 250.0, Time::from_secs_f64(60.0)), []);
}

#[test]
fn changes_agree_with_distances_sampled_densely() {
    let tracks = crate::waypoint::nodes([1500.0, 300.0], Span::from_secs(3), 120.0).tracks(11, 12);
    let until = Time::from_secs_f64(120.0);
    let list = changes(&tracks, 250.0, until);
    assert!(list.len() > 40, "{}", list.len());
    assert!(list.is_sorted());
    let mut linked = vec![vec![false; 12]; 12];
    let start: Vec<_> = tracks.iter().map(|t| t.position(Time::ZERO)).collect();
    for (i, near) in neighbours(&start, 250.0).iter().enumerate() {
        for &j in near {
            linked[i][j as usize] = true;
        }
    }
    let mut next = list.iter().peekable();
    for ms in (1..120_000u64).step_by(50) {
        let now = Time::from_nanos(ms * 1_000_000);
        while let Some(c) = next.next_if(|c| c.at <= now) {
            assert_ne!(linked[c.a as usize][c.b as usize], c.up, "a change that changes nothing: {c:?}");
            linked[c.a as usize][c.b as usize] = c.up;
        }
        for a in 0..12 {
            for b in a + 1..12 {
                let d = tracks[a].position(now).distance(tracks[b].position(now));
                assert_eq!(linked[a][b], d < 250.0, "{a} {b} at {now}: {d} m");
            }
        }
    }
}

#[test]
fn neighbours_are_those_of_the_plain_definition() {
    let p = crate::placement::uniform(300, [900.0, 700.0, 400.0], 5);
    let fast = neighbours(&p, 120.0);
    for i in 0..p.len() {
        let slow: Vec<u32> =
            (0..p.len()).filter(|&j| j != i && p[i].distance(p[j]) < 120.0).map(|j| j as u32).collect();
        assert_eq!(fast[i], slow);
    }
}

#[test]
fn nodes_that_drive_side_by_side_at_the_range_exactly_are_not_linked() {
    // At 250 m through turns whose coordinates no binary fraction holds; 4 nm nearer they are linked all the way.
    for (apart, expect) in [(250.0, 0), (250.0 - 4e-9, 1)] {
        let side = |dx: f64| {
            let mut b = TrackBuilder::new(at(0.1 + dx, 0.7));
            let turns =
                [(0.0, 700.3, 0.9), (333.3, 1100.7, 333.3), (666.6, 12.9, 71.1), (999.9, 12.9, 1800.1)];
            for (s, x, y) in turns {
                b.set_destination(Time::from_secs_f64(s), x + dx, y, 3.7);
            }
            b.finish()
        };
        let tracks = [side(0.0), side(apart)];
        let begin: Vec<_> = tracks.iter().map(|t| t.position(Time::ZERO)).collect();
        assert_eq!(neighbours(&begin, 250.0)[0].len(), expect, "{apart}");
        assert_eq!(changes(&tracks, 250.0, Time::from_secs_f64(2000.0)), [], "{apart}");
    }
}

#[test]
fn the_changes_of_some_nodes_are_those_of_all_nodes_that_have_one_of_them() {
    let until = Time::from_secs_f64(90.0);
    let tracks = crate::waypoint::nodes([1200.0, 900.0], Span::from_secs(5), 90.0).tracks(7, 30);
    let all = changes(&tracks, 250.0, until);
    let of = [3, 17, 29];
    let expect: Vec<_> = all.iter().filter(|c| of.contains(&c.a) || of.contains(&c.b)).copied().collect();
    assert!(expect.len() > 20, "{}", expect.len());
    assert_eq!(changes_of(&tracks, &of, 250.0, until), expect);
    assert_eq!(changes_up_to(&tracks, 250.0, until, all.len()), Some(all.clone()));
    assert_eq!(changes_up_to(&tracks, 250.0, until, 10), None);
}
