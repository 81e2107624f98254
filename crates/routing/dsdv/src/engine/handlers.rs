//! The handlers of the seam, and the code for each call.

use std::net::Ipv4Addr;

use wayhop_core::{
    Command, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, Refused, RxMeta, Socket, Time,
    TimerKey, TxReport,
};
use wayhop_wire::Datagram;
use wayhop_wire::dsdv::{self, Update};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;

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

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        // Updates go one hop: what comes with another source than the neighbour's was forwarded.
        let is_heard = |d: &Datagram| d.source != cx.addr() && rx.from == d.source;
        let Some(head) = Datagram::read(&p, dsdv::PORT).filter(is_heard) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let Ok(update) = Update::parse(&p.bytes()[head.payload]) else {
            return cx.drop(p, DropReason::Malformed);
        };
        if self.hear_update(cx, head.source, &update) {
            cx.consume(p);
        } else {
            cx.drop(p, DropReason::Policy);
        }
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { next_hop, status, packet, .. } = report;
        match (next_hop.v4(), packet) {
            (Some(next_hop), packet) => self.sent(cx, next_hop, status, packet),
            (None, Some(p)) => cx.drop(p, DropReason::NoRoute),
            (None, None) => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match Timer::from_key(key) {
            Some(Timer::Full) => self.full_due(cx),
            Some(Timer::Trigger) => self.triggers_due(cx),
            Some(Timer::Check) => self.check(cx),
            Some(Timer::Awake) => self.awake(cx),
            Some(Timer::Hello) => self.hello_due(cx),
            None => {}
        }
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::PurgeRoutes { destination } => {
                self.purge(cx, destination.map(Ipv4Addr::try_from).transpose()?);
            }
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            Command::SetOutside(outside) => self.set_outside(cx, outside),
            _ => return Err(Refused(format!("DSDV does not know the order {command:?}"))),
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        crate::engine::inspect::show(self, now, out);
    }
}
