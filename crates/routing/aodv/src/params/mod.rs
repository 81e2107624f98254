//! AODV's parameters.

mod checks;
mod live;
mod profiles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;

/// Constants and choices of the protocol.
///
/// [`Params::profile`] gives complete sets; [`Params::default`] is `rfc`. Constants that RFC 3561 section 10
/// derives from others (`NET_TRAVERSAL_TIME`, `PATH_DISCOVERY_TIME`, ...) are methods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    // ---- lifetimes ---------------------------------------------------------------------------------------------
    /// Lifetime of a route after its last use, in milliseconds (`ACTIVE_ROUTE_TIMEOUT`, section 6.2). The RFC
    /// says 3000, and at least 10000 where the link layer reports broken links (section 10).
    pub active_route_timeout_ms: u64,
    /// Lifetime in the replies that a destination sends for itself, in milliseconds (`MY_ROUTE_TIMEOUT`,
    /// section 6.6.1). At least twice `PATH_DISCOVERY_TIME` (section 10).
    pub my_route_timeout_ms: u64,
    /// How long an invalid entry is kept for its sequence number, in milliseconds (`DELETE_PERIOD`, section
    /// 6.11); absent: forever.
    pub delete_period_ms: Option<u64>,
    /// Whether lifetimes in replies, and the timeouts that Hellos announce, are limited to this node's
    /// `MY_ROUTE_TIMEOUT`. Otherwise they can be up to 49 days, the largest value of the fields.
    pub bounded_lifetimes: bool,
    /// Lifetime of the reverse route created by a request, in milliseconds; absent: `2 * NET_TRAVERSAL_TIME -
    /// 2 * hops * NODE_TRAVERSAL_TIME` (section 6.5).
    pub reverse_route_ms: Option<u64>,
    /// Interval between checks for expired routes, in milliseconds. With the search rule `measured_latency`,
    /// searches are repeated at these checks, too.
    pub check_interval_ms: u64,
    /// Which routes a forwarded data packet keeps alive (section 6.2).
    pub refresh: Refresh,

    // ---- discovery ---------------------------------------------------------------------------------------------
    /// Conservative estimate of the time for one hop, in milliseconds (`NODE_TRAVERSAL_TIME`, section 10).
    pub node_traversal_time_ms: u64,
    /// TTL of a request to the whole network, in hops (`NET_DIAMETER`, section 10).
    pub net_diameter: u8,
    /// Number of times that a request at full TTL is repeated (`RREQ_RETRIES`, section 6.3).
    pub rreq_retries: u32,
    /// TTL of the first request of an expanding ring (`TTL_START`, section 6.4). At least 2 with Hellos.
    pub ttl_start: u8,
    /// Increase of the TTL from one ring to the next (`TTL_INCREMENT`, section 6.4).
    pub ttl_increment: u8,
    /// The last TTL before `NET_DIAMETER` (`TTL_THRESHOLD`, section 6.4).
    pub ttl_threshold: u8,
    /// Extra hops in `RING_TRAVERSAL_TIME` (`TIMEOUT_BUFFER`, section 6.4).
    pub timeout_buffer: u8,
    /// How long a request at full TTL waits for its reply, in milliseconds; absent: `NET_TRAVERSAL_TIME`,
    /// doubled with each repetition (section 6.3). For the search rule `ring_traversal`.
    pub request_wait_ms: Option<u64>,
    /// How the requests of a search follow each other.
    pub search: SearchRule,
    /// How long the (originator, identifier) of a request is remembered, in milliseconds. At least
    /// `PATH_DISCOVERY_TIME` (section 6.5).
    pub request_memory_ms: u64,
    /// Requests that a node may originate per second (`RREQ_RATELIMIT`, section 6.3); 0 for no limit.
    pub rreq_rate_limit: u32,
    /// Maximum random delay of forwarded requests and Route Errors, in milliseconds, so that neighbours do
    /// not answer a broadcast simultaneously. Not in RFC 3561, but in every implementation.
    pub broadcast_jitter_ms: u64,
    /// Whether requests have the G flag: an intermediate node that answers also notifies the destination
    /// (section 6.6.3).
    pub gratuitous_rrep: bool,
    /// Whether requests have the D flag: only the destination answers (section 5.1).
    pub destination_only: bool,
    /// How a node updates its own sequence number.
    pub own_number: OwnNumber,
    /// Whether the lifetime in an intermediate node's reply is rounded down to whole seconds.
    pub reply_lifetime_whole_seconds: bool,
    /// Whether a request or reply creates a route to the neighbour it came from, with an unknown sequence
    /// number (sections 6.5, 6.7).
    pub neighbour_routes: bool,

    // ---- waiting packets ---------------------------------------------------------------------------------------
    /// Maximum number of packets waiting for routes; if there are more, the oldest is dropped.
    pub buffer_packets: usize,
    /// How long a packet waits for a route, in milliseconds.
    pub buffer_timeout_ms: u64,
    /// Time between packets released from the buffer by one reply, in milliseconds.
    pub buffer_spacing_ms: u64,
    /// Whether this node's own packets return to the buffer when their link fails, and a search begins.
    /// Otherwise they are dropped.
    pub rebuffer_own: bool,

    // ---- broken links ------------------------------------------------------------------------------------------
    /// Whether an unacknowledged transmission counts as a broken link (section 6.10).
    pub link_feedback: bool,
    /// Whether next hops are monitored on links without acknowledgements (section 6.10). A next hop must be
    /// heard forwarding the data, or sending anything, within `NEXT_HOP_WAIT`; a destination, which does not
    /// forward, within `HELLO_INTERVAL`. Otherwise it is sent a request for itself, and counts as lost if it
    /// does not answer within `RING_TRAVERSAL_TIME`.
    pub passive_ack: bool,
    /// Whether lost control messages also count as broken links, as lost data does.
    pub control_loss_breaks_link: bool,
    /// Whether packets for a broken link are taken from the interface queue and sent over new routes or
    /// buffered. Otherwise they are dropped.
    pub reroute_queued: bool,
    /// Whether packets in the interface queue are still sent to a neighbour whose Hellos are missing: the
    /// queue belongs to the driver, and its packets already have link addresses.
    pub keep_queued: bool,
    /// Whether a Route Error that invalidates a route drops the packets for its sender from the interface
    /// queue.
    pub drop_queued_on_rerr: bool,
    /// Local repair (section 6.12).
    pub local_repair: LocalRepair,
    /// Whether a lost destination is reported only if its route has precursors (section 6.11). Otherwise
    /// every lost destination is reported.
    pub rerr_needs_precursors: bool,
    /// Whether a Route Error to a single precursor is sent as unicast (section 6.11). Otherwise all are
    /// broadcast.
    pub rerr_unicast: bool,
    /// Whether the source of a data packet that ends here without a route gets the ICMP message "host
    /// unreachable", if there is a route to it, for its transport protocol. For its own packets, the node
    /// notifies its own stack.
    pub failure_notices: bool,
    /// Which sequence number a Route Error of the next hop must have to be accepted (section 6.11).
    pub rerr_number: RerrNumber,
    /// Whether a next hop that reports a lower number for a destination than the route has is asked for the
    /// destination with the route's number, which the destination then adopts (section 6.1). Otherwise, after
    /// forged numbers, no node accepts the replies.
    pub ask_lagging_next_hop: bool,
    /// Whether a next hop that never sent a Hello is probed, with Hellos on links without acknowledgements.
    /// If data goes to it and it has been silent for `HELLO_INTERVAL`, it is sent a request for itself, and
    /// counts as lost if it does not answer within `RING_TRAVERSAL_TIME`. Section 6.9 only detects the
    /// silence of neighbours that sent a Hello before, so data would keep a route over a forged next hop
    /// alive.
    pub ask_silent_next_hop: bool,
    /// Whether a route is broken, and reported to all, when a packet would return to the neighbour it came
    /// from. Two nodes that send a third node's packets to each other believe forged messages, and each
    /// packet would extend both routes.
    pub turning_back_ends_route: bool,
    /// Whether the precursor list is kept when a route breaks or expires.
    pub keep_precursors: bool,
    /// Route Errors that a node may send per second (`RERR_RATELIMIT`, section 6.11); 0 for no limit.
    pub rerr_rate_limit: u32,

    // ---- one-way links -----------------------------------------------------------------------------------------
    /// Whether replies request an RREP-ACK (the A flag, section 6.8), for links without acknowledgements.
    pub rrep_ack: bool,
    /// Whether requests from a neighbour to which a reply could not be sent are ignored (section 6.8).
    pub blacklist: bool,
    /// How long such a neighbour is ignored, in milliseconds (`BLACKLIST_TIMEOUT`, sections 6.8, 10).
    pub blacklist_timeout_ms: u64,

    // ---- neighbours --------------------------------------------------------------------------------------------
    /// When Hello messages are sent (section 6.9).
    pub hello: Hello,
    /// Whether a Hello creates or renews a route to its sender (section 6.9). Otherwise it only shows that
    /// the link exists.
    pub hello_routes: bool,
    /// Interval between Hellos, in milliseconds (`HELLO_INTERVAL`).
    pub hello_interval_ms: u64,
    /// Number of intervals without a sign of life after which a neighbour counts as lost
    /// (`ALLOWED_HELLO_LOSS`).
    pub allowed_hello_loss: u32,

    // ---- subnets -----------------------------------------------------------------------------------------------
    /// Subnets for which one node answers (section 7), each as that node's address and the prefix length:
    /// `"10.0.0.5/29"`. The router reaches the nodes of its subnet directly, and they leave the answers to
    /// it. If a subnet has several routers, the one with the lowest address serves it.
    pub subnet_routers: Vec<String>,

    // ---- the rest ----------------------------------------------------------------------------------------------
    /// Whether the node waits for `DELETE_PERIOD` after the start before it takes part in routing (section
    /// 6.13): for a node that restarts without its old sequence number.
    pub wait_after_reboot: bool,
    /// Initial value of the node's sequence number and request identifiers. A node on a real host uses its
    /// clock in tenths of a second, so that after a restart it repeats no identifier within
    /// `PATH_DISCOVERY_TIME` (section 6.3), and neighbours, which remember its last sequence number, accept
    /// its messages at once.
    pub first_number: u32,
    /// Maximum number of entries in the routing table.
    pub max_routes: usize,
    /// Maximum number of remembered requests.
    pub max_requests_remembered: usize,
}

/// Which routes a data packet keeps alive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// The routes to its source, destination, next hop and previous hop (section 6.2), if their next hop is
    /// the neighbour that the packet came from or goes to.
    AllInvolved,
    /// The route to its destination.
    DestinationOnly,
}

/// How the requests for one destination follow each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchRule {
    /// Sections 6.3 and 6.4: each ring waits for `RING_TRAVERSAL_TIME`; at full TTL the wait is
    /// `NET_TRAVERSAL_TIME`, doubled with each repetition. If the search fails, the waiting packets are
    /// dropped.
    RingTraversal,
    /// The rule of ns-2.35, see [`Params::ns2`]. The first search goes to the whole network, and rings are
    /// used only if the distance was known. A request waits `2 * TTL` times the measured latency per hop,
    /// times the number of requests at full TTL so far, at most 10 s; it is repeated at the next check or
    /// data packet. After `rreq_retries + 1` requests at full TTL, waiting packets are dropped, and no
    /// request is sent for 10 s.
    MeasuredLatency,
}

/// How a node updates its own sequence number.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwnNumber {
    /// Section 6.1: incremented before each request; before a reply, raised to at least the request's number.
    Minimal,
    /// Section 6.6.1 alone: incremented before a reply if that gives the request's number, otherwise
    /// unchanged. A node that lost its number in a reboot then sends replies that nobody accepts, until its
    /// own requests have increased it.
    IncrementIfNext,
    /// Always even, so that a number made odd by a broken link is never the destination's own: increased by
    /// two before each request and at each broken link, and for every reply.
    Even,
}

/// Which Route Errors from a route's next hop are accepted. In each case the route's number increases by at
/// least one and never decreases (section 6.1), which keeps routes from looping.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerrNumber {
    /// Those with a newer number than the route's, or with 0, which means that the sender knows none: a late
    /// message cannot break a newer route.
    Newer,
    /// Also those with the route's number.
    NotOlder,
    /// All, as in section 6.11.
    Any,
}

/// Whether the node before a broken link searches for another route itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocalRepair {
    /// Never.
    Off,
    /// Section 6.12: if the destination is at most `MAX_REPAIR_TTL` = 0.3 `NET_DIAMETER` hops away; a failure
    /// is reported after the discovery period.
    WithinTtl,
    /// The rule of ns-2.35, see [`Params::ns2`]: if the packet has travelled more than half of its route. The
    /// sequence number is unchanged, and a failure is not reported.
    PastHalfWay,
}

/// When Hello messages are sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hello {
    /// Never; the link layer reports broken links.
    Off,
    /// While the node has an active route, unless another broadcast within the interval had the same effect
    /// (section 6.9).
    WhileActive,
    /// Always, unless another broadcast within the interval had the same effect.
    Always,
    /// Always, whatever else the node broadcasts.
    Periodic,
}

impl Params {
    /// `NET_TRAVERSAL_TIME` = 2 * `NODE_TRAVERSAL_TIME` * `NET_DIAMETER` (section 10).
    pub fn net_traversal_time(&self) -> Span {
        self.node_traversal_time() * 2 * u64::from(self.net_diameter)
    }
    /// `RING_TRAVERSAL_TIME` = 2 * `NODE_TRAVERSAL_TIME` * (TTL + `TIMEOUT_BUFFER`) (section 10).
    pub fn ring_traversal_time(&self, ttl: u8) -> Span {
        self.node_traversal_time() * 2 * (u64::from(ttl) + u64::from(self.timeout_buffer))
    }
    /// `NEXT_HOP_WAIT` = `NODE_TRAVERSAL_TIME` + 10 ms (section 10).
    pub fn next_hop_wait(&self) -> Span {
        self.node_traversal_time() + Span::from_millis(10)
    }
    /// `MAX_REPAIR_TTL` = 0.3 * `NET_DIAMETER`, rounded down to whole hops (section 10).
    pub fn max_repair_ttl(&self) -> u8 {
        (u16::from(self.net_diameter) * 3 / 10) as u8
    }

    pub(crate) fn node_traversal_time(&self) -> Span {
        Span::from_millis(self.node_traversal_time_ms)
    }
    pub(crate) fn active_route_timeout(&self) -> Span {
        Span::from_millis(self.active_route_timeout_ms)
    }
    /// The lifetime used for a stated one.
    pub(crate) fn believed(&self, stated: Span) -> Span {
        if self.bounded_lifetimes { stated.min(Span::from_millis(self.my_route_timeout_ms)) } else { stated }
    }
    pub(crate) fn delete_period(&self) -> Span {
        self.delete_period_ms.map_or(Span::MAX, Span::from_millis)
    }
    pub(crate) fn hello_interval(&self) -> Span {
        Span::from_millis(self.hello_interval_ms)
    }
    pub(crate) fn broadcast_jitter(&self) -> Span {
        Span::from_millis(self.broadcast_jitter_ms)
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::rfc()
    }
}
