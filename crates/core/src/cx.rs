//! What a handler sees of its host.

use crate::effect::{Effect, Route, TimerKey, TraceNote, TxSpec};
use crate::{Addr, DropReason, Packet, PacketId, PacketMeta, Pool, Rng, SendState, Time};

/// What a node's network interface tells of itself.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Packets that wait in its queue, in all classes; the one being sent is not counted.
    pub queued: u32,
    /// Whether the link layer acknowledges unicasts, so that [`crate::TxStatus`] tells of losses.
    pub acknowledges: bool,
}

/// The host's side of one handler call: the time, the node's own address, a random stream, packet buffers, and a list
/// to which the handler appends its [`Effect`]s.
pub struct Cx<'a> {
    now: Time,
    addr: Addr,
    interface: Interface,
    /// Packets that this handler sent.
    sent: u32,
    rng: &'a mut Rng,
    pool: &'a mut Pool,
    next_id: &'a mut u64,
    effects: &'a mut Vec<Effect>,
}

impl<'a> Cx<'a> {
    /// For hosts: a context that appends to `effects`. `next_id` numbers the packets that the handler makes.
    pub fn new(
        now: Time,
        addr: Addr,
        interface: Interface,
        rng: &'a mut Rng,
        pool: &'a mut Pool,
        next_id: &'a mut u64,
        effects: &'a mut Vec<Effect>,
    ) -> Self {
        Self { now, addr, interface, sent: 0, rng, pool, next_id, effects }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// This node's address.
    pub fn addr(&self) -> Addr {
        self.addr
    }
    /// Packets that wait in this node's interface queue, those that this handler has sent included.
    pub fn queue_len(&self) -> u32 {
        self.interface.queued.saturating_add(self.sent)
    }
    /// Whether the fate of every unicast is reported: the link layer acknowledges.
    pub fn link_acknowledges(&self) -> bool {
        self.interface.acknowledges
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
    pub fn send(&mut self, p: Packet, spec: TxSpec) {
        self.sent += 1;
        self.effects.push(Effect::Send(p, spec));
    }
    /// Hands a packet to the local stack.
    pub fn deliver(&mut self, p: Packet) {
        self.effects.push(Effect::Deliver(p));
    }
    /// Ends a packet, with the cause.
    pub fn drop(&mut self, p: Packet, why: DropReason) {
        self.effects.push(Effect::Drop(p, why));
    }
    /// Ends a packet that has served.
    pub fn consume(&mut self, p: Packet) {
        self.effects.push(Effect::Consume(p));
    }
    /// Sets or moves a timer. A time in the past means now.
    pub fn set_timer(&mut self, key: TimerKey, at: Time) {
        self.effects.push(Effect::SetTimer(key, at));
    }
    /// Forgets a timer.
    pub fn clear_timer(&mut self, key: TimerKey) {
        self.effects.push(Effect::ClearTimer(key));
    }
    /// Adds or replaces a row of the forwarding table.
    pub fn install(&mut self, r: Route) {
        self.effects.push(Effect::Install(r));
    }
    /// Removes a row of the forwarding table.
    pub fn uninstall(&mut self, destination: Addr) {
        self.effects.push(Effect::Uninstall(destination));
    }
    /// Takes the packets that wait for this neighbour out of the interface queue.
    pub fn recall(&mut self, next_hop: Addr) {
        self.effects.push(Effect::Recall(next_hop));
    }
    /// Writes a remark into the trace.
    pub fn note(&mut self, what: &'static str, about: Addr, value: u64) {
        self.effects.push(Effect::Note(TraceNote { what, about, value }));
    }
    /// Writes down the state in which a packet is sent.
    pub fn state(&mut self, s: SendState) {
        self.effects.push(Effect::State(s));
    }
}
