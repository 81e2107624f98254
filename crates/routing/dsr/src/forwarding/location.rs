//! Where nodes are: this node's position on the packets that it originates, and others' read from theirs (Maltz, Broch and
//! Johnson 1999, sections 5.1, 5.4 and 6.5.1).

use wayhop_core::{Cx, Fix};
use wayhop_wire::dsr::{DsrOption, Location};

use crate::engine::state::Engine;
use crate::forwarding::view::View;

impl Engine {
    /// The location option of this node's packets; none without a position, or with one that the format cannot hold.
    pub(crate) fn own_location(&self) -> Option<DsrOption<'static>> {
        let fix = self.fix.filter(|_| self.params.location_option)?;
        let option = DsrOption::Location(Location {
            latitude_ndeg: (fix.latitude_deg * 1e9).round() as i64,
            longitude_ndeg: (fix.longitude_deg * 1e9).round() as i64,
            heading_udeg: (f64::from(fix.heading_deg) * 1e6).round() as u32 % 360_000_000,
            speed_mm_per_s: (f64::from(fix.speed_m_per_s) * 1e3).round() as u32,
        });
        option.check().is_ok().then_some(option)
    }

    /// Notes where the originator of a packet says that it is.
    pub(crate) fn learn_location(&mut self, cx: &Cx<'_>, v: &View<'_>) {
        if let Some(l) = v.location
            && v.ip.src() != cx.addr()
        {
            let fix = Fix {
                latitude_deg: l.latitude_ndeg as f64 * 1e-9,
                longitude_deg: l.longitude_ndeg as f64 * 1e-9,
                heading_deg: (f64::from(l.heading_udeg) * 1e-6) as f32,
                speed_m_per_s: (f64::from(l.speed_mm_per_s) * 1e-3) as f32,
            };
            self.links.positions.learn(v.ip.src(), fix, cx.now());
        }
    }
}
