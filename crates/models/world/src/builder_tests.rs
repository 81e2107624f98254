use super::*;

fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// That the track has these x and y at these seconds.
fn assert_at(track: &Track, places: &[(f64, f64, f64)]) {
    for &(seconds, x, y) in places {
        let p = track.position(s(seconds));
        assert!(p.distance(Position::new(x, y, p.z)) < 1e-6, "at {seconds} s: {p:?}, not ({x}, {y})");
    }
}

/// From the origin with 3 m/s along x and 4 m/s along y; both arrive at 10 s.
fn under_way() -> TrackBuilder {
    let mut b = TrackBuilder::new(Position::default());
    b.set_destination(s(0.0), 30.0, 40.0, 5.0);
    b
}

#[test]
fn a_move_is_straight_and_ends_at_its_destination() {
    let mut b = TrackBuilder::new(Position::new(10.0, 10.0, 1.5));
    b.set_destination(s(1.0), 40.0, 50.0, 5.0);
    let t = b.finish();
    assert_at(&t, &[(0.5, 10.0, 10.0), (6.0, 25.0, 30.0), (11.0, 40.0, 50.0), (900.0, 40.0, 50.0)]);
    assert_eq!(t.position(s(900.0)), Position::new(40.0, 50.0, 1.5));
    assert!((t.max_speed() - 5.0).abs() < 1e-12);
}

#[test]
fn a_later_move_replaces_the_one_under_way() {
    let mut b = TrackBuilder::new(Position::default());
    b.set_destination(s(0.0), 100.0, 0.0, 10.0);
    b.set_destination(s(5.0), 50.0, 30.0, 10.0);
    let t = b.finish();
    assert_at(&t, &[(5.0, 50.0, 0.0), (7.0, 50.0, 20.0), (9.0, 50.0, 30.0)]);
}

#[test]
fn speed_zero_and_a_move_to_the_same_place_are_rests() {
    let mut b = TrackBuilder::new(Position::default());
    b.set_destination(s(0.0), 100.0, 0.0, 10.0);
    b.set_destination(s(3.0), 70.0, 70.0, 0.0);
    b.set_destination(s(4.0), 30.0, 0.0, 8.0);
    let t = b.finish();
    assert_at(&t, &[(60.0, 30.0, 0.0)]);
    assert_eq!(t.legs().len(), 2);
}

#[test]
fn a_jump_of_a_resting_node_stays() {
    let mut b = TrackBuilder::new(Position::new(5.0, 6.0, 0.0));
    b.jump(s(2.0), Axis::X, 12.0);
    b.jump(s(2.0), Axis::Z, 3.0);
    let t = b.finish();
    assert_at(&t, &[(1.9, 5.0, 6.0)]);
    assert_eq!(t.position(s(2.0)), Position::new(12.0, 6.0, 3.0));
    assert_eq!(t.jumps().count(), 1);
}

#[test]
fn a_jump_under_way_goes_on_axis_by_axis_as_in_ns2() {
    let mut b = under_way();
    b.jump(s(5.0), Axis::X, 0.0);
    let t = b.finish();
    assert_at(&t, &[(5.0, 0.0, 20.0), (8.0, 9.0, 32.0), (10.0, 15.0, 40.0)]);
    assert_at(&t, &[(15.0, 30.0, 40.0), (99.0, 30.0, 40.0)]);
}

#[test]
fn a_jump_beyond_the_destination_snaps_back_as_in_ns2() {
    let mut b = under_way();
    assert!(b.is_driven(Axis::X) && !b.is_driven(Axis::Z));
    b.jump(s(20.0), Axis::X, 500.0);
    let t = b.finish();
    assert_at(&t, &[(20.0, 30.0, 40.0)]);
}

#[test]
fn a_jump_that_is_followed_by_a_move_at_the_same_moment_stands() {
    let mut b = under_way();
    b.jump(s(20.0), Axis::X, 500.0);
    b.set_destination(s(20.0), 500.0, 40.0, 0.0);
    let t = b.finish();
    assert_at(&t, &[(19.0, 30.0, 40.0), (20.0, 500.0, 40.0), (99.0, 500.0, 40.0)]);
}

#[test]
fn thousands_of_replaced_moves_do_not_drift() {
    // The oracle: the same recursion in 64-bit floats without rounding of times.
    let mut b = TrackBuilder::new(Position::default());
    let (mut x, mut y, mut last) = (0.0f64, 0.0f64, 0.0f64);
    let (mut dx, mut dy) = (0.0, 0.0);
    for i in 0..5_000u32 {
        let t = f64::from(i) * 0.123_456_789_1;
        x += dx * 20.0 * (t - last);
        y += dy * 20.0 * (t - last);
        last = t;
        let (px, py) = (f64::from(i * 7919 % 1500) + 1.0, f64::from(i * 104_729 % 300));
        let len = ((px - x) * (px - x) + (py - y) * (py - y)).sqrt();
        // Far enough that no move ends before the next begins.
        let (qx, qy) = (x + (px - x) / len * 1e3, y + (py - y) / len * 1e3);
        (dx, dy) = ((px - x) / len, (py - y) / len);
        b.set_destination(s(t), qx, qy, 20.0);
    }
    let p = b.finish().position(s(last));
    assert!(p.distance(Position::new(x, y, 0.0)) < 1e-6, "{p:?} {x} {y}");
}
