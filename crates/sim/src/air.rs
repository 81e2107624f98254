//! What the radio calls.

use wayhop_core::{Leg, NodeId, RxMeta, Time, TxStatus};
use wayhop_radio::{EVERYONE, FrameAt, FrameKind, Host, Motions, Outgoing, Payload, RadioEvent, units};
use wayhop_trace::{Direction, FrameEvent, HopKind};

use crate::classify;
use crate::event::Event;
use crate::frames;
use crate::net::{Arrivals, Net, Receiver};

impl Motions for Net {
    fn leg(&mut self, station: u32, t: Time) -> Leg {
        self.movers.leg(station, t)
    }
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time {
        self.movers.settled_until(now, distance_m)
    }
}

impl Host for Net {
    fn schedule(&mut self, at: Time, station: u32, event: RadioEvent) {
        self.queue.push(at, station, Event::Radio(event));
    }

    fn sending(&mut self, f: &FrameAt<'_>) {
        let Some(out) = f.body else { return };
        if out.payload == Payload::Ip {
            let facts = classify::read(out.packet.bytes());
            if !f.head.retry {
                self.ledger.on_air(facts.messages);
            }
            let next_hop = out.next_hop;
            self.record_facts(
                f.at,
                f.station,
                HopKind::Transmit,
                &out.packet,
                &facts,
                next_hop,
                f32::NAN,
                None,
            );
        }
    }

    fn received(&mut self, f: &FrameAt<'_>, ready: Time) {
        let out = f.body.expect("a data frame has a body");
        if out.payload == Payload::Arp {
            self.arp_input(f.at, f.station, out.packet.bytes());
            return;
        }
        let rx = self.rx_meta(f);
        let at = ready + self.link_delay;
        let receiver = Receiver { node: f.station, at, rx };
        if ready > f.at {
            // Each card has its own time: an event for each.
            let packet = self.pool.copy(&out.packet);
            let mut receivers = self.spare_receivers.pop().unwrap_or_default();
            receivers.push(receiver);
            let handle = self.coming.put(Arrivals { packet, receivers });
            self.queue.push(at, f.station, Event::Up(handle));
            return;
        }
        let arrivals = self.arriving.get_or_insert_with(|| Arrivals {
            packet: self.pool.copy(&out.packet),
            receivers: self.spare_receivers.pop().unwrap_or_default(),
        });
        arrivals.receivers.push(receiver);
    }

    fn overheard(&mut self, f: &FrameAt<'_>) {
        let out = f.body.expect("a data frame has a body");
        if out.payload == Payload::Ip {
            let rx = self.rx_meta(f);
            self.call(f.at, f.station, |p, cx| p.on_overheard(cx, out.packet.bytes(), out.next_hop, &rx));
        }
    }

    fn finished(&mut self, at: Time, station: u32, out: Outgoing, status: TxStatus) {
        match status {
            TxStatus::Acked | TxStatus::Unknown => self.sent(at, station, out, status),
            _ => self.failed(at, station, out, status),
        }
    }

    fn queued(&mut self, station: u32, packets: u32) {
        self.nodes[station as usize].interface.queued = packets;
    }

    fn captured(&mut self, f: &FrameAt<'_>) {
        if !self.captures[f.station as usize] {
            return;
        }
        let mut bytes = std::mem::take(&mut self.frame);
        let nodes = &self.nodes;
        frames::write(f, |s| nodes.get(s as usize).map_or(wayhop_core::BROADCAST, |n| n.addr), &mut bytes);
        let sent = f.station == f.head.from;
        self.recorder.frame(&FrameEvent {
            time: f.at,
            node: NodeId(f.station),
            direction: if sent { Direction::Tx } else { Direction::Rx },
            bytes: &bytes,
            original_len: bytes.len() as u32,
            signal_dbm: if sent { f32::NAN } else { units::watts_to_dbm_fast(f.watts) },
            noise_dbm: f32::NAN,
            rate_100kbps: self.rate_100kbps(f.head.kind),
            channel_mhz: self.channel_mhz,
            retries: u8::from(f.head.retry),
            bad_fcs: false,
        });
        self.frame = bytes;
    }
}

impl Net {
    fn rx_meta(&self, f: &FrameAt<'_>) -> RxMeta {
        RxMeta {
            from: self.nodes[f.head.from as usize].addr,
            broadcast: f.head.to == EVERYONE,
            signal_dbm: units::watts_to_dbm_fast(f.watts),
        }
    }

    fn rate_100kbps(&self, kind: FrameKind) -> u16 {
        if kind == FrameKind::Data { self.data_rate_100kbps } else { self.basic_rate_100kbps }
    }
}
