//! Positions against the geometry of the WGS 84 ellipsoid as published.

use std::net::Ipv4Addr;

use wayhop_core::{Fix, Span, Time};
use wayhop_link_quality::{DatedPosition, Positions, distance_m};

fn at(latitude_deg: f64, longitude_deg: f64) -> Fix {
    Fix { latitude_deg, longitude_deg, heading_deg: 0.0, speed_m_per_s: 0.0 }
}
fn node(n: u8) -> Ipv4Addr {
    [10, 0, 0, n].into()
}
fn s(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}
#[track_caller]
fn close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected} +- {within}");
}

#[test]
fn a_degree_has_the_length_that_geodesy_gives_it() {
    // NIMA TR8350.2: at the equator 111 319.49 m of longitude and 110 574.3 m of latitude; at 45 degrees 78 846.8 m and
    // 111 131.8 m. One hundredth of each.
    close(distance_m(&at(0.0, 7.0), &at(0.0, 7.01)), 1_113.194_9, 0.001);
    close(distance_m(&at(-0.005, 0.0), &at(0.005, 0.0)), 1_105.743, 0.001);
    close(distance_m(&at(45.0, 10.0), &at(45.0, 10.01)), 788.468, 0.001);
    close(distance_m(&at(44.995, 10.0), &at(45.005, 10.0)), 1_111.318, 0.001);
}

#[test]
fn the_date_line_is_no_wall() {
    close(distance_m(&at(0.0, 179.995), &at(0.0, -179.995)), 1_113.194_9, 0.001);
}

#[test]
fn a_node_goes_on_with_its_heading_and_speed_for_ten_seconds_at_most() {
    let fix = Fix { latitude_deg: 40.44, longitude_deg: -79.95, heading_deg: 90.0, speed_m_per_s: 10.0 };
    let seen = DatedPosition { fix, at: s(100) };
    let east = seen.predicted(s(104));
    close(distance_m(&fix, &east), 40.0, 0.01);
    assert!(east.longitude_deg > fix.longitude_deg);
    close(east.latitude_deg, fix.latitude_deg, 1e-9);
    close(distance_m(&fix, &seen.predicted(s(500))), 100.0, 0.01);
}

#[test]
fn nodes_that_part_are_predicted_to_be_further_apart() {
    let mut p = Positions::new(8);
    let south = Fix { latitude_deg: 40.0, longitude_deg: -80.0, heading_deg: 180.0, speed_m_per_s: 5.0 };
    // A thousandth of a degree of latitude at 40 degrees is 111.035 m.
    let north = Fix { latitude_deg: 40.001, heading_deg: 0.0, speed_m_per_s: 15.0, ..south };
    p.learn(node(1), south, s(0));
    p.learn(node(2), north, s(0));
    close(p.distance_m(node(1), node(2)).expect("both are known"), 111.035, 0.01);
    close(p.predicted_distance_m(node(1), node(2), s(2)).expect("both are known"), 151.035, 0.02);
    assert_eq!(p.distance_m(node(1), node(3)), None);
}

#[test]
fn what_is_not_on_the_globe_is_not_noted() {
    let mut p = Positions::new(8);
    for (lat, lon) in [(91.0, 0.0), (f64::NAN, 0.0), (0.0, f64::INFINITY), (0.0, 1e9)] {
        p.learn(node(1), at(lat, lon), s(0));
    }
    assert!(p.of(node(1)).is_none());
    // What is noted predicts a place on the globe, whatever the speed and heading.
    for heading_deg in [f32::NAN, f32::MAX, 45.0] {
        let mad = Fix { latitude_deg: 90.0, longitude_deg: 360.0, heading_deg, speed_m_per_s: f32::MAX };
        p.learn(node(1), mad, s(0));
        let there = p.of(node(1)).expect("a place on the globe").predicted(s(9));
        assert!(there.latitude_deg.abs() <= 90.0 && there.longitude_deg.abs() <= 360.0, "{there:?}");
    }
}

#[test]
fn the_table_keeps_the_nodes_heard_of_last() {
    let mut p = Positions::new(2);
    for n in 1..=3 {
        p.learn(node(n), at(0.0, 0.0), s(n.into()));
    }
    assert_eq!(p.iter().map(|(a, _)| a).collect::<Vec<_>>(), [node(2), node(3)]);
}
