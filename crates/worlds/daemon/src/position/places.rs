//! Where the node was: from positions on the globe to legs in metres, as in the other worlds' tables.

use wayhop_core::{Fix, NodeId, Position, Time};
use wayhop_trace::PositionEvent;
use wayhop_world::{Geodetic, Gps};

use crate::config::number::NODE;

/// The way of the node, in a frame whose origin is the first fix.
#[derive(Debug, Default)]
pub(crate) struct LocalPositions {
    frame: Option<(Gps, Fix)>,
    /// The latest fix, and the leg that begins with it.
    latest: Option<(Fix, PositionEvent)>,
}

impl LocalPositions {
    /// A fix came. Returns the leg that ends with it, if it is news.
    pub(crate) fn go(&mut self, at: Time, fix: &Fix) -> Option<PositionEvent> {
        if self.latest.as_ref().is_some_and(|(known, _)| known == fix) {
            return None;
        }
        let here = Geodetic { lat: fix.latitude_deg, lon: fix.longitude_deg, alt: 0.0 };
        let (gps, _) = self.frame.get_or_insert_with(|| (Gps::new(Some(here)), *fix));
        let Position { x, y, .. } = gps.local(here);
        // What was told meanwhile may be newer than what the receiver took before.
        let at = self.latest.as_ref().map_or(at, |(_, leg)| at.max(leg.time));
        let (course, speed) = (f64::from(fix.heading_deg).to_radians(), f64::from(fix.speed_m_per_s));
        let leg = PositionEvent {
            time: at,
            until: Time::NEVER,
            node: NodeId(NODE),
            // A fix has no height.
            at: Position::new(x, y, 0.0),
            velocity: Position::new(speed * course.sin(), speed * course.cos(), 0.0),
        };
        let (_, ended) = self.latest.replace((*fix, leg))?;
        Some(PositionEvent { until: at, ..ended })
    }

    /// The last leg.
    pub(crate) fn end(&self) -> Option<PositionEvent> {
        self.latest.map(|(_, leg)| leg)
    }

    /// The fix at the origin.
    pub(crate) fn origin(&self) -> Option<&Fix> {
        self.frame.as_ref().map(|(_, fix)| fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_ends_with_the_next_fix_and_lies_east_and_north_of_the_first() {
        let mut places = LocalPositions::default();
        let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
        // A degree of longitude on the equator is 111.3195 km.
        let fix = |longitude_deg, heading_deg, speed_m_per_s| Fix {
            latitude_deg: 0.0,
            longitude_deg,
            heading_deg,
            speed_m_per_s,
        };
        assert_eq!(places.end(), None);
        let (first, second) = (fix(7.0, 90.0, 10.0), fix(7.001, 0.0, 0.0));
        assert_eq!(places.go(at(1), &first), None);
        assert_eq!(places.go(at(2), &first), None, "nothing new");
        let leg = places.go(at(3), &second).unwrap();
        assert_eq!((leg.time, leg.until, leg.at), (at(1), at(3), Position::default()));
        assert!((leg.velocity.x - 10.0).abs() < 1e-9 && leg.velocity.y.abs() < 1e-9, "{leg:?}");
        let last = places.end().unwrap();
        assert_eq!((last.time, last.until), (at(3), Time::NEVER));
        assert!((last.at.x - 111.3195).abs() < 1e-3 && last.at.y.abs() < 1e-6, "{last:?}");
        assert_eq!(places.origin(), Some(&first));
    }
}
