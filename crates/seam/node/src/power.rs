//! A node and its interfaces go down and come back.

use wayhop_core::{DropReason, Frame, HopKind, IfaceId, LinkChange, Protocol, Time};

use crate::engine::Engine;
use crate::node::Node;
use crate::table::InstalledRoute;
use crate::world::{Hop, World};

impl<P: Protocol> Node<P> {
    /// The node goes down: what its queues hold ends as `NODE_DOWN`; nothing reaches it or leaves it until it comes back.
    pub fn go_down<W: World>(&mut self, w: &mut W, at: Time) {
        if !std::mem::replace(&mut self.is_up, false) {
            return;
        }
        self.life = self.life.wrapping_add(1);
        if let Some(a) = &mut self.authentic {
            a.auth.go_down();
        }
        for i in 0..self.interfaces.len() {
            for frame in self.interfaces[i].clear() {
                self.end_with_node(w, at, frame);
            }
        }
    }

    /// The node comes back with its tables: its engines go on where they were, and timers that ran out meanwhile fire.
    pub fn come_back<W: World>(&mut self, w: &mut W, at: Time) {
        if std::mem::replace(&mut self.is_up, true) {
            return;
        }
        let mut set: Vec<_> = self.timers().collect();
        set.sort_unstable();
        for (engine, key, due) in set {
            let due = due.max(at);
            let e = &mut self.engines[usize::from(engine)];
            e.remove_timer(key);
            e.set_timer(key, due);
            w.schedule_timer(due, engine, key);
        }
        self.tell_outside(w, at);
    }

    /// The node is down and loses its tables. What its engines held ends as `NODE_DOWN`: their buffers go with them.
    pub fn lose_tables<W: World>(&mut self, w: &mut W, at: Time) {
        self.go_down(w, at);
        let mut held = Held::default();
        self.inspect(at, &mut held);
        for p in &held.packets {
            w.record(at, p, Hop { kind: HopKind::Drop, reason: Some(DropReason::NodeDown), ..Hop::HERE });
        }
        w.workspace().pool.forget(held.packets.len() as u64);
        let owners = (0..self.engines.len() as u8).chain([InstalledRoute::STATIC]);
        for destination in owners.flat_map(|e| self.table.owned(e)).collect::<Vec<_>>() {
            w.route_removed(at, destination);
        }
        self.table.clear();
        self.sockets.clear();
        self.heard.clear();
        self.engines.clear();
        self.overhears = false;
        self.withholds = false;
        if let Some(a) = &mut self.authentic {
            a.reboot();
        }
    }

    /// The node comes back with new engines, which begin. What is left of the old ones is lost.
    pub fn reboot<W: World>(&mut self, w: &mut W, at: Time, engines: Vec<Engine<P>>) {
        self.lose_tables(w, at);
        for e in engines {
            self.add_engine(e);
        }
        self.is_up = true;
        self.start(w, at);
    }

    /// An interface goes down, comes up, or changes. What waits in the queue of one that goes down ends as if its next
    /// hop had not answered.
    pub fn link<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, change: LinkChange) {
        let i = &mut self.interfaces[iface.index()];
        match change {
            LinkChange::Up => {
                i.is_up = true;
                self.review_acknowledgements();
            }
            LinkChange::Down => {
                i.is_up = false;
                let lost = i.clear();
                self.review_acknowledgements();
                for frame in lost {
                    self.failed(w, at, frame, wayhop_core::TxStatus::NoAck { tries: 0 });
                }
            }
            LinkChange::Changed => {}
        }
        self.tell_link(w, at, iface, change);
        if self.interfaces[iface.index()].config.leads_out {
            self.tell_outside(w, at);
        }
        self.settle(w, at);
    }

    /// A frame of a node that went down.
    pub(crate) fn end_with_node<W: World>(&mut self, w: &mut W, at: Time, frame: Frame) {
        if frame.payload.is_resolution() || self.is_empty_exchange(frame.packet.bytes()) {
            return w.workspace().pool.recycle(frame.packet);
        }
        self.drop_packet(w, at, frame.packet, DropReason::NodeDown);
    }
}

/// Copies of the packets that engines hold.
#[derive(Default)]
struct Held {
    packets: Vec<wayhop_core::Packet>,
}

impl wayhop_core::Inspect for Held {
    fn row(&mut self, _: &'static str, _: &[(&'static str, &dyn core::fmt::Display)]) {}
    fn held(&mut self, _: &'static str, p: &wayhop_core::Packet) {
        self.packets.push(p.clone());
    }
}
