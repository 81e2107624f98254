//! Positions that cannot be right: out of order in time, two at one moment, too far away or reached too fast. A few of
//! them are skipped and counted; if there are many, the file means something else, and is refused.

use wayhop_core::Position;
use wayhop_document::{Error, Omissions, Result};

use crate::notes::{Notes, keep};
use crate::track::{Point, SAME_PLACE_M, Track};

/// The highest speed of a node, m/s.
pub(crate) const FASTEST_MPS: f64 = 10_000.0;
/// The longest run that a file may ask for, seconds.
const LONGEST_S: f64 = 1e7;
/// Places with no other within this time, 30 days, have a wrong date if there are few of them.
const APART_S: f64 = 30.0 * 86_400.0;

const NO_NUMBERS: [&str; 2] =
    ["place with a number that is not finite", "places with a number that is not finite"];
const OUT_OF_ORDER: [&str; 2] = ["place out of order in time", "places out of order in time"];
const SAME_MOMENT: [&str; 2] =
    ["place with the same time as the next one", "places with the same time as the next one"];
const TOO_FAST: [&str; 2] =
    ["place that requires more than 10 km/s", "places that require more than 10 km/s"];
const WRONG_DATE: [&str; 2] =
    ["place dated 30 days or more from the others", "places dated 30 days or more from the others"];

/// Whether so few are wrong that the others are right.
pub(crate) fn few(wrong: usize, of: usize) -> bool {
    wrong * 4 <= of || (wrong == 1 && of > 2)
}

/// Removes positions that cannot be right.
pub(crate) fn clean(tracks: &mut [Track], notes: &mut Notes) -> Result<()> {
    for t in tracks.iter_mut() {
        let skipped = &mut notes.skipped[t.file];
        keep(
            &mut t.points,
            skipped,
            NO_NUMBERS,
            |p| p.line,
            |p| [p.at_s, p.place.x, p.place.y, p.place.z].iter().all(|v| v.is_finite() && v.abs() < 1e12),
        );
        if put_in_order(&mut t.points, skipped) {
            notes.remarks.push(format!("the places of {} were sorted by time", t.name));
        }
        let skipped = &mut notes.skipped[t.file];
        one_a_moment(&mut t.points, skipped);
    }
    of_one_time(tracks, notes)?;
    for t in tracks {
        let skipped = &mut notes.skipped[t.file];
        not_too_fast(t, skipped).map_err(|e| e.in_file(skipped.file()))?;
    }
    Ok(())
}

/// Skips the fewest positions that make time go back; if there are many, sorts them instead, and returns `true`.
fn put_in_order(points: &mut Vec<Point>, skipped: &mut Omissions) -> bool {
    if points.is_sorted_by(|a, b| a.at_s <= b.at_s) {
        return false;
    }
    let in_order = longest_in_order(points);
    let wrong = in_order.iter().filter(|kept| !**kept).count();
    if !few(wrong, points.len()) {
        points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        return true;
    }
    let mut kept = in_order.iter();
    keep(points, skipped, OUT_OF_ORDER, |p| p.line, |_| *kept.next().unwrap_or(&true));
    false
}

/// Which places are in a longest sequence whose times never go back.
fn longest_in_order(points: &[Point]) -> Vec<bool> {
    // The last place of the best sequence of each length, and the place before each: patience sorting.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(points.len());
    for (i, p) in points.iter().enumerate() {
        let length = ends.partition_point(|e| points[*e].at_s <= p.at_s);
        before.push(length.checked_sub(1).map(|l| ends[l]));
        if length == ends.len() {
            ends.push(i);
        } else {
            ends[length] = i;
        }
    }
    let mut kept = vec![false; points.len()];
    let mut at = ends.last().copied();
    while let Some(i) = at {
        kept[i] = true;
        at = before[i];
    }
    kept
}

/// Of several positions at one moment the last one applies.
fn one_a_moment(points: &mut Vec<Point>, skipped: &mut Omissions) {
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for p in points.iter() {
        match kept.last_mut() {
            Some(last) if last.at_s == p.at_s => {
                if last.place.distance(p.place) > SAME_PLACE_M {
                    skipped.add(last.line, SAME_MOMENT);
                }
                *last = *p;
            }
            _ => kept.push(*p),
        }
    }
    *points = kept;
}

/// Skips places of another time than the others.
fn of_one_time(tracks: &mut [Track], notes: &mut Notes) -> Result<()> {
    let mut times: Vec<f64> = tracks.iter().flat_map(|t| &t.points).map(|p| p.at_s).collect();
    times.sort_by(f64::total_cmp);
    let length_s = |times: &[f64]| times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first);
    if length_s(&times) <= LONGEST_S {
        return Ok(());
    }
    let together = times.chunk_by(|a, b| b - a < APART_S).max_by_key(|c| c.len()).unwrap_or_default();
    if few(times.len() - together.len(), times.len()) && length_s(together) <= LONGEST_S {
        let (first, last) = (together[0], together[together.len() - 1]);
        for t in tracks {
            let is_then = |p: &Point| (first..=last).contains(&p.at_s);
            keep(&mut t.points, &mut notes.skipped[t.file], WRONG_DATE, |p| p.line, is_then);
        }
        return Ok(());
    }
    let long = format!("times span {} s", length_s(&times));
    Err(notes.located(Error::new(long, "import only tracks of one experiment, recorded on the same day")))
}

/// Skips single places that a node comes to faster than it can.
fn not_too_fast(t: &mut Track, skipped: &mut Omissions) -> Result<()> {
    let speed_mps = |a: &Point, b: &Point| a.place.distance(b.place) / (b.at_s - a.at_s);
    let is_fast = |a: &Point, b: &Point| speed_mps(a, b) > FASTEST_MPS;
    let Some((a, b)) = t.points.windows(2).map(|w| (w[0], w[1])).find(|(a, b)| is_fast(a, b)) else {
        return Ok(());
    };
    let too_fast = || {
        let fast =
            format!("to reach this position, node {} would move at {:.0} m/s", t.name, speed_mps(&a, &b));
        Error::new(fast, "remove wrong positions").at_line(b.line)
    };
    let mut kept: Vec<Point> = Vec::new();
    let mut wrong: Vec<u32> = Vec::new();
    for (i, p) in t.points.iter().enumerate() {
        match kept.last_mut() {
            Some(last) if is_fast(last, p) => {
                // The first place may be the wrong one: then the next two agree with each other.
                let next = t.points.get(i + 1).filter(|_| i == 1);
                if next.is_some_and(|n| !is_fast(p, n) && is_fast(last, n)) {
                    wrong.push(last.line);
                    *last = *p;
                } else {
                    wrong.push(p.line);
                }
            }
            _ => kept.push(*p),
        }
    }
    if !few(wrong.len(), t.points.len()) {
        return Err(too_fast());
    }
    for line in wrong {
        skipped.add(line, TOO_FAST);
    }
    t.points = kept;
    Ok(())
}

/// How far apart two places are, in the plane.
pub(crate) fn away_m(p: Position) -> f64 {
    Position::default().distance(Position::new(p.x, p.y, 0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn track(points: &[(f64, f64)]) -> Track {
        let point = |(&(at_s, x), line)| Point { at_s, place: Position::new(x, 0.0, 0.0), line };
        let points = points.iter().zip(1..).map(point).collect();
        Track { name: "a".to_owned(), points, ..Track::default() }
    }

    fn cleaned(points: &[(f64, f64)]) -> Result<(Vec<u32>, Vec<String>)> {
        let mut notes = Notes::of(["f".as_ref()]);
        let mut tracks = [track(points)];
        clean(&mut tracks, &mut notes)?;
        let said = notes.skipped[0].kinds().chain(notes.remarks).collect();
        Ok((tracks[0].points.iter().map(|p| p.line).collect(), said))
    }

    /// Points in lines 1, 2, ...; the lines that stay; what is said.
    type Case<'a> = (&'a [(f64, f64)], &'a [u32], &'a str);

    #[test]
    fn a_few_places_that_cannot_be_are_skipped_and_many_are_understood_or_refused() {
        let year_s = 3e7;
        let out_of_order = ["1 place out of order in time (line 3)", "1 place out of order in time (line 1)"];
        let too_fast = [3, 1].map(|line| format!("1 place that requires more than 10 km/s (line {line})"));
        let same_time = "1 place with the same time as the next one (line 2)";
        let dated = "1 place dated 30 days or more from the others (line 4)";
        let no_numbers = "2 places with a number that is not finite (lines 2 and 3)";
        let cases: [Case<'_>; 10] = [
            // One dated later, one earlier, the first one later; the newest first.
            (&[(1., 0.), (2., 1.), (9., 2.), (3., 3.)], &[1, 2, 4], out_of_order[0]),
            (&[(5., 0.), (6., 1.), (1., 2.), (7., 3.)], &[1, 2, 4], out_of_order[0]),
            (&[(9., 0.), (2., 1.), (3., 2.), (4., 3.)], &[2, 3, 4], out_of_order[1]),
            (&[(4., 0.), (3., 1.), (2., 2.), (1., 3.)], &[4, 3, 2, 1], "the places of a were sorted by time"),
            // Two in a second; twice the same.
            (&[(1., 0.), (2., 1.), (2., 2.), (3., 3.)], &[1, 3, 4], same_time),
            (&[(1., 0.), (2., 1.), (2., 1.), (3., 3.)], &[1, 3, 4], ""),
            // The last one a year later; a jump and back; the first one elsewhere.
            (&[(1., 0.), (2., 1.), (3., 2.), (year_s, 3.)], &[1, 2, 3], dated),
            (&[(1., 0.), (2., 1.), (3., 5e4), (4., 3.)], &[1, 2, 4], &too_fast[0]),
            (&[(1., 5e4), (2., 1.), (3., 2.), (4., 3.)], &[2, 3, 4], &too_fast[1]),
            (&[(1., 0.), (f64::NAN, 1.), (3., f64::INFINITY)], &[1], no_numbers),
        ];
        for (points, lines, said) in cases {
            let (kept, notes) = cleaned(points).unwrap();
            assert_eq!((&kept[..], &*notes.join("")), (lines, said), "{points:?}");
        }
        let fast = cleaned(&[(1., 0.), (2., 5e4)]).unwrap_err().to_string();
        assert!(fast.contains("f:2: to reach this position, node a would move at 50000 m/s"), "{fast}");
        assert!(cleaned(&[(1., 0.), (year_s, 1.)]).unwrap_err().reason.contains("times span"));
    }

    proptest! {
        #[test]
        fn what_stays_is_in_order_and_nothing_is_lost_without_a_count(
            points in proptest::collection::vec((0..40_i32, 0..3_i32), 1..40),
        ) {
            let points: Vec<(f64, f64)> = points.iter().map(|(t, x)| (f64::from(*t), f64::from(*x))).collect();
            let mut notes = Notes::of(["f".as_ref()]);
            let mut tracks = [track(&points)];
            clean(&mut tracks, &mut notes).unwrap();
            let kept = &tracks[0].points;
            prop_assert!(kept.windows(2).all(|w| w[0].at_s < w[1].at_s));
            // Each point that is gone is counted, or has another one at its moment and place.
            let is_there = |(t, x): &(f64, f64)| kept.iter().any(|p| (p.at_s, p.place.x) == (*t, *x));
            let gone = points.iter().filter(|p| !is_there(p)).count();
            prop_assert!(gone == 0 || !notes.skipped[0].is_empty());
        }
    }
}
