//! What the options say, and how to read them (sections 6.2 to 6.9, 7.2 to 7.4).

use std::net::Ipv4Addr;

use super::{AddrList, LinkMetrics, Location, Probe};
use super::{error_type, option_type};
use crate::Error;
use crate::bytes::{addr_at, u8_at, u16_at};

/// One option of a DSR Options header.
///
/// Octets that a later standard may append to a Route Error, an acknowledgement, a Timeout or a flow option are accepted
/// and not kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DsrOption<'a> {
    /// Who knows a route to the target? (6.2)
    RouteRequest(RouteRequest<'a>),
    /// Here is one. (6.3)
    RouteReply(RouteReply<'a>),
    /// A packet could not go on. (6.4)
    RouteError(RouteError<'a>),
    /// The next hop shall acknowledge this packet. (6.5, 7.4)
    AckRequest {
        /// Names the packet to its receiver.
        id: u16,
        /// Who asks; absent means the IP source or the transmitter, from the source route.
        source: Option<Ipv4Addr>,
    },
    /// A packet arrived over this hop. (6.6)
    Ack {
        /// Copied from the request.
        id: u16,
        /// Who acknowledges.
        source: Ipv4Addr,
        /// Who asked.
        destination: Ipv4Addr,
    },
    /// The way of this packet. (6.7)
    SourceRoute(SourceRoute<'a>),
    /// One octet of padding. (6.8)
    Pad1,
    /// Padding: type, length and this many octets. (6.9)
    PadN(u8),
    /// Time for which the flow of this packet remains valid. (7.2.1)
    Timeout {
        /// Seconds.
        seconds: u16,
    },
    /// Continue on another flow at an intermediate node. (7.2.2)
    FlowId {
        /// The next flow identifier.
        flow_id: u16,
        /// The next IP destination.
        destination: Ipv4Addr,
    },
    /// Where the packet's originator is; not of RFC 4728.
    Location(Location),
    /// Which probes its sender has heard; not of RFC 4728.
    Probe(Probe<'a>),
    /// What the links of a Route Request or Route Reply cost; not of RFC 4728.
    LinkMetrics(LinkMetrics<'a>),
    /// An option that RFC 4728 does not define; see [`super::unknown_action`].
    Unknown {
        /// Its type.
        kind: u8,
        /// Its data, without type and length.
        data: &'a [u8],
    },
}

/// Route Request (6.2). The initiator is the IP source.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RouteRequest<'a> {
    /// With initiator and target, names this request.
    pub id: u16,
    /// Whom the route shall reach.
    pub target: Ipv4Addr,
    /// The nodes passed since the initiator; at most 62.
    pub addresses: AddrList<'a>,
}

/// Route Reply (6.3). The route starts at the IP destination.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RouteReply<'a> {
    /// The last hop lies outside of the DSR network.
    pub last_hop_external: bool,
    /// The nodes of the route after its source, its end included; at most 63.
    pub addresses: AddrList<'a>,
}

/// Route Error (6.4).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RouteError<'a> {
    /// The salvage count of the packet that failed; 4 bits.
    pub salvage: u8,
    /// Who found the error.
    pub source: Ipv4Addr,
    /// Whom it shall reach.
    pub destination: Ipv4Addr,
    /// What happened.
    pub kind: RouteErrorKind<'a>,
}

/// What a Route Error reports.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RouteErrorKind<'a> {
    /// The link from the error's source to this node broke. (6.4.1)
    NodeUnreachable(Ipv4Addr),
    /// (6.4.2)
    FlowStateNotSupported,
    /// The option of this type is not implemented. (6.4.3)
    OptionNotSupported(u8),
    /// (7.3.1)
    UnknownFlow {
        /// The IP destination of the packet that failed.
        destination: Ipv4Addr,
        /// Its flow.
        flow_id: u16,
    },
    /// (7.3.2)
    DefaultFlowUnknown {
        /// The IP destination of the packet that failed.
        destination: Ipv4Addr,
    },
    /// A type that RFC 4728 does not define.
    Unknown {
        /// The error type.
        kind: u8,
        /// What follows the fixed part.
        info: &'a [u8],
    },
}

/// DSR Source Route (6.7). The way is: IP source, the addresses, IP destination; only while the salvage count is 0 does the
/// first link start at the IP source.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SourceRoute<'a> {
    /// The first hop lies outside of the DSR network.
    pub first_hop_external: bool,
    /// The last hop lies outside of the DSR network.
    pub last_hop_external: bool,
    /// How often the packet was salvaged; 4 bits.
    pub salvage: u8,
    /// How many of the listed nodes are still to be visited; 6 bits. A packet from the air may claim more than are listed.
    pub segments_left: u8,
    /// The nodes between source and destination; at most 63.
    pub addresses: AddrList<'a>,
}

impl SourceRoute<'_> {
    /// The index of the listed node that shall receive the packet now, `None` when that is the destination (no segments
    /// left) or when Segments Left exceeds the list.
    pub fn next_index(&self) -> Option<usize> {
        let n = self.addresses.len();
        n.checked_sub(usize::from(self.segments_left)).filter(|i| *i < n)
    }
}

/// The most addresses that the length octet of each option has room for.
pub(super) const MAX_REQUEST_ADDRESSES: usize = (255 - 6) / 4;
pub(super) const MAX_REPLY_ADDRESSES: usize = (255 - 1) / 4;
pub(super) const MAX_ROUTE_ADDRESSES: usize = (255 - 2) / 4;

impl<'a> DsrOption<'a> {
    /// Reads the data of an option of type `kind`. `data` is what the option's length covers.
    pub(super) fn parse(kind: u8, data: &'a [u8]) -> Result<Self, Error> {
        let at_least = |n: usize| if data.len() < n { Err(Error::Length) } else { Ok(()) };
        let list_after = |n: usize| match data.get(n..) {
            Some(list) if list.len() % 4 == 0 => Ok(AddrList::of_octets(list)),
            _ => Err(Error::Length),
        };
        Ok(match kind {
            option_type::ROUTE_REQUEST => Self::RouteRequest(RouteRequest {
                addresses: list_after(6)?,
                id: u16_at(data, 0),
                target: addr_at(data, 2),
            }),
            option_type::ROUTE_REPLY => Self::RouteReply(RouteReply {
                addresses: list_after(1)?,
                last_hop_external: u8_at(data, 0) & 0x80 != 0,
            }),
            option_type::ROUTE_ERROR => {
                at_least(10)?;
                Self::RouteError(RouteError {
                    salvage: u8_at(data, 1) & 0x0f,
                    source: addr_at(data, 2),
                    destination: addr_at(data, 6),
                    kind: RouteErrorKind::parse(data[0], &data[10..])?,
                })
            }
            option_type::ACK_REQUEST => {
                at_least(2)?;
                Self::AckRequest { id: u16_at(data, 0), source: (data.len() >= 6).then(|| addr_at(data, 2)) }
            }
            option_type::ACK => {
                at_least(10)?;
                Self::Ack { id: u16_at(data, 0), source: addr_at(data, 2), destination: addr_at(data, 6) }
            }
            option_type::SOURCE_ROUTE => {
                let addresses = list_after(2)?;
                let bits = u16_at(data, 0);
                Self::SourceRoute(SourceRoute {
                    first_hop_external: bits & 0x8000 != 0,
                    last_hop_external: bits & 0x4000 != 0,
                    salvage: (bits >> 6 & 0xf) as u8,
                    segments_left: (bits & 0x3f) as u8,
                    addresses,
                })
            }
            option_type::PAD_1 => Self::Pad1,
            option_type::PAD_N => Self::PadN(data.len() as u8),
            option_type::TIMEOUT => {
                at_least(2)?;
                Self::Timeout { seconds: u16_at(data, 0) }
            }
            option_type::FLOW_ID => {
                at_least(6)?;
                Self::FlowId { flow_id: u16_at(data, 0), destination: addr_at(data, 2) }
            }
            option_type::EXPERIMENT => {
                let location = Location::parse(data).map(Self::Location);
                let probe = || Probe::parse(data).map(Self::Probe);
                let metrics = || LinkMetrics::parse(data).map(Self::LinkMetrics);
                location.or_else(probe).or_else(metrics).unwrap_or(Self::Unknown { kind, data })
            }
            _ => Self::Unknown { kind, data },
        })
    }

    /// The option's type octet.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::RouteRequest(_) => option_type::ROUTE_REQUEST,
            Self::RouteReply(_) => option_type::ROUTE_REPLY,
            Self::RouteError(_) => option_type::ROUTE_ERROR,
            Self::AckRequest { .. } => option_type::ACK_REQUEST,
            Self::Ack { .. } => option_type::ACK,
            Self::SourceRoute(_) => option_type::SOURCE_ROUTE,
            Self::Pad1 => option_type::PAD_1,
            Self::PadN(_) => option_type::PAD_N,
            Self::Timeout { .. } => option_type::TIMEOUT,
            Self::FlowId { .. } => option_type::FLOW_ID,
            Self::Location(_) | Self::Probe(_) | Self::LinkMetrics(_) => option_type::EXPERIMENT,
            Self::Unknown { kind, .. } => *kind,
        }
    }
}

impl<'a> RouteErrorKind<'a> {
    fn parse(kind: u8, info: &'a [u8]) -> Result<Self, Error> {
        let at_least = |n: usize| if info.len() < n { Err(Error::Length) } else { Ok(()) };
        Ok(match kind {
            error_type::NODE_UNREACHABLE => {
                at_least(4)?;
                Self::NodeUnreachable(addr_at(info, 0))
            }
            error_type::FLOW_STATE_NOT_SUPPORTED => Self::FlowStateNotSupported,
            error_type::OPTION_NOT_SUPPORTED => {
                at_least(1)?;
                Self::OptionNotSupported(info[0])
            }
            error_type::UNKNOWN_FLOW => {
                at_least(6)?;
                Self::UnknownFlow { destination: addr_at(info, 0), flow_id: u16_at(info, 4) }
            }
            error_type::DEFAULT_FLOW_UNKNOWN => {
                at_least(4)?;
                Self::DefaultFlowUnknown { destination: addr_at(info, 0) }
            }
            _ => Self::Unknown { kind, info },
        })
    }
    /// The error type octet.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::NodeUnreachable(_) => error_type::NODE_UNREACHABLE,
            Self::FlowStateNotSupported => error_type::FLOW_STATE_NOT_SUPPORTED,
            Self::OptionNotSupported(_) => error_type::OPTION_NOT_SUPPORTED,
            Self::UnknownFlow { .. } => error_type::UNKNOWN_FLOW,
            Self::DefaultFlowUnknown { .. } => error_type::DEFAULT_FLOW_UNKNOWN,
            Self::Unknown { kind, .. } => *kind,
        }
    }
}
