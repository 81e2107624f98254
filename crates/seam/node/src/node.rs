//! A node: its engines, interfaces and forwarding table.

use std::net::Ipv4Addr;
use std::sync::Arc;

use smallvec::SmallVec;
use wayhop_core::{
    Addr, IfaceId, Inspect, Interests, Interface, Mac, Opened, Outside, Protocol, Rng, Route, RxMeta, Time,
    TimerKey,
};

use crate::authentic::Authentic;
use crate::config::{IfaceConfig, Resolution};
use crate::engine::Engine;
use crate::heard::Heard;
use crate::interface::Iface;
use crate::ipv6_state::Ipv6;
use crate::socket::Sockets;
use crate::table::PrefixTable;

/// What a node of a mesh with gateways knows of the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which addresses are the mesh's, and what this node leads to.
    pub outside: Outside,
    /// The ways out, by interfaces that lead out. Without any, packets for the outside are delivered like the node's own: its host's
    /// network stack sends them on.
    pub routes: Vec<Route>,
}

/// The network layer of one node.
///
/// A clone is a second node in the same state, for a model checker.
#[derive(Clone, Debug)]
pub struct Node<P = Box<dyn Protocol>> {
    pub(crate) addr: Ipv4Addr,
    pub(crate) engines: SmallVec<[Engine<P>; 1]>,
    pub(crate) interfaces: SmallVec<[Iface; 1]>,
    pub(crate) table: PrefixTable,
    pub(crate) sockets: Sockets,
    /// With several interfaces: those on which each neighbour was heard.
    pub(crate) heard: Heard,
    /// The latest time at which a protocol was called: its clock never goes back, though a medium may tell some things
    /// slightly ahead.
    pub(crate) clock: Time,
    /// How often it went down.
    pub(crate) life: u16,
    pub(crate) is_up: bool,
    pub(crate) overhears: bool,
    /// Whether an engine keeps packets of others.
    pub(crate) withholds: bool,
    /// `None` at a node without IPv6.
    pub(crate) v6: Option<Box<Ipv6>>,
    pub(crate) static_routes: Vec<Route>,
    /// `None` in a mesh without gateways.
    pub(crate) edge: Option<Box<Edge>>,
    /// Other addresses that it answers for.
    pub(crate) aliases: Box<[Ipv4Addr]>,
    /// `None` at a node without keys.
    pub(crate) authentic: Option<Box<Authentic>>,
}

impl<P: Protocol> Node<P> {
    /// A node with one engine and one interface, whose link address follows from its network address.
    pub fn new(addr: Ipv4Addr, engine: Engine<P>, interface: Arc<IfaceConfig>) -> Self {
        Self::with_mac(addr, engine, None, interface)
    }

    /// A node with one engine and one interface, whose link address is its own or, without one, follows from the
    /// node's network address.
    pub fn with_mac(
        addr: Ipv4Addr,
        engine: Engine<P>,
        mac: Option<Mac>,
        interface: Arc<IfaceConfig>,
    ) -> Self {
        let mut node = Self {
            addr,
            overhears: false,
            withholds: false,
            engines: SmallVec::new(),
            interfaces: SmallVec::new(),
            table: PrefixTable::default(),
            sockets: Sockets::default(),
            heard: Heard::default(),
            clock: Time::ZERO,
            life: 0,
            is_up: true,
            v6: None,
            static_routes: Vec::new(),
            edge: None,
            aliases: Box::default(),
            authentic: None,
        };
        node.add_engine(engine);
        node.add_interface(mac, interface);
        node
    }

    /// Reads what [`Node::touch_tables`] begins with. The answer has no meaning.
    #[inline]
    #[must_use]
    pub fn touch(&self) -> u8 {
        let has_interface = self.interfaces.first().is_some_and(|iface| iface.is_up);
        let has_timers = self.engines.first().is_some_and(|e| !e.timers.is_empty());
        u8::from(has_interface ^ has_timers ^ self.is_up) ^ self.sockets.touch() ^ self.clock.as_nanos() as u8
    }
    /// Reads what [`Node::look_ahead`] begins with. The answer has no meaning.
    #[inline]
    #[must_use]
    pub fn touch_tables(&self) -> u8 {
        let interfaces = self.interfaces.iter().fold(0, |all, iface| all ^ iface.touch());
        self.engines.iter().fold(interfaces, |all, e| all ^ e.touch())
    }
    /// Reads memory that a packet from a neighbour will most likely need, so that it is in the processor's caches. Worth it for
    /// several nodes, one after the other, before they receive a packet in turn: they wait for their memory together. The answer has no
    /// meaning.
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, rx: &RxMeta) -> u8 {
        let iface = self.interfaces.get(rx.iface.index()).map_or(0, |iface| iface.look_ahead(rx.from));
        let engines = self.engines.iter().fold(0, |all, e| all ^ e.look_ahead(rx.from));
        iface ^ engines ^ self.table.look_ahead(rx.from)
    }

    /// Reads memory that the engines' timers will need, in the same way. Their tables are searched for the node's own address, which is
    /// as good as any.
    #[inline]
    #[must_use]
    pub fn look_ahead_own(&self) -> u8 {
        self.engines.iter().fold(0, |all, e| all ^ e.touch() ^ e.look_ahead(self.addr.into()))
    }

    /// One more engine, which comes after the others.
    pub fn add_engine(&mut self, engine: Engine<P>) {
        self.overhears |= engine.interests.overhear;
        self.withholds |= engine.interests.withholds;
        self.engines.push(engine);
    }

    /// One more interface, with a link address of its own or one that follows from the node's address.
    pub fn add_interface(&mut self, mac: Option<Mac>, config: Arc<IfaceConfig>) -> IfaceId {
        let id = crate::interface::id(self.interfaces.len());
        let mac = mac.unwrap_or_else(|| Mac::at_medium(self.addr, config.segment));
        self.interfaces.push(Iface::new(mac, config));
        id
    }
}

impl<P> Node<P> {
    /// The node's IPv4 address, which all its interfaces share.
    pub fn addr(&self) -> Ipv4Addr {
        self.addr
    }
    /// Other addresses for which it gives its link address: an attacker's.
    pub fn set_aliases(&mut self, aliases: &[Ipv4Addr]) {
        self.aliases = aliases.into();
    }
    /// Routes from the node's configuration, which no engine owns, for when it starts and starts again.
    pub fn set_static_routes(&mut self, routes: Vec<Route>) {
        self.static_routes = routes;
    }
    /// How often it went down: what its frames carry.
    pub fn life(&self) -> u16 {
        self.life
    }
    /// Whether it is up.
    pub fn is_up(&self) -> bool {
        self.is_up
    }
    /// The forwarding table.
    pub fn table(&self) -> &PrefixTable {
        &self.table
    }
    /// What the engines listen to.
    pub fn sockets(&self) -> impl Iterator<Item = &Opened> {
        self.sockets.iter()
    }
    /// How many interfaces it has.
    pub fn interfaces(&self) -> u8 {
        self.interfaces.len() as u8
    }
    /// The link address of an interface.
    pub fn mac(&self, iface: IfaceId) -> Mac {
        self.interfaces[iface.index()].mac
    }
    /// Frames in the queue of an interface; the one being sent is not counted.
    pub fn queued(&self, iface: IfaceId) -> usize {
        self.interfaces[iface.index()].queue.len()
    }
    /// The queue of an interface, to look into.
    pub fn queue(&self, iface: IfaceId) -> &crate::InterfaceQueue {
        &self.interfaces[iface.index()].queue
    }
    /// Packets that an interface's full queue refused.
    pub fn queue_drops(&self, iface: IfaceId) -> u64 {
        self.interfaces[iface.index()].refused
    }
    /// Who has which link address on an interface.
    pub fn neighbours(&self, iface: IfaceId) -> impl Iterator<Item = (Addr, Mac)> + '_ {
        self.interfaces[iface.index()].links()
    }
    /// A neighbour's link address on an interface, where it is known.
    pub fn mac_of(&self, iface: IfaceId, neighbour: impl Into<Addr>) -> Option<Mac> {
        self.interfaces[iface.index()].mac_of(neighbour.into())
    }
    /// Whether a neighbour that shows itself there is to be learned, because the interface asks for link addresses as hosts do
    /// and does not know this one.
    #[inline]
    pub fn lacks_mac_of(&self, iface: IfaceId, neighbour: Addr) -> bool {
        let iface = &self.interfaces[iface.index()];
        iface.config.resolution == Resolution::Host && !iface.has_link(neighbour)
    }
    /// Another configuration for an interface: its MTU changed, or what it reports.
    pub fn configure(&mut self, iface: IfaceId, config: Arc<IfaceConfig>) {
        self.interfaces[iface.index()].config = config;
        self.review_acknowledgements();
    }
    /// Another link address for an interface: it was made again.
    pub fn set_mac(&mut self, iface: IfaceId, mac: Mac) {
        self.interfaces[iface.index()].mac = mac;
    }
    /// Whether an engine listens in promiscuous mode.
    pub fn overhears(&self) -> bool {
        self.overhears
    }

    /// The optional calls that any of its engines wants.
    pub fn interests(&self) -> Interests {
        let all = self.engines.iter().map(|e| e.interests);
        all.fold(Interests::default(), |a, b| Interests {
            overhear: a.overhear | b.overhear,
            route_used: a.route_used | b.route_used,
            arrivals: a.arrivals | b.arrivals,
            position: [a.position, b.position].into_iter().flatten().min(),
            ipv6: a.ipv6 | b.ipv6,
            withholds: a.withholds | b.withholds,
        })
    }

    /// What its interfaces tell the engines.
    #[inline]
    pub(crate) fn interface_facts(&self) -> Interface {
        match &self.interfaces[..] {
            [one] => Interface { queued: one.queue.len() as u32, acknowledges: one.config.acknowledges },
            all => Interface {
                queued: all.iter().map(|i| i.queue.len() as u32).sum(),
                acknowledges: self.acknowledges(self.first_up()),
            },
        }
    }

    /// The timers that are set, as (engine, key, time).
    pub fn timers(&self) -> impl Iterator<Item = (u8, TimerKey, Time)> + '_ {
        self.engines.iter().enumerate().flat_map(|(e, engine)| {
            let set = engine.timers.iter().filter(|(_, t)| t.due < Time::NEVER);
            set.map(move |(key, t)| (e as u8, *key, t.due))
        })
    }

    /// An engine's protocol.
    pub fn protocol(&self, engine: u8) -> &P {
        &self.engines[usize::from(engine)].protocol
    }
    /// Gives an engine another stream of random numbers.
    pub fn set_rng(&mut self, engine: u8, rng: Rng) {
        self.engines[usize::from(engine)].rng = rng;
    }
}

impl<P: Protocol> Node<P> {
    /// Shows the engines' tables and the packets that they hold.
    pub fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        for e in &self.engines {
            e.protocol.inspect(now, out);
        }
    }
    /// Shows the packets in its queues, and those that wait for a link address.
    pub fn held(&self, mut show: impl FnMut(&wayhop_core::Frame)) {
        self.interfaces.iter().flat_map(Iface::held).for_each(&mut show);
    }
}
