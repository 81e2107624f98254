//! The handlers of the seam, and the code for each call.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Command, Cx, DataPlane, DropReason, Fix, Inspect, Interests, Packet, Priority, Protocol, Refused,
    RxMeta, Socket, Span, Time, TimerKey, TxReport, TxSpec, TxStatus,
};
use wayhop_wire::ipv4::{self, protocol};

use crate::discovery::origin::Origin;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::multicast;
use crate::params::Maintenance;

/// How often this node asks where it is: the GPS receivers of the testbed told it once a second.
const POSITION_INTERVAL: Span = Span::from_secs(1);

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }

    fn interests(&self) -> Interests {
        let network = self.params.maintenance == Maintenance::Network;
        let located = self.params.location_option.then_some(POSITION_INTERVAL);
        let position = self.links.position_period.or(located);
        Interests {
            overhear: self.params.snoop_overheard || network || self.params.watchdog,
            position,
            ..Interests::default()
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Ip(protocol::DSR));
        // Section 4.3: identifications begin at random, so that those of an earlier life do not look like duplicates.
        self.links.me = cx.addr();
        self.start_probes(cx);
        let bits = cx.rng().bits();
        self.next_request_id = bits as u16;
        self.next_ip_id = (bits >> 16) as u16;
        let wait = Span::from_secs(self.params.flow_recovery_wait_s.into());
        self.flows.start_at((bits >> 32) as u16, cx.now() + wait);
        self.next_ack_id = (bits >> 48) as u16;
        let tick = Span::from_millis(self.params.rexmt_tick_ms.into());
        if tick > Span::ZERO {
            // Nodes that are switched on together do not look into their buffers together.
            self.rexmt_phase = cx.rng().jitter(tick);
        }
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, mut p: Packet) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (to, id) = (ip.dst(), ip.id());
        let whole = ip.fragment_offset() == 0 && !ip.more_fragments();
        if ip.protocol() == protocol::DSR || to.is_unspecified() {
            return cx.drop(p, DropReason::Malformed);
        }
        if to == cx.addr() {
            return cx.deliver(p);
        }
        if multicast::is_flooded(to) && self.params.multicast_flood {
            return self.flood(cx, p, to);
        }
        if to.is_broadcast() || to.is_multicast() {
            // Such packets go to the neighbours, once.
            return cx.send(p, TxSpec::broadcast().with_priority(Priority::Data));
        }
        if id == 0 || whole && self.maintains_some(cx) {
            // Packets are told apart by source and identification (section 8.3.2).
            self.stamp(&mut p);
        }
        self.originate(cx, p, to);
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        let Some(rx) = &Reception::of(rx, false) else { return cx.drop(p, DropReason::Malformed) };
        self.links.hear(rx, cx.now());
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        if !ip.checksum_is_valid() {
            return cx.drop(p, DropReason::Malformed);
        }
        if ip.protocol() == protocol::DSR {
            return self.on_dsr(cx, p, rx);
        }
        self.on_plain(cx, p, rx);
    }

    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        let (Some(rx), Some(next_hop)) = (&Reception::of(rx, true), next_hop.v4()) else { return };
        self.hear_passed_on(cx, p, rx);
        self.watch_passing(cx, p, rx);
        if self.params.snoop_overheard {
            self.overhear(cx, p, next_hop, rx);
        }
    }

    fn wants_overheard(&self, packet: &[u8]) -> bool {
        // Without a DSR header, a packet shows that its next hop passed it on, how strong that neighbour's signal is, and, if it is one of
        // a flow, that nodes of its route can be left out.
        ipv4::Packet::new_snapped(packet).is_ok_and(|ip| ip.protocol() == protocol::DSR)
            || !self.rexmt.is_empty()
            || self.watchdog.is_some()
            || self.links.wants_signals()
            || self.params.flow_state && self.params.flow_shortening
    }

    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        self.fix = Some(*fix);
        self.links.positions.learn(cx.addr(), *fix, cx.now());
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop, status, packet: mut p, .. } = report;
        let Some(next_hop) = next_hop.v4() else { return p.map_or((), |p| cx.drop(p, DropReason::NoRoute)) };
        if id.is_some_and(|id| self.on_copy_status(cx, id, &mut p)) {
            return;
        }
        match (status, p) {
            (TxStatus::Acked, _) => {
                self.links.worked(cx, next_hop);
                self.watch_acked(cx, next_hop);
                self.on_acked(cx, next_hop);
            }
            (TxStatus::NoAck { tries }, Some(p)) => self.on_broken_link(cx, p, next_hop, tries),
            (TxStatus::Recalled, Some(p)) => self.on_recalled(cx, p, next_hop),
            (TxStatus::QueueFull, Some(p)) => cx.drop(p, DropReason::QueueFull),
            (TxStatus::Unknown, Some(p)) => cx.consume(p),
            (_, None) => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match Timer::from_key(key) {
            Some(Timer::BufferCheck) => self.on_buffer_check(cx),
            Some(Timer::BufferExpiry) => self.expire_buffer(cx),
            Some(Timer::Discovery(target)) => self.on_discovery_timer(cx, target),
            Some(Timer::HeldReply) => self.send_due_replies(cx),
            Some(Timer::Doubt) => self.end_doubts(cx),
            Some(Timer::Probe) => self.on_probe_timer(cx),
            Some(Timer::LastResort(_)) => self.release(cx, Span::ZERO),
            Some(Timer::Rexmt) => self.on_rexmt_timer(cx),
            None => {}
        }
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::PurgeRoutes { destination } => {
                self.cache.purge(destination.map(Ipv4Addr::try_from).transpose()?);
            }
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            Command::SetOutside(outside) => self.set_outside(cx, outside),
            _ => return Err(Refused(format!("DSR does not know the order {command:?}"))),
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        self.cache.inspect(now, out);
        self.requests.inspect(now, out);
        for w in self.buffer.iter() {
            let (waited, own) = (now.since(w.since).as_secs_f64(), w.state == Origin::Own);
            out.row("send_buffer", &[("to", &w.destination), ("waited_s", &waited), ("own", &own)]);
            out.held("send_buffer", &w.packet);
        }
        self.held_replies.inspect(out);
        self.blacklist.inspect(now, out);
        self.flows.inspect(now, out);
        self.links.inspect(now, out);
        self.rexmt.inspect(now, out);
        self.neighbours.inspect(now, out);
        if let Some(o) = self.outside.as_ref().filter(|o| !o.reaches.is_empty()) {
            for reached in &o.reaches {
                out.row("gateway", &[("reaches", reached), ("mesh", &o.mesh)]);
            }
        }
        if let Some(ratings) = &self.ratings {
            ratings.inspect(out);
        }
        for (_, p, _) in &self.unidirectional_requests {
            out.held("unidirectional_requests", p);
        }
    }
}
