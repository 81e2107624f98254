//! A protocol that is created when its node hears or sends something.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use wayhop_core::{
    Addr, Command, Configured, Cx, DataPlane, Effect, Fix, IfaceId, Input, Inspect, Interests, Interface,
    LinkChange, Packet, Pool, Protocol, Refused, Rng, RouteUse, RxMeta, Time, TimerKey, TxReport,
};

/// A protocol whose tables are made with the first input after its start: most nodes of a large network stay idle for
/// long, and an idle one keeps nothing but how it started.
///
/// A protocol does no I/O, so it can start again: the same parameters, time and random numbers give the same state. The
/// effects of the first start have been applied by then, and those of the second are dropped.
pub struct OnDemand(State);

enum State {
    Idle(Box<Idle>),
    Running(Box<dyn Protocol>),
}

/// What an idle protocol keeps.
struct Idle {
    protocol: Arc<Configured>,
    start: Option<StartContext>,
}

/// The circumstances of a protocol's start.
struct StartContext {
    at: Time,
    addr: Ipv4Addr,
    interface: Interface,
    /// The random stream before it.
    rng: Rng,
    /// It did nothing but open sockets.
    was_quiet: bool,
}

impl OnDemand {
    /// A protocol that has not started.
    pub fn new(protocol: Arc<Configured>) -> Self {
        Self(State::Idle(Box::new(Idle { protocol, start: None })))
    }

    /// One that runs from the start, such as an attacker, whose surroundings differ from other nodes'.
    pub fn made(protocol: Box<dyn Protocol>) -> Self {
        Self(State::Running(protocol))
    }

    /// Whether it started, did nothing but open sockets, and had no input since: another one that starts at the same time, at
    /// the same address and with the same random numbers is as it is, and what it does goes unseen.
    pub fn is_replaceable(&self) -> bool {
        matches!(&self.0, State::Idle(idle) if idle.start.as_ref().is_some_and(|start| start.was_quiet))
    }

    /// The protocol for an input.
    #[inline]
    fn running(&mut self, cx: &Cx<'_>) -> &mut dyn Protocol {
        if let State::Idle(idle) = &self.0 {
            self.0 = State::Running(idle.wake(cx.addr6()));
        }
        match &mut self.0 {
            State::Running(protocol) => &mut **protocol,
            State::Idle(_) => unreachable!("it was woken"),
        }
    }

    fn look<R>(&self, f: impl FnOnce(&(dyn Protocol + 'static)) -> R) -> R {
        match &self.0 {
            State::Running(protocol) => f(&**protocol),
            State::Idle(idle) => f(&*idle.wake(None)),
        }
    }
}

impl Idle {
    /// The protocol in the state in which its start left it.
    #[cold]
    fn wake(&self, addr6: Option<Ipv6Addr>) -> Box<dyn Protocol> {
        let mut protocol = self.protocol.engine();
        if let Some(StartContext { at, addr, interface, rng, .. }) = &self.start {
            let (mut rng, mut pool, mut next_id, mut effects) = (rng.clone(), Pool::new(), 0, Vec::new());
            let cx = Cx::new(*at, *addr, *interface, &mut rng, &mut pool, &mut next_id, &mut effects);
            protocol.start(&mut cx.with_addr6(addr6));
        }
        protocol
    }
}

impl Protocol for OnDemand {
    fn data_plane(&self) -> DataPlane {
        self.look(Protocol::data_plane)
    }
    fn interests(&self) -> Interests {
        self.look(Protocol::interests)
    }
    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        self.look(|p| p.inspect(now, out));
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        let State::Idle(idle) = &mut self.0 else { return self.running(cx).start(cx) };
        let (interface, rng) = (cx.interface(), cx.rng().clone());
        idle.protocol.engine().start(cx);
        let was_quiet = cx.effects().iter().all(|e| matches!(e, Effect::Open(_)));
        idle.start = Some(StartContext { at: cx.now(), addr: cx.addr(), interface, rng, was_quiet });
    }

    fn withholds(&mut self, at: Time, packet: &[u8]) -> bool {
        match &mut self.0 {
            State::Running(protocol) => protocol.withholds(at, packet),
            // Protocols that are made on demand are no attackers.
            State::Idle(_) => false,
        }
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        self.running(cx).on_outbound(cx, p);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        self.running(cx).on_frame(cx, p, rx);
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        self.running(cx).on_overheard(cx, p, next_hop, rx);
    }
    fn wants_overheard(&self, packet: &[u8]) -> bool {
        match &self.0 {
            State::Running(protocol) => protocol.wants_overheard(packet),
            State::Idle(_) => true,
        }
    }
    fn touch(&self) -> u8 {
        match &self.0 {
            State::Running(protocol) => protocol.touch(),
            State::Idle(_) => 0,
        }
    }
    fn look_ahead(&self, from: Addr) -> u8 {
        match &self.0 {
            State::Running(protocol) => protocol.look_ahead(from),
            State::Idle(_) => 0,
        }
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.running(cx).on_tx_status(cx, report);
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        self.running(cx).on_timer(cx, key);
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        self.running(cx).on_route_used(cx, used);
    }
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        self.running(cx).on_link(cx, iface, change);
    }
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        self.running(cx).on_position(cx, fix);
    }
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        self.running(cx).on_command(cx, command)
    }
    #[inline]
    fn on_input(&mut self, cx: &mut Cx<'_>, input: Input<'_>) {
        if matches!(input, Input::Start) {
            self.start(cx);
        } else {
            self.running(cx).on_input(cx, input);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_no_more_room_than_a_protocol_in_a_box() {
        assert_eq!(size_of::<OnDemand>(), size_of::<Box<dyn Protocol>>());
    }
}
