//! Positions on the earth, for the node's record and for subscribers: from its receiver, by
//! command, and from other nodes' packets (paper 000, section 5.4: the *ahsock*).

use wayhop_control::JsonTables;
use wayhop_core::{Addr, Fix, FixQuality, FixStatus, NodeId};
use wayhop_trace::{GpsEvent, GpsSource};

use crate::config::number::NODE;
use crate::node::host::Host;

/// The table in which a protocol shows where it knows nodes to be.
const TABLE: &str = "positions";
impl Host {
    /// Writes down and tells what the receiver reported.
    pub(crate) fn record_receiver(&mut self) {
        let received = self.whereabouts.receiver;
        let none = FixQuality { status: FixStatus::None, mode: 1, ..FixQuality::default() };
        let quality = received.map_or(none, |r| r.quality);
        let fix = received.map(|r| r.fix);
        self.record(self.node.addr().into(), GpsSource::Receiver, fix, Some(quality));
        if let Some(fix) = fix.filter(|_| self.whereabouts.told.is_none()) {
            self.around.events.position(self.around.now, None, &fix, Some(quality));
        }
    }

    /// Writes down and tells the place that the node was told.
    pub(crate) fn record_told(&mut self) {
        if let Some(fix) = self.whereabouts.told {
            self.record(self.node.addr().into(), GpsSource::Told, Some(fix), None);
            self.around.events.position(self.around.now, None, &fix, None);
        }
    }

    /// Looks at the places that the protocol has heard of, if somebody wants to know.
    pub(crate) fn hear_of_places(&mut self) {
        if self.around.run.is_none() && !self.around.events.wanted {
            return;
        }
        let mut shown = JsonTables::new(NODE, "", &[TABLE.to_owned()]);
        self.node.inspect(self.now(), &mut shown);
        let own = Addr::from(self.node.addr());
        for row in shown.finish().tables.remove(TABLE).unwrap_or_default() {
            let number = |key: &str| row.get(key).and_then(serde_json::Value::as_f64);
            let node =
                row.get("node").and_then(|n| n.as_str()).and_then(|n| n.parse::<std::net::IpAddr>().ok());
            let (Some(node), Some(latitude_deg), Some(longitude_deg)) =
                (node.map(Addr::from), number("latitude_deg"), number("longitude_deg"))
            else {
                continue;
            };
            let part = |key| number(key).unwrap_or_default() as f32;
            let (heading_deg, speed_m_per_s) = (part("heading_deg"), part("speed_m_per_s"));
            let fix = Fix { latitude_deg, longitude_deg, heading_deg, speed_m_per_s };
            if node != own && self.heard.learn(node, fix) {
                self.record(node, GpsSource::Heard, Some(fix), None);
                self.around.events.position(self.around.now, Some(node.ip()), &fix, None);
            }
        }
    }

    fn record(&mut self, about: Addr, source: GpsSource, fix: Option<Fix>, quality: Option<FixQuality>) {
        let time = self.around.now;
        if let Some(run) = &mut self.around.run {
            run.gps(GpsEvent { time, node: NodeId(NODE), about, source, fix, quality });
        }
    }
}
