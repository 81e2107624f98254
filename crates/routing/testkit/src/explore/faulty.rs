//! A protocol with a known fault, which the search must find.

use std::hash::Hasher;
use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Command, Cx, DataPlane, Fix, IfaceId, Inspect, Interests, LinkChange, Packet, Protocol, Refused,
    RouteUse, RxMeta, Time, TimerKey, TxReport,
};

use super::checked::Explorable;
use super::names::Names;

/// Makes a mistake around a protocol's handlers. Those that are not written out go through as they are.
pub trait Mistake<P: Explorable>: Clone + Send + Sync + 'static {
    /// Around [`Protocol::on_outbound`].
    fn outbound(&mut self, engine: &mut P, cx: &mut Cx<'_>, p: Packet) {
        engine.on_outbound(cx, p);
    }
    /// Around [`Protocol::on_frame`].
    fn frame(&mut self, engine: &mut P, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        engine.on_frame(cx, p, rx);
    }
    /// Around [`Protocol::on_tx_status`].
    fn tx_status(&mut self, engine: &mut P, cx: &mut Cx<'_>, report: TxReport) {
        engine.on_tx_status(cx, report);
    }
    /// Around [`Protocol::on_timer`].
    fn timer(&mut self, engine: &mut P, cx: &mut Cx<'_>, key: TimerKey) {
        engine.on_timer(cx, key);
    }
    /// Replaces [`Explorable::wrong_step`].
    fn wrong_step(&self, before: &P, after: &P) -> Option<&'static str> {
        P::wrong_step(before, after)
    }
}

/// A protocol with its mistake.
#[derive(Clone, Debug)]
pub struct Faulty<P, M> {
    /// The protocol as it ships.
    pub engine: P,
    /// What is done wrong.
    pub mistake: M,
}

impl<P: Explorable, M: Mistake<P>> Protocol for Faulty<P, M> {
    fn data_plane(&self) -> DataPlane {
        self.engine.data_plane()
    }
    fn interests(&self) -> Interests {
        self.engine.interests()
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.engine.start(cx);
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        self.mistake.outbound(&mut self.engine, cx, p);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        self.mistake.frame(&mut self.engine, cx, p, rx);
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        self.engine.on_overheard(cx, p, next_hop, rx);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.mistake.tx_status(&mut self.engine, cx, report);
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        self.mistake.timer(&mut self.engine, cx, key);
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        self.engine.on_route_used(cx, used);
    }
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        self.engine.on_link(cx, iface, change);
    }
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        self.engine.on_position(cx, fix);
    }
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        self.engine.on_command(cx, command)
    }
    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        self.engine.inspect(now, out);
    }
}

impl<P: Explorable, M: Mistake<P>> Explorable for Faulty<P, M> {
    const HEARS_SUCCESS: bool = P::HEARS_SUCCESS;
    const IS_EXCHANGEABLE: bool = P::IS_EXCHANGEABLE;
    fn digest(&self, to: &mut dyn Hasher) {
        self.engine.digest(to);
    }
    fn digest_packet(bytes: &[u8], to: &mut dyn Hasher) {
        P::digest_packet(bytes, to);
    }
    fn name(bytes: &[u8]) -> Option<u64> {
        P::name(bytes)
    }
    fn wrong_step(before: &Self, after: &Self) -> Option<&'static str> {
        before.mistake.wrong_step(&before.engine, &after.engine)
    }
    fn knowledge(&self, names: Names) -> Vec<(Ipv4Addr, String)> {
        self.engine.knowledge(names)
    }
    fn describe(bytes: &[u8], names: Names) -> String {
        P::describe(bytes, names)
    }
    fn timer(key: TimerKey, names: Names) -> String {
        P::timer(key, names)
    }
}
