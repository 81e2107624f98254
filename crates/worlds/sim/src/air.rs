//! The radio's callbacks.

use wayhop_core::{Addr, FlowTag, IfaceId, Leg, NodeId, Payload, RxMeta, Time, TxStatus};
use wayhop_node::Hop;
use wayhop_radio::{EVERYONE, FrameAt, FrameFate, FrameHead, Host, Motions, Outgoing, RadioEvent, units};
use wayhop_scenario::Attachment;
use wayhop_trace::{Direction, FrameEvent, HopKind};

use crate::common::{Arrivals, Common, Receiver};
use crate::ethernet::EthernetHeader;
use crate::event::Event;
use crate::fates;
use crate::frames;
use crate::net::Net;

/// The run around one of its radios.
pub(crate) struct Air<'a> {
    pub(crate) net: &'a mut Net,
    /// The radio's number.
    pub(crate) radio: u8,
}

impl Motions for Air<'_> {
    fn leg(&mut self, station: u32, t: Time) -> Leg {
        self.net.common.movers.leg(station, t)
    }
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time {
        self.net.common.movers.settled_until(now, distance_m)
    }
}

impl Host for Air<'_> {
    fn schedule(&mut self, at: Time, station: u32, event: RadioEvent) {
        self.net.common.queue.push(at, station, Event::Radio(self.radio, event));
    }

    fn sending(&mut self, f: &FrameAt<'_>) {
        let Some(Outgoing { frame, .. }) = f.body else { return };
        if frame.payload.is_resolution() {
            self.net.common.ledger.frames.resolution += 1;
        } else {
            let facts = self.net.common.facts(&frame.packet);
            self.net.common.ledger.on_air(&facts, f.head.retry);
            let hop = Hop { peer: frame.next_hop, iface: self.iface(f.station), ..Hop::HERE };
            self.net.common.record_facts(f.at, f.station, &frame.packet, &facts, HopKind::Transmit, &hop);
        }
    }

    fn stands_in(&mut self, at: Time, station: u32, head: &FrameHead) -> bool {
        self.net.common.attackers.as_ref().is_some_and(|a| a.stands_in(at, station, head.from, head.to))
    }

    fn received(&mut self, f: &FrameAt<'_>, ready: Time) {
        if self.net.common.attackers.is_some() && self.net.tunnel(f) {
            return;
        }
        let Outgoing { frame, .. } = f.body.expect("a data frame has a body");
        if frame.payload.is_resolution() {
            let iface = self.iface(f.station);
            return self.net.call(f.at, f.station, |n, w| match frame.payload {
                Payload::Arp => n.receive_arp(w, f.at, iface, frame.packet.bytes()),
                _ => n.receive_discovery(w, f.at, iface, frame.packet.bytes()),
            });
        }
        let rx = self.rx_meta(f);
        let common = &mut self.net.common;
        let at = ready + common.channels[usize::from(self.radio)].link_delay;
        let receiver = Receiver { node: f.station, at, rx };
        let header = match frame.payload {
            Payload::Ethernet(ether_type) => {
                let source = common.mac_of(f.head.from, u16::from(self.radio));
                Some(EthernetHeader { destination: frame.receiver, source, ether_type })
            }
            _ => None,
        };
        if ready > f.at {
            // Each card has its own time: an event for each.
            let packet = common.work.pool.copy(&frame.packet);
            let mut receivers = common.spare_receivers.pop().unwrap_or_default();
            receivers.push(receiver);
            let handle = common.rx_pending.put(Arrivals { packet, sender: f.head.from, header, receivers });
            common.queue.push(at, f.station, Event::Up(handle));
            return;
        }
        let Common { arriving, work, spare_receivers, .. } = common;
        let arrivals = arriving.get_or_insert_with(|| Arrivals {
            packet: work.pool.copy(&frame.packet),
            sender: f.head.from,
            header,
            receivers: spare_receivers.pop().unwrap_or_default(),
        });
        arrivals.receivers.push(receiver);
    }

    fn overheard(&mut self, f: &FrameAt<'_>) {
        if self.net.common.attackers.is_some() && self.net.tunnel(f) {
            return;
        }
        let Outgoing { frame, .. } = f.body.expect("a data frame has a body");
        // An attacker may listen where others do not.
        if !frame.payload.is_resolution() && self.net.nodes[f.station as usize].overhears() {
            let rx = self.rx_meta(f);
            self.net.see(f.at, f.station, frame.packet.bytes(), &rx);
            self.net.call(f.at, f.station, |n, w| {
                n.overhear(w, f.at, frame.packet.bytes(), frame.next_hop, rx);
            });
        }
    }

    fn finished(&mut self, at: Time, station: u32, out: Outgoing, status: TxStatus) {
        if let Some(attackers) = &mut self.net.common.attackers {
            attackers.forget(station, out.frame.packet.meta.id);
        }
        self.net.sent(at, station, out.frame, status);
    }

    fn next(&mut self, station: u32) -> Option<Outgoing> {
        let iface = self.iface(station);
        let frame = self.net.nodes.get_mut(station)?.pull(iface)?;
        let to = self.net.common.station_at(frame.next_hop, Attachment::Radio(self.radio));
        Some(Outgoing { frame, to })
    }

    fn captured(&mut self, f: &FrameAt<'_>) {
        if self.net.common.is_captured(f.station) {
            self.show(f, false, "");
        }
    }

    fn watches(&mut self, head: &FrameHead, flow: Option<FlowTag>) -> bool {
        self.net.common.watched.is_everywhere(head.from, flow)
    }

    fn fate(&mut self, f: &FrameFate<'_>) {
        let row = fates::row(f, self.iface(f.frame.station));
        let common = &mut self.net.common;
        if f.is_meant {
            common.recorder.reception(&row);
        }
        // Without its octets nobody knows what was in it.
        let has_octets = f.frame.body.is_some() || !f.frame.head.kind.is_data();
        if f.is_audible
            && !f.fate.is_understood()
            && has_octets
            && common.watched.shows_damaged(f.frame.station)
        {
            let comment = format!("lost: {}", row.words(|node| format!("node {}", node.0)));
            self.show(&f.frame, true, &comment);
        }
    }
}

impl Air<'_> {
    /// A frame for the capture of its station.
    fn show(&mut self, f: &FrameAt<'_>, bad_fcs: bool, comment: &str) {
        let mut bytes = std::mem::take(&mut self.net.common.frame);
        let channel = self.net.common.channels[usize::from(self.radio)];
        frames::write(f, |s| self.net.common.mac_of(s, u16::from(self.radio)), &mut bytes);
        let sent = f.station == f.head.from;
        self.net.common.captured(&FrameEvent {
            iface: self.iface(f.station),
            time: f.at,
            node: NodeId(f.station),
            direction: if sent { Direction::Tx } else { Direction::Rx },
            bytes: &bytes,
            original_len: bytes.len() as u32,
            signal_dbm: if sent { f32::NAN } else { units::watts_to_dbm_fast(f.watts) },
            noise_dbm: f32::NAN,
            rate_100kbps: f.head.rate_100kbps,
            channel_mhz: channel.mhz,
            retries: u8::from(f.head.retry),
            bad_fcs,
            comment,
        });
        self.net.common.frame = bytes;
    }

    /// A node's interface at this radio.
    #[inline]
    fn iface(&self, node: u32) -> IfaceId {
        // The first radio is the first interface of all who have it.
        let place = Attachment::Radio(self.radio);
        if self.radio == 0 {
            IfaceId(0)
        } else {
            self.net.common.ports.iface(node, place).unwrap_or_default()
        }
    }

    /// In whose name an attacker sent a frame.
    #[inline]
    fn pretended(&self, f: &FrameAt<'_>) -> Option<Addr> {
        self.net.common.attackers.as_ref()?.sender(f.head.from, &f.body?.frame)
    }

    fn rx_meta(&self, f: &FrameAt<'_>) -> RxMeta {
        RxMeta {
            from: self.pretended(f).unwrap_or_else(|| {
                let payload = f.body.map_or(Payload::Ip, |out| out.frame.payload);
                self.net.common.source(f.head.from, payload)
            }),
            iface: self.iface(f.station),
            broadcast: f.head.to == EVERYONE,
            signal_dbm: units::watts_to_dbm_fast(f.watts),
            noise_dbm: f32::NAN,
            rate_kbps: u32::from(f.head.rate_100kbps) * 100,
        }
    }
}
