//! The state of one node behind the seam.

use std::sync::Arc;

use wayhop_core::parameters::whole_set;
use wayhop_core::{
    BROADCAST, Command, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, Refused, RxMeta,
    Socket, Span, Time, TimerKey, TxReport, TxSpec, TxStatus,
};
use wayhop_wire::{Datagram, ipv4, udp};

use crate::params::Params;

/// The UDP port of Hellos, one of those for private use (RFC 6335, section 6).
pub const PORT: u16 = 49_269;
/// A command with more routes is refused.
pub const MAX_ROUTES: usize = 4_096;

/// The only timer: the next Hello.
const HELLO: TimerKey = TimerKey(1);

/// One node.
#[derive(Debug)]
pub struct Engine {
    params: Arc<Params>,
    ip_id: u16,
}

impl Engine {
    /// A node that has not started.
    pub fn new(params: impl Into<Arc<Params>>) -> Self {
        Self { params: params.into(), ip_id: 0 }
    }

    /// Plans the next Hello, at most this long after now.
    fn plan_hello(&self, cx: &mut Cx<'_>, within: Span) {
        if self.params.hello_interval_ms > 0 {
            let early = cx.rng().jitter(within.mul_f64(0.1));
            cx.set_timer(HELLO, cx.now() + within.saturating_sub(early));
        }
    }

    fn interval(&self) -> Span {
        Span::from_millis(self.params.hello_interval_ms)
    }

    /// An empty datagram to all neighbours.
    fn send_hello(&mut self, cx: &mut Cx<'_>) {
        let datagram = udp::Repr { src_port: PORT, dst_port: PORT, payload_len: 0 };
        let mut ip = ipv4::Repr::new(cx.addr(), BROADCAST, ipv4::protocol::UDP, udp::HEADER_LEN as u16);
        self.ip_id = self.ip_id.wrapping_add(1);
        ip.ttl = 1;
        ip.id = self.ip_id;
        let mut p = cx.alloc(ipv4::HEADER_LEN + udp::HEADER_LEN);
        ip.emit(p.bytes_mut());
        datagram.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..], cx.addr(), BROADCAST);
        cx.send(p, TxSpec::broadcast());
    }

    fn set_parameters(&mut self, cx: &mut Cx<'_>, json: &str) -> Result<(), Refused> {
        let new = whole_set::<Params>(json, &*self.params, "controlled")?;
        new.check().map_err(Refused)?;
        self.params = Arc::new(new);
        cx.clear_timer(HELLO);
        self.plan_hello(cx, self.interval());
        Ok(())
    }
}

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        DataPlane::Forwarding
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Udp(PORT));
        if self.params.hello_interval_ms > 0 {
            // The first ones are spread over a whole interval.
            let wait = cx.rng().jitter(self.interval());
            cx.set_timer(HELLO, cx.now() + wait);
        }
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let to_all = ipv4::ends(p.bytes())
            .is_some_and(|(from, to)| from == cx.addr() && (to.is_multicast() || to.is_broadcast()));
        if to_all {
            cx.send(p, TxSpec::unicast(BROADCAST));
        } else {
            cx.drop(p, DropReason::NoRoute);
        }
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        // A Hello goes one hop: what comes with another source than the neighbour's was forwarded.
        match Datagram::read(&p, PORT) {
            Some(hello) if hello.payload.is_empty() && rx.from == hello.source => cx.consume(p),
            _ => cx.drop(p, DropReason::Malformed),
        }
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let Some(p) = report.packet else { return };
        match report.status {
            TxStatus::Acked | TxStatus::Unknown => cx.consume(p),
            TxStatus::QueueFull => cx.drop(p, DropReason::QueueFull),
            TxStatus::NoAck { .. } => cx.drop(p, DropReason::MacRetries),
            TxStatus::Recalled => cx.drop(p, DropReason::NoRoute),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        if key == HELLO {
            self.send_hello(cx);
            self.plan_hello(cx, self.interval());
        }
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::SetRoutes { routes } if routes.len() > MAX_ROUTES => {
                return Err(Refused(format!("{} routes are too many (at most {MAX_ROUTES})", routes.len())));
            }
            Command::SetRoutes { routes } => cx.replace_routes(routes.clone()),
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            Command::PurgeRoutes { destination: None } => cx.replace_routes(Vec::new()),
            Command::PurgeRoutes { destination: Some(one) } => cx.uninstall(*one),
            _ => return Err(Refused(format!("controlled does not know the command {command:?}"))),
        }
        Ok(())
    }

    // The forwarding table, which the node shows, has all of its state.
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}
