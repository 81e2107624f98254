//! Everything about AODV that can be chosen.

mod checks;
mod live;
mod profiles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;

/// Constants and choices of the protocol. Times are in milliseconds.
///
/// [`Params::profile`] gives complete sets; [`Params::default`] is `rfc`. Constants that RFC 3561 section 10 derives from
/// others (`NET_TRAVERSAL_TIME`, `PATH_DISCOVERY_TIME`, ...) are methods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    // ---- lifetimes ---------------------------------------------------------------------------------------------
    /// How long a route lives after its last use, in milliseconds (`ACTIVE_ROUTE_TIMEOUT`, section
    /// 6.2). The RFC says 3000, and at least 10000 if the link layer reports broken links (section
    /// 10).
    pub active_route_timeout_ms: u64,
    /// The lifetime in a destination's own replies, in milliseconds (`MY_ROUTE_TIMEOUT`, section
    /// 6.6.1); at least twice `PATH_DISCOVERY_TIME` (section 10).
    pub my_route_timeout_ms: u64,
    /// How long an invalid entry is kept for its sequence number, in milliseconds (`DELETE_PERIOD`,
    /// section 6.11). Absent: for ever.
    pub delete_period_ms: Option<u64>,
    /// Whether lifetimes in replies, and the time until a sender of Hellos is lost, are limited to
    /// `MY_ROUTE_TIMEOUT`, the longest that a destination states. Otherwise up to the 49 days that
    /// the fields can hold.
    pub bounded_lifetimes: bool,
    /// Lifetime of a reverse route created by a request, in milliseconds. Absent: `2 *
    /// NET_TRAVERSAL_TIME - 2 * hops * NODE_TRAVERSAL_TIME` (section 6.5).
    pub reverse_route_ms: Option<u64>,
    /// Interval between checks for expired routes, in milliseconds, at multiples of this time; with
    /// the search rule `measured_latency`, searches are repeated at these checks, too.
    pub check_interval_ms: u64,
    /// Which routes are refreshed when a route is used (section 6.2).
    pub refresh: Refresh,

    // ---- discovery ---------------------------------------------------------------------------------------------
    /// A conservative estimate of the time for one hop, in milliseconds (`NODE_TRAVERSAL_TIME`, section 10).
    pub node_traversal_time_ms: u64,
    /// The TTL of a request to the whole network, in hops (`NET_DIAMETER`, section 10).
    pub net_diameter: u8,
    /// How often a request to the whole network is repeated (`RREQ_RETRIES`, section 6.3).
    pub rreq_retries: u32,
    /// The TTL of the first request of an expanding ring search (`TTL_START`, section 6.4); at
    /// least 2 with Hellos.
    pub ttl_start: u8,
    /// How much each ring is larger than the previous one, in hops (`TTL_INCREMENT`, section 6.4).
    pub ttl_increment: u8,
    /// The last TTL before `NET_DIAMETER` (`TTL_THRESHOLD`, section 6.4).
    pub ttl_threshold: u8,
    /// Slack in `RING_TRAVERSAL_TIME`, in hops (`TIMEOUT_BUFFER`, section 6.4).
    pub timeout_buffer: u8,
    /// How long each request to the whole network waits for its reply, in milliseconds, for
    /// `ring_traversal`. Absent: `NET_TRAVERSAL_TIME`, doubled each time (section 6.3).
    pub request_wait_ms: Option<u64>,
    /// How long a search waits for each ring.
    pub search: SearchRule,
    /// How long a request's (originator, id) is remembered, in milliseconds; at least
    /// `PATH_DISCOVERY_TIME` (section 6.5).
    pub request_memory_ms: u64,
    /// The most requests that a node originates per second (`RREQ_RATELIMIT`, section 6.3); 0 for no limit.
    pub rreq_rate_limit: u32,
    /// Maximum jitter before forwarding a request or a Route Error, in milliseconds, so that neighbours do
    /// not all answer a broadcast at once. (Not in RFC 3561, but in every implementation.)
    pub broadcast_jitter_ms: u64,
    /// Whether requests set G, so that an intermediate node that answers also notifies the
    /// destination (section 6.6.3).
    pub gratuitous_rrep: bool,
    /// Whether requests set D, so that only the destination answers (section 5.1).
    pub destination_only: bool,
    /// How a node increments its own sequence number.
    pub own_number: OwnNumber,
    /// Whether the lifetime in an intermediate node's reply is truncated to seconds.
    pub reply_lifetime_whole_seconds: bool,
    /// Whether a request or reply creates a route to the neighbour that sent it, with an unknown
    /// sequence number (sections 6.5, 6.7).
    pub neighbour_routes: bool,

    // ---- waiting packets ---------------------------------------------------------------------------------------
    /// Capacity of the buffer of packets that wait for routes; the oldest is dropped when it is full.
    pub buffer_packets: usize,
    /// How long a packet may wait for a route, in milliseconds.
    pub buffer_timeout_ms: u64,
    /// Spacing between packets released by a reply, in milliseconds.
    pub buffer_spacing_ms: u64,
    /// Whether this node's own packets that a link lost go back to the buffer and start a search,
    /// or are dropped.
    pub rebuffer_own: bool,

    // ---- broken links ------------------------------------------------------------------------------------------
    /// Whether an unacknowledged transmission counts as a broken link (section 6.10).
    pub link_feedback: bool,
    /// Whether next hops are monitored on links without acknowledgements (section 6.10). A next hop
    /// must be heard forwarding data, or sending anything, within `NEXT_HOP_WAIT`; a destination,
    /// which forwards nothing, within `HELLO_INTERVAL`. Otherwise it is sent a request for itself,
    /// and is lost if it does not answer within `RING_TRAVERSAL_TIME`.
    pub passive_ack: bool,
    /// Whether a lost control message also counts as a broken link, or only lost data.
    pub control_loss_breaks_link: bool,
    /// Whether packets for a broken link are taken out of the interface queue and rerouted or
    /// buffered, or are dropped.
    pub reroute_queued: bool,
    /// Whether packets in the interface queue for a neighbour that was lost by its Hellos are still
    /// sent: the queue is the driver's, and its packets already have link addresses.
    pub keep_queued: bool,
    /// Whether packets in the interface queue for the sender of a Route Error are dropped if it
    /// invalidates a route.
    pub drop_queued_on_rerr: bool,
    /// Local repair (section 6.12).
    pub local_repair: LocalRepair,
    /// Whether only lost destinations with precursors are reported (section 6.11), or all.
    pub rerr_needs_precursors: bool,
    /// Whether a Route Error for a single precursor is unicast (section 6.11), or always broadcast.
    pub rerr_unicast: bool,
    /// Whether the source of a data packet that is dropped here without a route gets an ICMP "host
    /// unreachable" message for its transport protocol, if there is a route to it. For the node's
    /// own packets, its own stack is notified.
    pub failure_notices: bool,
    /// Which sequence numbers in a Route Error of the next hop are accepted (section 6.11).
    pub rerr_number: RerrNumber,
    /// Whether a next hop that reports a lower sequence number for a destination than the route has
    /// is sent a request for it with the route's number, which the destination then adopts (section
    /// 6.1). Otherwise no node accepts replies after a forged higher number.
    pub ask_lagging_next_hop: bool,
    /// Whether a next hop in use that has never sent a Hello is sent a request for itself after
    /// `HELLO_INTERVAL` of silence, and is lost if it does not answer within `RING_TRAVERSAL_TIME`. For nodes
    /// with Hellos on links without acknowledgements. Section 6.9 only detects the silence of nodes that sent
    /// a Hello before; a route over a forged next hop would last as long as it is used.
    pub ask_silent_next_hop: bool,
    /// Whether a route that would return a packet to the neighbour that sent it is broken and
    /// reported to all. Otherwise two nodes that forward a third's packets to each other, because
    /// of forged messages, would renew each other's routes with each packet.
    pub turning_back_ends_route: bool,
    /// Whether a route's precursors are kept when it breaks or expires.
    pub keep_precursors: bool,
    /// The most Route Errors that a node sends per second (`RERR_RATELIMIT`, section 6.11); 0 for no limit.
    pub rerr_rate_limit: u32,

    // ---- one-way links -----------------------------------------------------------------------------------------
    /// Whether replies request an RREP-ACK (the A flag, section 6.8), for links without acknowledgements.
    pub rrep_ack: bool,
    /// Whether requests from a neighbour that did not receive a reply are ignored (section 6.8).
    pub blacklist: bool,
    /// How long they are ignored, in milliseconds (`BLACKLIST_TIMEOUT`, sections 6.8, 10).
    pub blacklist_timeout_ms: u64,

    // ---- neighbours --------------------------------------------------------------------------------------------
    /// When Hello messages are sent (section 6.9).
    pub hello: Hello,
    /// Whether a Hello creates or renews a route to its sender (section 6.9), or only confirms the link.
    pub hello_routes: bool,
    /// The interval between Hellos, in milliseconds (`HELLO_INTERVAL`).
    pub hello_interval_ms: u64,
    /// Number of silent Hello intervals after which a neighbour is lost (`ALLOWED_HELLO_LOSS`).
    pub allowed_hello_loss: u32,

    // ---- subnets -----------------------------------------------------------------------------------------------
    /// Subnets that one node answers for (section 7), each as that node's address with the prefix
    /// length: `"10.0.0.5/29"`. The router reaches the nodes of its subnet directly, and they leave
    /// the answers to it. If a subnet has several routers, the one with the lowest address answers.
    pub subnet_routers: Vec<String>,

    // ---- the rest ----------------------------------------------------------------------------------------------
    /// Whether a node waits for `DELETE_PERIOD` after its start before it takes part in routing
    /// (section 6.13), for nodes that restart without their old sequence number.
    pub wait_after_reboot: bool,
    /// The last used value of this node's sequence number and request identifiers. A node on a real
    /// host starts with the tenths of a second of its clock. So a restarted node does not repeat an
    /// identifier within `PATH_DISCOVERY_TIME` (section 6.3), and neighbours that remember its last
    /// sequence number accept its messages at once.
    pub first_number: u32,
    /// Capacity of the routing table, entries.
    pub max_routes: usize,
    /// The most requests remembered.
    pub max_requests_remembered: usize,
}

/// What a data packet refreshes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// The routes to its source, destination, next hop and previous hop (section 6.2), of these the ones by which it came or goes.
    AllInvolved,
    /// The route to its destination.
    DestinationOnly,
}

/// How requests for one destination follow each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchRule {
    /// Sections 6.3 and 6.4: each ring waits `RING_TRAVERSAL_TIME`; at full TTL the wait is `NET_TRAVERSAL_TIME`,
    /// doubling. A search that fails drops what waits for it.
    RingTraversal,
    /// ns-2.35's rule, see [`Params::ns2`]: the first search goes to everybody, rings are used only for a destination
    /// whose distance was known; a request waits `2 * TTL` times the measured latency of a hop, times the number of requests to
    /// everybody so far, at most 10 s; repeated at the next check or data packet. After `rreq_retries + 1` requests to
    /// everybody, what waits is dropped and there is silence for 10 s.
    MeasuredLatency,
}

/// How a node increments its own sequence number.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwnNumber {
    /// Section 6.1: one more before each request; at least the request's number before a reply.
    Minimal,
    /// Section 6.6.1 taken by itself: one more before a reply if that is the request's number, else unchanged. A node that
    /// lost its number in a reboot then answers with one that nobody takes, until its own requests have raised it.
    IncrementIfNext,
    /// Always even, so that a number that a broken link made odd is never the destination's own: two more before each
    /// request and at each broken link, and a new one for every reply.
    Even,
}

/// Which Route Errors count, of those that come from the route's next hop. Whichever: the route's number rises, by one at
/// least, and never falls (section 6.1); that is what keeps the routes from looping.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RerrNumber {
    /// Those with a number newer than the route's, or with 0, which a node reports that knows none: what is late does not break
    /// a newer route.
    Newer,
    /// Those with the route's number, too.
    NotOlder,
    /// All, as section 6.11 has it.
    Any,
}

/// Whether the node before a broken link looks for another way itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocalRepair {
    /// Never.
    Off,
    /// Section 6.12: if the destination is at most `MAX_REPAIR_TTL` = 0.3 `NET_DIAMETER` hops away; a failure is reported
    /// after the discovery period.
    WithinTtl,
    /// ns-2.35's rule, see [`Params::ns2`]: if the packet has come further than it has to go. The
    /// sequence number stays, and no failure is reported.
    PastHalfWay,
}

/// When Hello messages are sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hello {
    /// Never; broken links are reported by the link layer.
    Off,
    /// While the node has an active route, unless another broadcast of the last interval said the same (section 6.9).
    WhileActive,
    /// Always, unless another broadcast of the last interval said the same.
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
    /// As much of a lifetime that somebody states as is believed.
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
