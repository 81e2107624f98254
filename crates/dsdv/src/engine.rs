//! The seam's handlers: which call goes where.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Command, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, Refused, RxMeta, Socket,
    Time, TimerKey, TxReport,
};
use wayhop_wire::dsdv::{self, Update};
use wayhop_wire::{ipv4, udp};

use crate::state::{Engine, is_node, timer};

impl Engine {
    fn on_message(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let Some((source, payload)) = read_head(&p, cx.addr()) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let Ok(update) = Update::parse(&p.bytes()[payload]) else {
            return cx.drop(p, DropReason::Malformed);
        };
        if self.hear_update(cx, source, &update) {
            cx.consume(p);
        } else {
            cx.drop(p, DropReason::Policy);
        }
    }
}

/// The neighbour that sent a message, its IP source, and where its payload is.
fn read_head(p: &Packet, own: Ipv4Addr) -> Option<(Ipv4Addr, core::ops::Range<usize>)> {
    let ip = ipv4::Packet::new_checked(p.bytes()).ok()?;
    let whole = !ip.more_fragments() && ip.fragment_offset() == 0;
    if !whole || ip.protocol() != ipv4::protocol::UDP || !ip.checksum_is_valid() {
        return None;
    }
    let datagram = udp::Packet::new_checked(ip.payload()).ok()?;
    if datagram.dst_port() != dsdv::PORT || !datagram.checksum_is_valid(ip.src(), ip.dst()) {
        return None;
    }
    if !is_node(ip.src()) || ip.src() == own {
        return None;
    }
    let start = ip.header_len() + udp::HEADER_LEN;
    Some((ip.src(), start..start + datagram.payload().len()))
}

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        DataPlane::Forwarding
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Udp(dsdv::PORT));
        if self.params.wait_after_reboot {
            self.begin_wait(cx);
        } else {
            self.plan_first_update(cx);
        }
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        self.route_or_wait(cx, p, DropReason::NoRoute);
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        self.on_message(cx, p);
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.sent(cx, report.next_hop.v4_or_unspecified(), report.status, report.packet);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match key {
            timer::FULL => self.full_due(cx),
            timer::TRIGGER => self.triggers_due(cx),
            timer::CHECK => self.check(cx),
            timer::AWAKE => self.awake(cx),
            _ => {}
        }
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::PurgeRoutes { destination } => self.purge(cx, destination.map(Addr::v4_or_unspecified)),
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            _ => return Err(Refused(format!("DSDV does not know the order {command:?}"))),
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        crate::inspect::show(self, now, out);
    }
}
