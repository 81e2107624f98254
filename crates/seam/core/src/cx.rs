//! The context of a protocol's handlers.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::effect::{Effect, TimerKey, TraceNote, TxSpec};
use crate::{
    Addr, DropReason, IfaceId, Interface, Opened, Packet, PacketId, PacketMeta, Pool, Prefix, Refused, Rng,
    Route, SendState, Socket, Time,
};

/// The node's side of one handler call: the time, the node's own address, a random stream, packet buffers, and a list
/// to which the handler appends its [`Effect`]s.
pub struct Cx<'a> {
    now: Time,
    addr: Ipv4Addr,
    addr6: Option<Ipv6Addr>,
    interface: Interface,
    /// In order: the neighbours for whom `interface.acknowledges` does not hold.
    exceptions: &'a [Addr],
    /// Packets that this handler sent.
    sent: u32,
    rng: &'a mut Rng,
    pool: &'a mut Pool,
    next_id: &'a mut u64,
    effects: &'a mut Vec<Effect>,
}

impl<'a> Cx<'a> {
    /// For nodes: a context that appends to `effects`. `next_id` numbers the packets that the handler makes.
    #[inline]
    pub fn new(
        now: Time,
        addr: Ipv4Addr,
        interface: Interface,
        rng: &'a mut Rng,
        pool: &'a mut Pool,
        next_id: &'a mut u64,
        effects: &'a mut Vec<Effect>,
    ) -> Self {
        Self { now, addr, addr6: None, interface, exceptions: &[], sent: 0, rng, pool, next_id, effects }
    }
    /// For nodes: with the node's IPv6 address.
    #[must_use]
    #[inline]
    pub fn with_addr6(mut self, addr6: Option<Ipv6Addr>) -> Self {
        self.addr6 = addr6;
        self
    }
    /// For nodes with several interfaces where only some acknowledge: the neighbours, in order, for
    /// whom the opposite of [`Interface::acknowledges`] holds.
    #[must_use]
    #[inline]
    pub fn with_exceptions(mut self, exceptions: &'a [Addr]) -> Self {
        self.exceptions = exceptions;
        self
    }

    /// The time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }
    /// This node's IPv4 address.
    #[inline]
    pub fn addr(&self) -> Ipv4Addr {
        self.addr
    }
    /// This node's IPv6 address, if it has one.
    #[inline]
    pub fn addr6(&self) -> Option<Ipv6Addr> {
        self.addr6
    }
    /// The state of the node's interfaces when the handler was called.
    #[inline]
    pub fn interface(&self) -> Interface {
        self.interface
    }
    /// Packets that wait in this node's interface queue, those that this handler has sent included.
    pub fn queue_len(&self) -> u32 {
        self.interface.queued.saturating_add(self.sent)
    }
    /// Whether the end of every unicast to this neighbour is reported: the link layer on the interface that the node
    /// chooses for it acknowledges.
    pub fn link_acknowledges(&self, neighbour: impl Into<Addr>) -> bool {
        self.interface.acknowledges != self.exceptions.binary_search(&neighbour.into()).is_ok()
    }
    /// Whether the end of every unicast is reported, whomever it is for.
    pub fn all_links_acknowledge(&self) -> bool {
        self.interface.acknowledges && self.exceptions.is_empty()
    }
    /// This protocol's random stream.
    pub fn rng(&mut self) -> &mut Rng {
        self.rng
    }

    /// A new packet of `len` zero octets, made now.
    pub fn alloc(&mut self, len: usize) -> Packet {
        let id = PacketId(*self.next_id);
        *self.next_id += 1;
        self.pool.zeroed(len, PacketMeta { id, flow: None, born: self.now })
    }
    /// A copy under the same id.
    pub fn copy(&mut self, p: &Packet) -> Packet {
        self.pool.copy(p)
    }

    /// Puts a packet into the interface queue.
    #[inline]
    pub fn send(&mut self, p: Packet, spec: TxSpec) {
        self.sent += 1;
        self.effects.push(Effect::Send(p, spec));
    }
    /// Hands a packet to the local stack.
    #[inline]
    pub fn deliver(&mut self, p: Packet) {
        self.effects.push(Effect::Deliver(p));
    }
    /// Ends a packet, with the cause.
    #[inline]
    pub fn drop(&mut self, p: Packet, why: DropReason) {
        self.effects.push(Effect::Drop(p, why));
    }
    /// Ends a packet that has served.
    #[inline]
    pub fn consume(&mut self, p: Packet) {
        self.effects.push(Effect::Consume(p));
    }
    /// Sets or moves a timer. A time in the past means now.
    #[inline]
    pub fn set_timer(&mut self, key: TimerKey, at: Time) {
        self.effects.push(Effect::SetTimer(key, at));
    }
    /// Forgets a timer.
    #[inline]
    pub fn clear_timer(&mut self, key: TimerKey) {
        self.effects.push(Effect::ClearTimer(key));
    }
    /// Listens to this on all interfaces, from now on.
    pub fn open(&mut self, socket: Socket) {
        self.open_on(socket, IfaceId::ANY);
    }
    /// Listens to this on one interface, from now on.
    pub fn open_on(&mut self, socket: Socket, iface: IfaceId) {
        self.effects.push(Effect::Open(Opened { socket, iface }));
    }
    /// Adds or replaces this protocol's row for a prefix in the forwarding table. All changes of one handler take effect
    /// before the node forwards the next packet.
    pub fn install(&mut self, r: Route) {
        self.effects.push(Effect::Install(r));
    }
    /// Removes this protocol's row for a prefix.
    pub fn uninstall(&mut self, destination: impl Into<Prefix>) {
        self.effects.push(Effect::Uninstall(destination.into()));
    }
    /// Replaces all rows of this protocol in one step.
    pub fn replace_routes(&mut self, routes: Vec<Route>) {
        self.effects.push(Effect::ReplaceRoutes(routes));
    }
    /// Takes the packets that wait for this neighbour, on any interface, out of the interface queues.
    pub fn recall(&mut self, next_hop: impl Into<Addr>) {
        self.effects.push(Effect::Recall(IfaceId::ANY, next_hop.into()));
    }
    /// What was asked for so far.
    pub fn effects(&self) -> &[Effect] {
        self.effects
    }
    /// Refuses the order that was given.
    pub fn refuse(&mut self, why: Refused) {
        self.effects.push(Effect::Refuse(why));
    }
    /// Writes a remark into the trace.
    pub fn note(&mut self, what: &'static str, about: impl Into<Addr>, value: u64) {
        self.effects.push(Effect::Note(TraceNote { what, about: about.into(), value }));
    }
    /// Writes down the state in which a packet is sent.
    pub fn state(&mut self, s: SendState) {
        self.effects.push(Effect::State(s));
    }
}
