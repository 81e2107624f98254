//! Where nodes are, in metres of one frame.

use serde_json::{Value, json};
use wayhop_control::Place;
use wayhop_control::answer::Positions;
use wayhop_world::{GeoOrigin, Geodetic};

/// Nodes that know their place only on the earth are drawn around the first of them.
#[derive(Default)]
pub(crate) struct Places {
    origin: Option<GeoOrigin>,
}

impl Places {
    /// `[x, y, z]` of each node, or null where it is not known.
    pub(crate) fn of(&mut self, positions: &Positions) -> Value {
        positions.nodes.iter().map(|n| self.one(n.local.or(n.earth))).collect()
    }

    fn one(&mut self, place: Option<Place>) -> Value {
        match place {
            None => Value::Null,
            Some(Place::Local { x, y, z }) => json!([x, y, z]),
            Some(Place::Earth { latitude_deg: lat, longitude_deg: lon, .. }) => {
                let at = Geodetic { lat, lon, alt: 0.0 };
                let p = self.origin.get_or_insert_with(|| GeoOrigin::new(at)).to_local(at);
                json!([p.x, p.y, p.z])
            }
        }
    }
}
