//! Positions of all nodes in one frame. Each node counts its metres from its own first fix.

use wayhop_core::Position;
use wayhop_trace::Origin;
use wayhop_world::{GeoOrigin, Geodetic};

use crate::input::NodeRun;

/// From a node's metres to those of the merged run.
pub(crate) enum PositionTranslation {
    /// No run says where its origin is: all count from the same one.
    Common,
    /// From the node's origin to the one of the merged run.
    Moved(GeoOrigin, GeoOrigin),
    /// Others say where they are, and this node does not.
    Unknown,
}

impl PositionTranslation {
    /// For each run; and the origin of the merged run: that of the first run that has one.
    pub(crate) fn of(runs: &[NodeRun]) -> (Vec<Self>, Option<Origin>) {
        let Some(origin) = runs.iter().find_map(|r| r.summary.origin) else {
            return (runs.iter().map(|_| Self::Common).collect(), None);
        };
        let frame =
            |o: Origin| GeoOrigin::new(Geodetic { lat: o.latitude_deg, lon: o.longitude_deg, alt: 0.0 });
        let one = |r: &NodeRun| match r.summary.origin {
            Some(own) => Self::Moved(frame(own), frame(origin)),
            None => Self::Unknown,
        };
        (runs.iter().map(one).collect(), Some(origin))
    }

    /// A place in the merged run; `None` if it is not known.
    pub(crate) fn place(&self, p: Position) -> Option<Position> {
        match self {
            Self::Common => Some(p),
            Self::Moved(own, merged) => {
                let there = merged.to_local(own.to_geodetic(p));
                // Heights are above the ground, which the tangent plane is not.
                Some(Position::new(there.x, there.y, p.z))
            }
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_from_two_origins() {
        // A thousandth of a degree of latitude at 40.44 degrees is 111.04 m (WGS 84).
        let at = |lat| GeoOrigin::new(Geodetic { lat, lon: -79.94, alt: 0.0 });
        let places = PositionTranslation::Moved(at(40.441), at(40.440));
        let p = places.place(Position::new(10.0, 0.0, 1.5)).unwrap();
        assert!((p.x - 10.0).abs() < 0.01 && (p.y - 111.04).abs() < 0.05 && p.z == 1.5, "{p:?}");
    }
}
