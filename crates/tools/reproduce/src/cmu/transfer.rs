//! The transfers of section 9, and their observation.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use wayhop_core::{NodeId, PacketId};
use wayhop_trace::{HopEvent, HopKind, Observer, Summary, TcpEvent};

use super::bad_routes::WAYS;

/// The transfers of each case, seed by seed.
pub(crate) type Connections = BTreeMap<Case, Vec<Connection>>;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Case {
    /// In the laboratory, over this number of hops.
    Lab { hops: usize },
    /// Over one hop outdoors, with this size in MB.
    Outdoor { megabytes: u32 },
    /// Over two hops outdoors, beside a bad direct route that one of [`WAYS`] remembers.
    Field { way: usize },
}

/// The cars' laptops had the cards of the laboratory.
const CARDS: &str = "radio.preset=wavelan-i-pcmcia";

impl Case {
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::Lab { hops: 1 }, Self::Lab { hops: 2 }];
        all.extend([1, 5].map(|megabytes| Self::Outdoor { megabytes }));
        all.extend((0..WAYS.len()).map(|way| Self::Field { way }));
        all
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Lab { hops } => format!("tcp-lab-{hops}-hops"),
            Self::Outdoor { megabytes } => format!("tcp-outdoor-{megabytes}-mb"),
            Self::Field { way } => format!("tcp-field-{}", WAYS[way].name.replace(' ', "-")),
        }
    }

    pub(crate) fn scenario(self) -> (&'static str, Vec<String>) {
        let transfer = |to: &str, megabytes: u32| {
            format!(
                "traffic=[{{ kind = \"tcp\", src = \"A\", dst = \"{to}\", bytes = {megabytes}_000_000, window = 11, \
                 initial_window = 1, limited_transmit = false, start_s = 12 }}]"
            )
        };
        match self {
            Self::Lab { hops } => {
                ("tcp-lab.toml", vec![format!("nodes.count={}", hops + 1), format!("traffic.0.dst={hops}")])
            }
            Self::Outdoor { megabytes } => {
                ("abc.toml", vec![CARDS.to_owned(), transfer("B", megabytes), "duration_s=112".to_owned()])
            }
            Self::Field { way } => {
                let mut sets = vec![CARDS.to_owned(), transfer("C", 1)];
                sets.extend(WAYS[way].setting.map(str::to_owned));
                ("abc.toml", sets)
            }
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct SentSegment {
    pub(crate) at_s: f64,
    pub(crate) octet: u64,
    /// To the destination, without a node between.
    pub(crate) direct: bool,
}

/// One run: what the connection carried, and what its source sent.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    from: NodeId,
    to: Ipv4Addr,
    /// Octets of the stream whose packets are still to be seen.
    announced: VecDeque<u64>,
    octets: BTreeMap<PacketId, u64>,
    pub(crate) sent: Vec<SentSegment>,
    /// When the source asked for a route, and whether it asked more than its neighbours.
    pub(crate) requests: Vec<(f64, bool)>,
    pub(crate) mbps: f64,
    pub(crate) timeouts: u64,
}

/// Shorter packets are acknowledgements, and the handshake.
const SHORTEST_DATA: u32 = 200;

impl Connection {
    /// Of the flow from this node to this address.
    pub(crate) fn new(from: NodeId, to: Ipv4Addr) -> Self {
        Self {
            from,
            to,
            announced: VecDeque::new(),
            octets: BTreeMap::new(),
            sent: Vec::new(),
            requests: Vec::new(),
            mbps: 0.0,
            timeouts: 0,
        }
    }

    /// With what the run's summary has.
    #[must_use]
    pub(crate) fn closed(mut self, summary: &Summary) -> Self {
        if let Some(flow) = summary.flows.first() {
            // Every transfer of the experiment has time.
            self.mbps = flow.goodput_bps.unwrap_or_default() / 1e6;
            self.timeouts = flow.tcp.as_ref().map_or(0, |t| t.timeouts);
        }
        self.octets.clear();
        self
    }
}

impl Observer for Connection {
    fn tcp(&mut self, e: &TcpEvent) {
        // The segment's packet is made next.
        if e.node == self.from && matches!(e.event, "send" | "resend") && e.bytes > 0 {
            self.announced.push_back(e.octet);
        }
    }

    fn hop(&mut self, e: &HopEvent) {
        if e.node != self.from {
            return;
        }
        let at_s = e.time.as_secs_f64();
        match e.kind {
            HopKind::Originate if e.flow.is_some() && e.bytes >= SHORTEST_DATA => {
                if let Some(octet) = self.announced.pop_front() {
                    self.octets.insert(e.packet, octet);
                }
            }
            HopKind::Send if e.messages.has("rreq") => self.requests.push((at_s, e.ttl > 1)),
            HopKind::Send => {
                if let Some(&octet) = self.octets.get(&e.packet) {
                    self.sent.push(SentSegment { at_s, octet, direct: e.peer == self.to });
                }
            }
            _ => {}
        }
    }
}
