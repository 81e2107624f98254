//! The seam: a routing protocol as a state machine without I/O.

use crate::{
    Addr, Command, Cx, Fix, IfaceId, Input, Inspect, LinkChange, Packet, Refused, RouteUse, RxMeta, Span,
    Time, TimerKey, TxReport,
};

/// How a protocol takes part in forwarding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DataPlane {
    /// It handles every packet (DSR): the node gives it all that arrives and all that applications send.
    PerPacket,
    /// It installs routes (AODV): the node, or the kernel, forwards by them, reports their use, and brings the misses.
    Forwarding,
}

/// Calls that a protocol wants; the node makes no others.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// The promiscuous tap: [`Input::Overheard`].
    pub overhear: bool,
    /// Use of installed routes: [`Input::RouteUsed`].
    pub route_used: bool,
    /// With it, packets that end at this node, too: the way that they came works.
    pub arrivals: bool,
    /// How often to tell where the node is: [`Input::Position`].
    pub position: Option<Span>,
    /// IPv6: it gets packets of that family as well. Otherwise the node sends them by its own routes.
    pub ipv6: bool,
    /// To keep packets that the node is about to forward: [`Protocol::withholds`]. Attackers do.
    pub withholds: bool,
}

/// A routing protocol at one node.
///
/// **Packets.** A [`Packet`] begins with its IPv4 header, or its IPv6 header for a protocol that wants [`Interests::ipv6`]. A handler that is given one must pass it on by an effect
/// (`send`, `deliver`, `drop`, `consume`) or keep it in a buffer that [`Protocol::inspect`] reports as held.
///
/// **Who forwards.** With [`DataPlane::PerPacket`] every packet from above comes to `on_outbound` and every packet from
/// the air that is addressed to this node's interface or broadcast comes to `on_frame`; the protocol sends, forwards and
/// delivers. With [`DataPlane::Forwarding`] the node looks each packet up in the forwarding table; it decrements the TTL,
/// forwards the hits and delivers what is for this node. `on_outbound` gets the misses - the node's own and, recognisable
/// by the source address, those of others - and `on_frame` only what arrives for the protocol's sockets
/// ([`Cx::open`]). The end of a packet that the node forwarded by the protocol's route comes to `on_tx_status` without
/// a number.
///
/// **Order.** Handlers of one node never overlap. Effects are applied in order after the handler returned; whatever they
/// provoke comes after all of them.
pub trait Protocol: Send {
    /// How it takes part in forwarding.
    fn data_plane(&self) -> DataPlane;
    /// Which optional calls it wants.
    fn interests(&self) -> Interests;

    /// The node comes up: the protocol opens its sockets and sets its first timers. It holds no packets yet.
    ///
    /// A host may let another engine start again in the same circumstances, to have the state that this one began with, and
    /// drop what it asks for: the simulator does, for nodes that were idle for long.
    fn start(&mut self, cx: &mut Cx<'_>);
    /// A packet from an application, or a miss of the forwarding table.
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet);
    /// A packet from the air, to this node's interface or to all.
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta);
    /// A packet that a neighbour sent to somebody else, heard in promiscuous mode; `next_hop` is the frame's receiver.
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        let _ = (cx, p, next_hop, rx);
    }
    /// Whether a packet heard in promiscuous mode would have any effect on this node as it is now. Hosts that hear much ask before they
    /// call: of most packets that pass by, a protocol learns nothing.
    fn wants_overheard(&self, packet: &[u8]) -> bool {
        let _ = packet;
        true
    }
    /// Reads the protocol's own state, so that it is in the processor's caches when [`Protocol::look_ahead`] begins with it. The answer
    /// has no meaning.
    fn touch(&self) -> u8 {
        0
    }
    /// Reads memory that [`Protocol::on_frame`] will most likely need for a packet from this neighbour: a host that is about to give
    /// one packet to many nodes asks all of them first, so that they wait for their memory together. The answer has no meaning.
    fn look_ahead(&self, from: Addr) -> u8 {
        let _ = from;
        0
    }
    /// A transmission ended that was to be reported, or of a packet that the node forwarded by the protocol's route.
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport);
    /// A timer fires.
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey);
    /// A row of the forwarding table was used.
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        let _ = (cx, used);
    }
    /// An interface came up, went down, or changed.
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        let _ = (cx, iface, change);
    }
    /// Where the node is, from its GPS receiver.
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        let _ = (cx, fix);
    }
    /// An order from outside; an error says why it is not carried out.
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        let _ = cx;
        Err(Refused(format!("this protocol does not support the command {command:?}")))
    }
    /// Whether a packet of another node, which is on its way into the interface queue, ends here instead, unsent. Its end
    /// is reported as that of one that was sent. Asked only with [`Interests::withholds`].
    fn withholds(&mut self, at: Time, packet: &[u8]) -> bool {
        let _ = (at, packet);
        false
    }
    /// Shows its tables and the packets that it holds.
    fn inspect(&self, now: Time, out: &mut dyn Inspect);

    /// Gives an input to its handler. Hosts call this and nothing else, so that a log of inputs is complete.
    #[inline]
    fn on_input(&mut self, cx: &mut Cx<'_>, input: Input<'_>) {
        match input {
            Input::Start => self.start(cx),
            Input::Outbound(p) => self.on_outbound(cx, p),
            Input::Frame(p, rx) => self.on_frame(cx, p, &rx),
            Input::Overheard { packet, next_hop, rx } => self.on_overheard(cx, &packet, next_hop, &rx),
            Input::TxStatus(report) => self.on_tx_status(cx, report),
            Input::Timer(key) => self.on_timer(cx, key),
            Input::RouteUsed(used) => self.on_route_used(cx, &used),
            Input::Link(iface, change) => self.on_link(cx, iface, change),
            Input::Position(fix) => self.on_position(cx, &fix),
            Input::Command(command) => {
                if let Err(why) = self.on_command(cx, &command) {
                    cx.refuse(why);
                }
            }
        }
    }
}

impl<P: Protocol + ?Sized> Protocol for Box<P> {
    fn data_plane(&self) -> DataPlane {
        (**self).data_plane()
    }
    fn interests(&self) -> Interests {
        (**self).interests()
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        (**self).start(cx);
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        (**self).on_outbound(cx, p);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        (**self).on_frame(cx, p, rx);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        (**self).on_tx_status(cx, report);
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        (**self).on_timer(cx, key);
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        (**self).on_overheard(cx, p, next_hop, rx);
    }
    fn wants_overheard(&self, packet: &[u8]) -> bool {
        (**self).wants_overheard(packet)
    }
    fn touch(&self) -> u8 {
        (**self).touch()
    }
    fn look_ahead(&self, from: Addr) -> u8 {
        (**self).look_ahead(from)
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        (**self).on_route_used(cx, used);
    }
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        (**self).on_link(cx, iface, change);
    }
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        (**self).on_position(cx, fix);
    }
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        (**self).on_command(cx, command)
    }
    fn withholds(&mut self, at: Time, packet: &[u8]) -> bool {
        (**self).withholds(at, packet)
    }
    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        (**self).inspect(now, out);
    }
    fn on_input(&mut self, cx: &mut Cx<'_>, input: Input<'_>) {
        (**self).on_input(cx, input);
    }
}
