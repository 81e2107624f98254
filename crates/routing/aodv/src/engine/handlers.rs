//! The handlers of the seam, and the code for each call.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Command, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, Refused, RouteUse,
    RxMeta, Socket, Time, TimerKey, TxReport, TxStatus,
};
use wayhop_wire::aodv::{self, Message};
use wayhop_wire::ipv4;

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::head::Head;
use crate::forwarding::route_use::DataPath;
use crate::params::Hello;

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        DataPlane::Forwarding
    }
    fn interests(&self) -> Interests {
        let arrivals = self.params.hello != Hello::Off;
        Interests { route_used: true, arrivals, overhear: self.params.passive_ack, ..Interests::default() }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Udp(aodv::PORT));
        if self.params.wait_after_reboot {
            self.begin_reboot_wait(cx);
        }
        self.start_hello(cx);
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let Some((source, destination)) = ipv4::ends(p.bytes()) else {
            return cx.drop(p, DropReason::Malformed);
        };
        if !ipv4::is_host(destination) || destination == cx.addr() {
            return cx.drop(p, DropReason::NoRoute);
        }
        self.route_or_search(cx, p, source, destination);
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        let Some(head) = Head::read(&p, cx.addr(), rx) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let Ok(message) = Message::parse(&p.bytes()[head.payload.clone()]) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let tail = &p.bytes()[head.payload.start + message.buffer_len()..head.payload.end];
        // Section 9: a message with an extension that may not be skipped is not for this implementation.
        if aodv::extensions(tail).any(|e| e.map_or(true, |e| !e.may_be_skipped())) {
            return cx.drop(p, DropReason::Malformed);
        }
        if let Message::Rrep(m) = &message
            && head.is_broadcast
        {
            let interval_ms = aodv::extensions(tail).find_map(|e| match e {
                Ok(aodv::Extension::HelloInterval { millis }) => Some(millis),
                _ => None,
            });
            self.on_hello(cx, head.source, m, interval_ms);
            return cx.consume(p);
        }
        self.heard(head.source, cx.now());
        match message {
            Message::Rreq(m) => self.on_rreq(cx, p, &head, m),
            Message::Rrep(m) => self.on_rrep(cx, p, &head, m),
            Message::Rerr(m) => {
                self.on_rerr(cx, &head, m);
                cx.consume(p);
            }
            Message::RrepAck => {
                self.neighbours.acknowledged(head.source);
                cx.consume(p);
            }
        }
    }

    fn touch(&self) -> u8 {
        // Fields that a Hello needs, which lie in several cache lines.
        let lists = self.table.len() ^ self.neighbours.hellos.len() ^ self.watch.0.len();
        let times = self.next_check.as_nanos() ^ self.quiet_until.as_nanos();
        lists as u8 ^ times as u8 ^ self.seq as u8 ^ u8::from(self.buffer.is_empty())
    }

    fn look_ahead(&self, from: Addr) -> u8 {
        let Some(from) = from.v4() else { return 0 };
        self.neighbours.hellos.look_ahead(from) ^ self.table.look_ahead(from)
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop, status, packet, .. } = report;
        let (next_hop, p) = match (next_hop.v4(), packet) {
            (Some(next_hop), Some(p)) => (next_hop, p),
            (Some(next_hop), None) => {
                if matches!(status, TxStatus::NoAck { .. }) && self.params.link_feedback {
                    self.link_broken(cx, next_hop);
                }
                return;
            }
            (None, Some(p)) => return cx.drop(p, DropReason::NoRoute),
            (None, None) => return,
        };
        let is_data = id.is_none_or(|id| id == ids::DATA);
        match status {
            TxStatus::Acked | TxStatus::Unknown => cx.consume(p),
            TxStatus::QueueFull => cx.drop(p, DropReason::QueueFull),
            TxStatus::Recalled if is_data && self.params.reroute_queued => self.reroute(cx, p),
            TxStatus::Recalled if is_data => self.end_unreachable(cx, p, DropReason::NoRoute),
            TxStatus::Recalled => cx.drop(p, DropReason::NoRoute),
            TxStatus::NoAck { .. } if !self.params.link_feedback => cx.drop(p, DropReason::MacRetries),
            TxStatus::NoAck { .. } if is_data => self.data_lost(cx, next_hop, p),
            TxStatus::NoAck { .. } => self.control_lost(cx, next_hop, id, p),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match Timer::from_key(key) {
            Some(Timer::Check) => self.check(cx),
            Some(Timer::Hello) => self.hello_due(cx),
            Some(Timer::Repair) => self.repair_deadline(cx),
            Some(Timer::Ack) => self.acks_due(cx),
            Some(Timer::Awake) => self.awake(cx),
            Some(Timer::Watch) => self.watch_due(cx),
            Some(Timer::Search(destination)) => self.search_timeout(cx, destination),
            None => {}
        }
    }

    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        let Some(used) = DataPath::of(used) else { return };
        if used.previous_hop == Some(used.next_hop) && self.params.turning_back_ends_route {
            return self.turned_back(cx, &used);
        }
        if used.next_hop == cx.addr() {
            return self.arrived(cx, &used);
        }
        self.refresh(cx, &used);
    }

    fn on_overheard(&mut self, cx: &mut Cx<'_>, _p: &[u8], _next_hop: Addr, rx: &RxMeta) {
        if let Some(neighbour) = rx.from.v4() {
            self.heard(neighbour, cx.now());
        }
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::PurgeRoutes { destination } => {
                self.purge(cx, destination.map(Ipv4Addr::try_from).transpose()?);
            }
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            Command::SetOutside(outside) => self.set_outside(cx, outside),
            _ => return Err(Refused(format!("AODV does not know the order {command:?}"))),
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        crate::engine::inspect::show(self, now, out);
    }
}
