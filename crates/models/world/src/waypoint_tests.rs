use super::*;

fn model(start: Start) -> RandomWaypoint {
    RandomWaypoint { start, ..nodes([1500.0, 300.0], Span::from_secs(10), 900.0) }
}

#[test]
fn nodes_stay_in_the_area_and_keep_to_the_speeds() {
    for start in [Start::Uniform, Start::Steady] {
        for t in model(start).tracks(1, 30) {
            assert!(t.max_speed() <= 20.0 + 1e-9 && t.max_speed() >= 1.0);
            for s in 0..950 {
                let p = t.position(Time::from_secs_f64(f64::from(s)));
                assert!((0.0..=1500.0).contains(&p.x) && (0.0..=300.0).contains(&p.y) && p.z == 0.0, "{p:?}");
            }
            assert_eq!(t.jumps().count(), 0);
        }
    }
}

#[test]
fn a_node_moves_the_same_whoever_else_there_is_and_differently_with_another_seed() {
    let m = model(Start::Uniform);
    let few = m.tracks(1, 8);
    assert_eq!(few[7], m.tracks(1, 50)[7]);
    assert_ne!(few[7], m.tracks(2, 8)[7]);
    assert_ne!(few[7], few[6]);
}

#[test]
fn a_uniform_start_pauses_first_and_a_still_model_never_moves() {
    let t = model(Start::Uniform).tracks(5, 1).remove(0);
    assert_eq!(t.legs()[1].from, Time::from_secs_f64(10.0));
    let still = RandomWaypoint { speed_max: 0.0, speed_min: 0.0, ..model(Start::Uniform) };
    assert!(still.tracks(5, 1)[0].is_fixed());
    let point = RandomWaypoint { area: [0.0; 3], ..model(Start::Uniform) };
    assert!(point.tracks(5, 1)[0].is_fixed());
    let paused = RandomWaypoint { pause: Span::from_secs(900), ..model(Start::Uniform) };
    assert!(paused.tracks(5, 1)[0].is_fixed());
}

#[test]
fn mean_length_of_a_unit_square_is_the_textbook_value() {
    // (2 + sqrt 2 + 5 ln(1 + sqrt 2)) / 15 = 0.521405.
    let m = RandomWaypoint { area: [1.0, 1.0, 0.0], ..model(Start::Steady) };
    assert!((m.mean_length() - 0.521_405).abs() < 0.002, "{}", m.mean_length());
    let line = RandomWaypoint { area: [3.0, 0.0, 0.0], ..m };
    assert!((line.mean_length() - 1.0).abs() < 0.002);
}

#[test]
fn steady_start_has_the_long_run_mean_speed_from_the_beginning_and_uniform_start_does_not() {
    // Time-average speed without pause: (max - min) / ln(max / min) = 19 / ln 20 = 6.342 m/s; the mean of the draws is 10.5.
    let moving = |start| RandomWaypoint { pause: Span::ZERO, ..model(start) };
    let mean = |start| {
        let now = Time::from_nanos(1);
        moving(start).tracks(9, 4_000).iter().map(|t| t.leg_at(now).speed()).sum::<f64>() / 4_000.0
    };
    // Standard deviation of the stationary speed is about 5 m/s: standard error 0.08.
    assert!((mean(Start::Steady) - 6.342).abs() < 0.4, "{}", mean(Start::Steady));
    assert!((mean(Start::Uniform) - 10.5).abs() < 0.4, "{}", mean(Start::Uniform));
}

#[test]
fn expected_trips_is_what_tracks_have() {
    let m = RandomWaypoint { duration: Time::from_secs_f64(20_000.0), ..model(Start::Uniform) };
    let trips =
        m.tracks(4, 20).iter().map(|t| t.legs().iter().filter(|l| !l.is_rest()).count()).sum::<usize>();
    let each = trips as f64 / 20.0;
    assert!((each / m.expected_trips() - 1.0).abs() < 0.05, "{each} {}", m.expected_trips());
}
