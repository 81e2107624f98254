//! Reporting the fates of frames to the host.

use wayhop_core::{Span, Time};

use crate::fate::{Fate, FrameId};
use crate::host::{FrameAt, FrameFate, FrameHead, Host, Outgoing};
use crate::medium::{AtStation, FateRecord, FrameInfo, Transmission, Watching};
use crate::phy::FrameKind;
use crate::radio::Radio;

impl Radio {
    /// Tells [`Host::fate`] what becomes of the frames that these stations should receive, and of those that
    /// [`Host::watches`]. Before the run begins.
    pub fn watch(&mut self, who: Watching) {
        self.medium.watch = Some(Box::new(FateRecord::new(who)));
        self.medium.tell_all();
    }

    /// The packet that a frame carries or is exchanged for, and its sender.
    fn packet_of(&self, head: &FrameHead) -> (u32, Option<&Outgoing>) {
        let owner = if matches!(head.kind, FrameKind::Cts | FrameKind::Ack) { head.to } else { head.from };
        let of_owner = self.macs[owner as usize].current.as_ref();
        let is_its = |out: &&Outgoing| owner == head.from || out.to == head.from;
        // A jammer's noise is no packet, and neither is a beacon.
        let is_exchange = !matches!(head.kind, FrameKind::Noise | FrameKind::Beacon);
        (owner, of_owner.filter(|_| is_exchange).filter(is_its))
    }

    /// What there is to know about a frame before it goes on the air; `None` if nothing watches.
    pub(crate) fn about(&self, head: &FrameHead, host: &mut impl Host) -> Option<FrameInfo> {
        self.medium.watch.as_ref()?;
        let (owner, out) = self.packet_of(head);
        let packet = out.map(|o| &o.frame).filter(|f| !f.payload.is_resolution()).map(|f| f.packet.meta);
        Some(FrameInfo {
            id: FrameId { from: head.from, kind: head.kind, packet: packet.map(|m| m.id) },
            flow: packet.and_then(|m| m.flow),
            attempt: self.macs[owner as usize].tries,
            everywhere: host.watches(head, packet.and_then(|m| m.flow)),
        })
    }

    /// A station begins to send, and drowns what it was receiving.
    #[cold]
    pub(crate) fn note_drowned(&mut self, station: u32, id: FrameId) {
        let locked = self.phy_states[station as usize].locked;
        if let Some(watch) = &mut self.medium.watch {
            watch.drown(locked, station, id);
        }
    }

    /// The reception of the frame in `slot` failed in the station.
    #[cold]
    pub(crate) fn note_lost(&mut self, station: u32, slot: u32, t: &Transmission, watts: f64) {
        let phy_state = &self.phy_states[station as usize];
        let fate = if phy_state.collided || phy_state.errored {
            // Noted when it happened.
            Fate::Collision
        } else {
            self.medium.why_lost(station, t, watts, &self.phy)
        };
        self.settle(station, slot, fate);
    }

    pub(crate) fn settle(&mut self, station: u32, slot: u32, fate: Fate) {
        if let Some(watch) = &mut self.medium.watch {
            watch.settle(slot, station, fate);
        }
    }

    /// A station owes this CTS and does not send it.
    #[cold]
    pub(crate) fn note_withheld(&mut self, from: u32, to: u32) {
        if let Some(watch) = &mut self.medium.watch {
            watch.withheld.push((from, to));
        }
    }

    /// All that is heard of `t` has been heard.
    #[cold]
    pub(crate) fn tell_fates(
        &mut self,
        now: Time,
        slot: u32,
        t: &Transmission,
        body: Option<&Outgoing>,
        host: &mut impl Host,
    ) {
        let Some(watch) = &mut self.medium.watch else { return };
        let (about, began, entries) = watch.take(slot);
        // A sender that was switched off and on again has another packet by now.
        let body = body.filter(|o| about.id.packet.is_none_or(|id| o.frame.packet.meta.id == id));
        for e in &entries {
            let at = now + Span::from_nanos(u64::from(e.delay_ns));
            let frame = FrameAt { at, station: e.station, head: t.head, body, watts: e.watts };
            host.fate(&fate_of(e, frame, about, [began, now], self.medium.needed_watts()));
            debug_assert!(e.fate.is_some(), "nobody said what became of {:?} at {}", about.id, e.station);
        }
        if let Some(watch) = &mut self.medium.watch {
            watch.give_back(slot, entries);
        }
        self.tell_withheld(now, host);
    }

    /// Reports the frames that were due and not sent.
    pub(crate) fn tell_withheld(&mut self, now: Time, host: &mut impl Host) {
        while let Some((from, to)) = self.medium.watch.as_mut().and_then(|w| w.withheld.pop()) {
            let rate = self.phy.rate_mbps(FrameKind::Cts);
            let head = FrameHead::new(FrameKind::Cts, from, to, rate);
            let Some(about) = self.about(&head, host) else { return };
            if !self.medium.watch.as_ref().is_some_and(|w| w.wants(&about, to)) {
                continue;
            }
            let entry = AtStation::lost(to, Fate::Withheld);
            let frame = FrameAt { at: now, station: to, head, body: None, watts: entry.watts };
            host.fate(&fate_of(&entry, frame, about, [now, now], f64::NAN));
        }
    }
}

fn fate_of<'a>(
    entry: &AtStation,
    frame: FrameAt<'a>,
    about: FrameInfo,
    [began, ended]: [Time; 2],
    needed_watts: f64,
) -> FrameFate<'a> {
    FrameFate {
        frame,
        id: about.id,
        flow: about.flow,
        attempt: about.attempt,
        began,
        ended,
        fate: entry.fate.unwrap_or(Fate::Collision),
        other: entry.other,
        mean_watts: entry.mean_watts,
        needed_watts,
        is_meant: entry.is_meant,
        is_audible: entry.is_audible,
    }
}
