//! What the radio calls.

use wayhop_core::{IfaceId, Leg, NodeId, Payload, RxMeta, Time, TxStatus};
use wayhop_node::Hop;
use wayhop_radio::{EVERYONE, FrameAt, FrameKind, Host, Motions, Outgoing, RadioEvent, units};
use wayhop_trace::{Direction, FrameEvent, HopKind};

use crate::classify;
use crate::common::{Arrivals, Common, Receiver};
use crate::event::Event;
use crate::frames;
use crate::net::Net;

impl Motions for Net {
    fn leg(&mut self, station: u32, t: Time) -> Leg {
        self.common.movers.leg(station, t)
    }
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time {
        self.common.movers.settled_until(now, distance_m)
    }
}

impl Host for Net {
    fn schedule(&mut self, at: Time, station: u32, event: RadioEvent) {
        self.common.queue.push(at, station, Event::Radio(event));
    }

    fn sending(&mut self, f: &FrameAt<'_>) {
        let Some(Outgoing { frame, .. }) = f.body else { return };
        if frame.payload == Payload::Ip {
            let facts = classify::read(frame.packet.bytes());
            if !f.head.retry {
                self.common.ledger.on_air(facts.messages);
            }
            let hop = Hop { peer: frame.next_hop, ..Hop::HERE };
            self.common.record_facts(f.at, f.station, &frame.packet, &facts, HopKind::Transmit, &hop);
        }
    }

    fn received(&mut self, f: &FrameAt<'_>, ready: Time) {
        let Outgoing { frame, .. } = f.body.expect("a data frame has a body");
        if frame.payload == Payload::Arp {
            return self.call(f.at, f.station, |n, w| {
                n.receive_arp(w, f.at, IfaceId(0), frame.packet.bytes());
            });
        }
        let rx = self.rx_meta(f);
        let common = &mut self.common;
        let at = ready + common.link_delay;
        let receiver = Receiver { node: f.station, at, rx };
        if ready > f.at {
            // Each card has its own time: an event for each.
            let packet = common.work.pool.copy(&frame.packet);
            let mut receivers = common.spare_receivers.pop().unwrap_or_default();
            receivers.push(receiver);
            let handle = common.rx_pending.put(Arrivals { packet, receivers });
            common.queue.push(at, f.station, Event::Up(handle));
            return;
        }
        let Common { arriving, work, spare_receivers, .. } = common;
        let arrivals = arriving.get_or_insert_with(|| Arrivals {
            packet: work.pool.copy(&frame.packet),
            receivers: spare_receivers.pop().unwrap_or_default(),
        });
        arrivals.receivers.push(receiver);
    }

    fn overheard(&mut self, f: &FrameAt<'_>) {
        let Outgoing { frame, .. } = f.body.expect("a data frame has a body");
        if frame.payload == Payload::Ip {
            let rx = self.rx_meta(f);
            self.call(f.at, f.station, |n, w| {
                n.overhear(w, f.at, frame.packet.bytes(), frame.next_hop, rx);
            });
        }
    }

    fn finished(&mut self, at: Time, station: u32, out: Outgoing, status: TxStatus) {
        Net::finished(self, at, station, out, status);
    }

    fn next(&mut self, station: u32) -> Option<Outgoing> {
        self.next_outgoing(station)
    }

    fn captured(&mut self, f: &FrameAt<'_>) {
        if !self.common.captures[f.station as usize] {
            return;
        }
        let mut bytes = std::mem::take(&mut self.common.frame);
        let addrs = &self.common.addrs;
        frames::write(f, |s| addrs.get(s as usize).copied().unwrap_or(wayhop_core::BROADCAST), &mut bytes);
        let sent = f.station == f.head.from;
        self.common.recorder.frame(&FrameEvent {
            time: f.at,
            node: NodeId(f.station),
            direction: if sent { Direction::Tx } else { Direction::Rx },
            bytes: &bytes,
            original_len: bytes.len() as u32,
            signal_dbm: if sent { f32::NAN } else { units::watts_to_dbm_fast(f.watts) },
            noise_dbm: f32::NAN,
            rate_100kbps: self.common.rate_100kbps(f.head.kind),
            channel_mhz: self.common.channel_mhz,
            retries: u8::from(f.head.retry),
            bad_fcs: false,
        });
        self.common.frame = bytes;
    }
}

impl Net {
    fn rx_meta(&self, f: &FrameAt<'_>) -> RxMeta {
        RxMeta {
            from: self.common.addrs[f.head.from as usize].into(),
            iface: IfaceId(0),
            broadcast: f.head.to == EVERYONE,
            signal_dbm: units::watts_to_dbm_fast(f.watts),
            noise_dbm: f32::NAN,
            rate_kbps: u32::from(self.common.rate_100kbps(f.head.kind)) * 100,
        }
    }
}

impl Common {
    fn rate_100kbps(&self, kind: FrameKind) -> u16 {
        if kind == FrameKind::Data { self.data_rate_100kbps } else { self.basic_rate_100kbps }
    }
}
