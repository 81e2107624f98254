//! A received packet, read once.

use std::net::Ipv4Addr;
use std::ops::Range;

use wayhop_wire::Error;
use wayhop_wire::dsr::{
    self, DsrOption, LinkMetrics, Location, Probe, RouteError, RouteReply, RouteRequest, SourceRoute,
};
use wayhop_wire::ipv4::{self, protocol};

use crate::Path;
use crate::cache::path::MAX_NODES;

/// An IP packet with a DSR header, and the options that may occur once.
#[derive(Copy, Clone)]
pub(crate) struct View<'a> {
    pub(crate) ip: ipv4::Packet<'a>,
    pub(crate) dsr: dsr::Packet<'a>,
    pub(crate) request: Option<RouteRequest<'a>>,
    pub(crate) source_route: Option<SourceRoute<'a>>,
    pub(crate) has_reply: bool,
    pub(crate) has_error: bool,
    pub(crate) has_unknown: bool,
    /// Whether there is an Acknowledgement.
    pub(crate) has_ack: bool,
    /// Identification of the Acknowledgement Request, and who asks if it says so.
    pub(crate) ack_request: Option<(u16, Option<Ipv4Addr>)>,
    /// Where the IP source is.
    pub(crate) location: Option<Location>,
    /// Whether it has options of the flow state extension (section 7.2).
    pub(crate) has_flow_option: bool,
    pub(crate) probe: Option<Probe<'a>>,
    /// The costs of the links of the request or of the first reply.
    pub(crate) metrics: Option<LinkMetrics<'a>>,
    /// The Timeout option that comes before the Source Route.
    pub(crate) timeout_s: Option<u16>,
    /// Where the Source Route option is, in octets from the IP header's start, if no Flow State header is there.
    pub(crate) source_route_at: usize,
}

impl<'a> View<'a> {
    /// Reads the headers; an error when any option contradicts its format, or one that may occur once occurs twice.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (ip, mut dsr) = dsr::edit::parse(bytes)?;
        if dsr.flow_state().is_some() && dsr.next_header() == protocol::DSR {
            // Section 8.6.2: the Flow State header stands before the options.
            dsr = dsr::Packet::new_checked(dsr.payload())?;
            if dsr.flow_state().is_some() {
                return Err(Error::Value("second Flow State header"));
            }
        }
        if dsr.next_header() == protocol::DSR {
            // Section 8.1.2: one DSR Options header a packet.
            return Err(Error::Value("second DSR Options header"));
        }
        let mut v = Self {
            ip,
            dsr,
            request: None,
            source_route: None,
            has_reply: false,
            has_error: false,
            has_unknown: false,
            has_ack: false,
            ack_request: None,
            location: None,
            has_flow_option: false,
            probe: None,
            metrics: None,
            timeout_s: None,
            source_route_at: 0,
        };
        let mut timeouts = 0;
        for (range, o) in dsr.options().located() {
            match o? {
                DsrOption::RouteRequest(r) if v.request.is_none() => v.request = Some(r),
                DsrOption::SourceRoute(s) if v.source_route.is_none() => {
                    v.source_route = Some(s);
                    v.source_route_at = ip.header_len() + dsr::HEADER_LEN + range.start;
                }
                DsrOption::AckRequest { id, source } if v.ack_request.is_none() => {
                    v.ack_request = Some((id, source));
                }
                DsrOption::RouteRequest(_) | DsrOption::SourceRoute(_) | DsrOption::AckRequest { .. } => {
                    return Err(Error::Value("option that occurs twice"));
                }
                DsrOption::Ack { .. } => v.has_ack = true,
                DsrOption::Location(l) => v.location = Some(l),
                DsrOption::RouteReply(_) => v.has_reply = true,
                DsrOption::RouteError(_) => v.has_error = true,
                DsrOption::Unknown { .. } => v.has_unknown = true,
                DsrOption::Timeout { seconds } => {
                    if timeouts > 0 {
                        return Err(Error::Value("option that occurs twice"));
                    }
                    timeouts += 1;
                    v.has_flow_option = true;
                    v.timeout_s = Some(seconds).filter(|_| v.source_route.is_none());
                }
                DsrOption::FlowId { .. } => v.has_flow_option = true,
                DsrOption::Probe(p) => v.probe = Some(p),
                DsrOption::LinkMetrics(m) => v.metrics = v.metrics.or(Some(m)),
                _ => {}
            }
        }
        Ok(v)
    }

    /// Whether nothing follows the DSR header: a packet of the protocol's own.
    pub(crate) fn is_control(&self) -> bool {
        self.dsr.next_header() == protocol::NO_NEXT_HEADER || self.dsr.payload().is_empty()
    }
    /// Whom the packet is for: the target of a Route Request that carries it (section 8.2.2), or its IP destination.
    pub(crate) fn destination(&self) -> Ipv4Addr {
        self.request.map_or(self.ip.dst(), |r| r.target)
    }
    /// The Route Replies.
    pub(crate) fn replies(&self) -> impl Iterator<Item = RouteReply<'a>> + use<'a> {
        self.dsr.options().filter_map(|o| match o {
            Ok(DsrOption::RouteReply(r)) => Some(r),
            _ => None,
        })
    }
    pub(crate) fn errors(&self) -> impl Iterator<Item = RouteError<'a>> + use<'a> {
        self.dsr.options().filter_map(|o| match o {
            Ok(DsrOption::RouteError(e)) => Some(e),
            _ => None,
        })
    }
    /// The way that the Source Route describes; `None` when there is none, when it contradicts itself, or when it has more
    /// nodes than a [`Path`].
    pub(crate) fn way(&self) -> Option<RouteView> {
        let sr = self.source_route?;
        let (n, left) = (sr.addresses.len(), usize::from(sr.segments_left));
        if left > n || n + 2 > MAX_NODES {
            return None;
        }
        // Section 8.1.4: a salvaged packet's way begins with the node that salvaged it, which is Address[1].
        let salvaged = sr.salvage != 0;
        let mut nodes = Path::EMPTY;
        if !salvaged {
            nodes.push(self.ip.src());
        }
        sr.addresses.iter().for_each(|a| {
            nodes.push(a);
        });
        nodes.push(self.ip.dst());
        nodes.set_first_external(sr.first_hop_external && !salvaged);
        nodes.set_last_external(sr.last_hop_external);
        let receiver = n - left + usize::from(!salvaged);
        (receiver > 0 && usable(&nodes)).then_some(RouteView { nodes, receiver })
    }
}

/// Where the first option that `is` describes is in a DSR header.
pub(crate) fn place_of(
    header: &dsr::Packet<'_>,
    is: impl Fn(&DsrOption<'_>) -> bool,
) -> Option<Range<usize>> {
    header.options().located().find_map(|(range, o)| o.is_ok_and(|o| is(&o)).then_some(range))
}

/// A packet's source route, and how far it has come.
#[derive(Copy, Clone, Debug)]
pub(crate) struct RouteView {
    /// All nodes, from the one that chose the route to the destination.
    pub(crate) nodes: Path,
    /// The index of the node that shall receive this transmission; at least 1.
    pub(crate) receiver: usize,
}

impl RouteView {
    /// The node that transmits.
    pub(crate) fn transmitter(&self) -> Ipv4Addr {
        self.nodes.nodes()[self.receiver - 1]
    }
    /// The nodes passed, the transmitter the last of them.
    pub(crate) fn passed(&self) -> &[Ipv4Addr] {
        &self.nodes.nodes()[..self.receiver]
    }
    /// The nodes still ahead, the receiver the first of them.
    pub(crate) fn ahead(&self) -> &[Ipv4Addr] {
        &self.nodes.nodes()[self.receiver..]
    }
}

/// Whether an address may stand in a route.
pub(crate) fn is_node(a: Ipv4Addr) -> bool {
    !(a.is_multicast() || a.is_broadcast() || a.is_unspecified())
}

/// Whether a route visits no node twice and names no group.
pub(crate) fn usable(p: &Path) -> bool {
    p.nodes().iter().all(|a| is_node(*a)) && !p.repeats()
}

/// Whether the node that a packet goes to next is its last in the mesh: the hop from there on is External.
pub(crate) fn leaves_next(v: View<'_>) -> bool {
    v.source_route.is_some_and(|s| s.last_hop_external && s.segments_left == 1)
}
