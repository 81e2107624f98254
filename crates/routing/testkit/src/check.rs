//! Packet conservation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};

use wayhop_core::{FlowTag, Inspect, Packet, PacketId};
use wayhop_node::Due;

use crate::event::Happening;
use crate::net::Net;
use crate::record::EventKind;

/// The packets that are somewhere: (place, id, flow).
#[derive(Default)]
struct PacketPlaces(Vec<(String, PacketId, Option<FlowTag>)>);

impl PacketPlaces {
    fn add(&mut self, place: String, p: &Packet) {
        self.0.push((place, p.meta.id, p.meta.flow));
    }
}

impl Inspect for PacketPlaces {
    fn row(&mut self, _: &'static str, _: &[(&'static str, &dyn Display)]) {}
    fn held(&mut self, place: &'static str, p: &Packet) {
        self.add(place.to_owned(), p);
    }
}

impl Net {
    /// Fails unless every packet that the pool has given out is held by a protocol (and reported by `inspect`), in an
    /// interface queue, or under way; and unless every test packet was delivered, dropped with a reason, lost on a
    /// link that reports nothing, or still is somewhere.
    ///
    /// # Panics
    /// If a packet vanished or appeared, with a list of what there is.
    pub fn assert_conserved(&self) {
        let mut there = PacketPlaces::default();
        for (i, h) in self.hosts.iter().enumerate() {
            h.node.inspect(self.now(), &mut there);
            h.node.held(|f| there.add(format!("interface queue of {i}"), &f.packet));
            self.common.air[i]
                .on_air
                .iter()
                .for_each(|q| there.add(format!("on the air from {i}"), &q.packet));
        }
        for what in self.common.events.values() {
            match what {
                Happening::Due { node, due: Due::Frame(_, frame) } => {
                    there.add(format!("delayed at {node}"), &frame.packet);
                }
                Happening::Receive { to, packet, .. } => there.add(format!("arriving at {to}"), packet),
                _ => {}
            }
        }
        let mut report = String::new();
        if there.0.len() as u64 != self.common.work.pool.live() {
            let _ = writeln!(
                report,
                "the pool has {} packets out, but {} can be found:",
                self.common.work.pool.live(),
                there.0.len()
            );
            there.0.iter().for_each(|(place, id, flow)| {
                let _ = writeln!(report, "  {id:?} {flow:?} {place}");
            });
        }
        for (flow, id) in self.vanished(&there) {
            let _ = writeln!(report, "test packet {flow:?} ({id:?}) vanished without a reason");
        }
        assert!(report.is_empty(), "packets are not conserved\n{report}");
    }

    fn vanished(&self, there: &PacketPlaces) -> BTreeMap<FlowTag, PacketId> {
        let mut open = BTreeMap::new();
        let mut ended: BTreeSet<FlowTag> = there.0.iter().filter_map(|(_, _, f)| *f).collect();
        for r in &self.common.record {
            match r.what {
                EventKind::Originated { id, flow } => {
                    open.insert(flow, id);
                }
                EventKind::Delivered { flow: Some(f), .. }
                | EventKind::Dropped { flow: Some(f), .. }
                | EventKind::LostOnAir { flow: Some(f), .. } => {
                    ended.insert(f);
                }
                _ => {}
            }
        }
        open.retain(|f, _| !ended.contains(f));
        open
    }
}
