//! Places on the globe, as places on a plane.

use wayhop_core::Position;
use wayhop_document::{Error, Result};
use wayhop_world::{GeoOrigin, Geodetic};

use crate::notes::{Notes, keep};
use crate::places::{away_m, few};
use crate::track::{Point, Track};

/// The largest distance between nodes, metres: beyond it, a tangent plane is not a map.
const FARTHEST_M: f64 = 200_000.0;
const TOO_FAR: [&str; 2] = ["place 200 km or more from the others", "places 200 km or more from the others"];

/// How heights are used.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Heights {
    /// They become `z`, which is 0 at the height of the first place.
    #[default]
    Read,
    /// All nodes are at `z` = 0.
    LeaveOut,
}

/// A node on the globe at a moment.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Fix {
    pub(crate) at_s: f64,
    pub(crate) place: Geodetic,
    /// Height, metres, if it is known; `place.alt` is not used.
    pub(crate) height_m: Option<f64>,
    pub(crate) line: u32,
}

/// Where one node was on the globe.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeFixes {
    pub(crate) name: String,
    /// The file that says so, as an index.
    pub(crate) file: usize,
    pub(crate) fixes: Vec<Fix>,
}

/// A latitude and a longitude, if they are on the globe.
pub(crate) fn geodetic(lat: f64, lon: f64) -> Option<Geodetic> {
    let fits = (-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon);
    fits.then_some(Geodetic { lat, lon, alt: 0.0 })
}

/// Whether numbers may all be longitudes and latitudes, and some have more decimals than metres are written with.
pub(crate) fn look_like_degrees(all: impl Iterator<Item = (f64, f64)>) -> bool {
    let is_fine = |v: f64| ((v * 1e3).round() / 1e3 - v).abs() > 1e-9;
    let mut any_fine = false;
    for (x, y) in all {
        if geodetic(y, x).is_none() {
            return false;
        }
        any_fine |= is_fine(x) || is_fine(y);
    }
    any_fine
}

/// Nodes in the frame of an origin: the first position of the first one, rounded to about a metre. `datum` is the
/// reference of heights.
pub(crate) fn to_metres(
    mut found: Vec<NodeFixes>,
    heights: Heights,
    datum: &str,
    notes: &mut Notes,
) -> Result<(Vec<Track>, Option<Geodetic>)> {
    leave_out_far_ones(&mut found, notes)?;
    let Some(first) = found.iter().find_map(|f| f.fixes.first()).map(|f| f.place) else {
        return Ok((Vec::new(), None));
    };
    let ground_m = if heights == Heights::Read { ground(&mut found, datum, notes) } else { None };
    let round = |degrees: f64| (degrees * 1e5).round() / 1e5;
    let origin = Geodetic { lat: round(first.lat), lon: round(first.lon), alt: ground_m.unwrap_or(0.0) };
    let frame = GeoOrigin::new(Geodetic { alt: 0.0, ..origin });
    let point = |f: &Fix| {
        let flat = frame.to_local(Geodetic { alt: 0.0, ..f.place });
        let z = ground_m.zip(f.height_m).map_or(0.0, |(ground, height)| height - ground);
        Point { at_s: f.at_s, place: Position::new(flat.x, flat.y, z), line: f.line }
    };
    let track = |f: NodeFixes| {
        let points = f.fixes.iter().map(point).collect();
        Track { name: f.name, file: f.file, points, comes_and_goes: false }
    };
    Ok((found.into_iter().map(track).collect(), Some(origin)))
}

/// Skips places far from most others, such as a receiver's 0, 0 before its first fix.
fn leave_out_far_ones(found: &mut [NodeFixes], notes: &mut Notes) -> Result<()> {
    let median = |of: fn(&Fix) -> f64| {
        let mut all: Vec<f64> = found.iter().flat_map(|f| &f.fixes).map(of).collect();
        let middle = all.len() / 2;
        if all.is_empty() { 0.0 } else { *all.select_nth_unstable_by(middle, f64::total_cmp).1 }
    };
    let middle = Geodetic { lat: median(|f| f.place.lat), lon: median(|f| f.place.lon), alt: 0.0 };
    let frame = GeoOrigin::new(middle);
    let away = |f: &Fix| away_m(frame.to_local(Geodetic { alt: 0.0, ..f.place }));
    let is_far = |f: &Fix| away(f) > FARTHEST_M;
    let of = found.iter().map(|f| f.fixes.len()).sum();
    let far = found.iter().flat_map(|f| &f.fixes).filter(|f| is_far(f)).count();
    if far > 0 && !few(far, of) {
        for one in found.iter() {
            if let Some(f) = one.fixes.iter().find(|f| is_far(f)) {
                let (lat, lon, km) = (f.place.lat, f.place.lon, away(f) / 1e3);
                let what = format!("{lat}, {lon} is {km:.0} km from the median of all positions");
                let error =
                    Error::new(what, "remove such positions; a mesh is not that large").at_line(f.line);
                return Err(error.in_file(notes.skipped[one.file].file()));
            }
        }
    }
    for one in found {
        keep(&mut one.fixes, &mut notes.skipped[one.file], TOO_FAR, |f| f.line, |f| !is_far(f));
    }
    Ok(())
}

/// The height of the first place, metres, from which all others count; `None` if heights say nothing, or are not known of all nodes. A
/// place without a height gets that of the node's place before, or else of the one after.
fn ground(found: &mut [NodeFixes], datum: &str, notes: &mut Notes) -> Option<f64> {
    let all = || found.iter().flat_map(|f| &f.fixes).filter_map(|f| f.height_m);
    let (lowest, highest) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), m| (l.min(m), h.max(m)));
    // No heights, or the same one everywhere.
    if lowest >= highest {
        return all().next();
    }
    let lacks = |f: &&NodeFixes| !f.fixes.is_empty() && f.fixes.iter().all(|f| f.height_m.is_none());
    if let Some(node) = found.iter().find(lacks) {
        notes.remarks.push(format!("heights are ignored: {} has none", node.name));
        return None;
    }
    for one in found.iter_mut() {
        let mut last = one.fixes.iter().find_map(|f| f.height_m);
        for f in &mut one.fixes {
            last = f.height_m.or(last);
            f.height_m = last;
        }
    }
    let ground_m = found.iter().find_map(|f| f.fixes.first())?.height_m?.round();
    let remark =
        format!("heights above {datum} become z, which is 0 at {ground_m} m; ignore them with --flat");
    notes.remarks.push(remark);
    Some(ground_m)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, fixes: &[(f64, f64, Option<f64>)]) -> NodeFixes {
        let fix = |((lat, lon, height_m), line): (&(f64, f64, Option<f64>), u32)| Fix {
            at_s: f64::from(line),
            place: geodetic(*lat, *lon).unwrap(),
            height_m: *height_m,
            line,
        };
        NodeFixes { name: name.to_owned(), file: 0, fixes: fixes.iter().zip(1..).map(fix).collect() }
    }

    fn metres(all: Vec<NodeFixes>, heights: Heights) -> (Vec<f64>, f64, Notes) {
        let mut notes = Notes::of(["f".as_ref()]);
        let (tracks, origin) = to_metres(all, heights, "sea level", &mut notes).unwrap();
        let z = tracks.iter().flat_map(|t| &t.points).map(|p| p.place.z).collect();
        (z, origin.unwrap().alt, notes)
    }

    #[test]
    fn heights_count_from_the_first_place() {
        let walk =
            || found("walk", &[(51.2, 9.5, None), (51.2, 9.501, Some(130.0)), (51.2, 9.502, Some(142.5))]);
        let (z, alt, notes) = metres(vec![walk()], Heights::Read);
        assert_eq!((z, alt), (vec![0.0, 0.0, 12.5], 130.0));
        let remark = "heights above sea level become z, which is 0 at 130 m; ignore them with --flat";
        assert_eq!(notes.remarks, [remark]);
        let (z, alt, notes) = metres(vec![walk()], Heights::LeaveOut);
        assert_eq!((z, alt, notes.remarks), (vec![0.0; 3], 0.0, vec![]));
        // If one node has no height, its height relative to the others is unknown.
        let (z, _, notes) = metres(vec![walk(), found("car", &[(51.2, 9.5, None)])], Heights::Read);
        assert_eq!((z, notes.remarks.join("").as_str()), (vec![0.0; 4], "heights are ignored: car has none"));
        // The same height everywhere says nothing new.
        let level = found("level", &[(51.2, 9.5, Some(3.0)), (51.3, 9.5, Some(3.0))]);
        let (z, alt, notes) = metres(vec![level], Heights::Read);
        assert_eq!((z, alt, notes.remarks), (vec![0.0; 2], 3.0, vec![]));
    }

    #[test]
    fn a_place_far_from_all_others_is_skipped_also_if_it_is_the_first() {
        let all =
            found("a", &[(0.0, 0.0, None), (51.2, 9.5, None), (51.2, 9.501, None), (51.2, 9.502, None)]);
        let (z, _, notes) = metres(vec![all], Heights::Read);
        assert_eq!(z.len(), 3);
        let said: Vec<String> = notes.skipped[0].kinds().collect();
        assert_eq!(said, ["1 place 200 km or more from the others (line 1)"]);
    }
}
