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
    /// `ACTIVE_ROUTE_TIMEOUT`, ms: how long a route lives after its last use (section 6.2). The RFC says 3000, and at
    /// least 10000 where the link layer reports broken links (section 10).
    pub active_route_timeout_ms: u64,
    /// `MY_ROUTE_TIMEOUT`, ms: the lifetime in the replies that a destination sends for itself (section 6.6.1). At least
    /// twice `PATH_DISCOVERY_TIME` (section 10).
    pub my_route_timeout_ms: u64,
    /// `DELETE_PERIOD`, ms: how long an invalid entry is kept for its sequence number (section 6.11); absent: for ever.
    pub delete_period_ms: Option<u64>,
    /// Believe lifetimes in replies, and the time after which a sender of Hellos is lost, up to `MY_ROUTE_TIMEOUT` only, which is
    /// what a destination states at most; else up to the 49 days that the fields can hold.
    pub bounded_lifetimes: bool,
    /// Lifetime of a reverse route that a request made, ms; absent: `2 * NET_TRAVERSAL_TIME - 2 * hops *
    /// NODE_TRAVERSAL_TIME` (section 6.5).
    pub reverse_route_ms: Option<u64>,
    /// Granularity, ms, at which expired routes are looked for (and, with the search rule `measured_latency`, searches
    /// repeated); checks fall on multiples of it.
    pub check_interval_ms: u64,
    /// What the use of a route refreshes (section 6.2).
    pub refresh: Refresh,

    // ---- discovery ---------------------------------------------------------------------------------------------
    /// `NODE_TRAVERSAL_TIME`, ms: a cautious estimate of the time that one hop takes (section 10).
    pub node_traversal_time_ms: u64,
    /// `NET_DIAMETER`, hops: the TTL of a request that shall reach everybody (section 10).
    pub net_diameter: u8,
    /// `RREQ_RETRIES`: how often a request to everybody is repeated (section 6.3).
    pub rreq_retries: u32,
    /// `TTL_START`: the TTL of the first request of an expanding ring (section 6.4). At least 2 with Hellos.
    pub ttl_start: u8,
    /// `TTL_INCREMENT`: by how much the ring grows (section 6.4).
    pub ttl_increment: u8,
    /// `TTL_THRESHOLD`: the last TTL before `NET_DIAMETER` (section 6.4).
    pub ttl_threshold: u8,
    /// `TIMEOUT_BUFFER`: hops of slack in `RING_TRAVERSAL_TIME` (section 6.4).
    pub timeout_buffer: u8,
    /// How long each request to everybody waits for its reply, ms; absent: `NET_TRAVERSAL_TIME`, twice as long each time
    /// (section 6.3). For `ring_traversal`.
    pub request_wait_ms: Option<u64>,
    /// How the rings of a search follow each other.
    pub search: SearchRule,
    /// How long a requester's (address, id) is remembered, ms: at least `PATH_DISCOVERY_TIME` (section 6.5).
    pub request_memory_ms: u64,
    /// `RREQ_RATELIMIT`: requests that a node may originate a second (section 6.3); 0: no limit.
    pub rreq_rate_limit: u32,
    /// Requests that are forwarded, and forwarded Route Errors, wait a random time up to this, ms, so that neighbours do
    /// not answer a broadcast in chorus. (Not in RFC 3561; every implementation does it.)
    pub broadcast_jitter_ms: u64,
    /// Set G in requests: an intermediate node that answers tells the destination, too (section 6.6.3).
    pub gratuitous_rrep: bool,
    /// Set D in requests: only the destination answers (section 5.1).
    pub destination_only: bool,
    /// How a node counts its own sequence number.
    pub own_number: OwnNumber,
    /// Cut the lifetime in an intermediate node's reply to whole seconds.
    pub reply_lifetime_whole_seconds: bool,
    /// Create a route to the neighbour that a request or reply came from, with an unknown sequence number (sections 6.5,
    /// 6.7).
    pub neighbour_routes: bool,

    // ---- waiting packets ---------------------------------------------------------------------------------------
    /// Packets that may wait for routes; the oldest is dropped to make room.
    pub buffer_packets: usize,
    /// How long a packet waits for a route, ms.
    pub buffer_timeout_ms: u64,
    /// Time between two packets that leave the buffer when a reply comes, ms.
    pub buffer_spacing_ms: u64,
    /// A packet of this node's own that its link did not take goes back to the buffer and a search begins; else it is
    /// dropped.
    pub rebuffer_own: bool,

    // ---- broken links ------------------------------------------------------------------------------------------
    /// Take an unacknowledged transmission for a broken link (section 6.10).
    pub link_feedback: bool,
    /// Watch next hops on links that acknowledge nothing (section 6.10): each is to be heard passing data on within
    /// `NEXT_HOP_WAIT`, or saying anything; a destination, which passes nothing on, within `HELLO_INTERVAL`. Else it is sent a
    /// request for itself, and is lost if it does not answer within `RING_TRAVERSAL_TIME`.
    pub passive_ack: bool,
    /// Lost control messages count as broken links, too, not lost data only.
    pub control_loss_breaks_link: bool,
    /// Take packets for a broken link out of the interface queue and give them new routes or buffer them; else they
    /// are dropped.
    pub reroute_queued: bool,
    /// What waits in the interface queue for a neighbour whose Hellos stay away is sent all the same: the queue is the
    /// driver's, and its packets have their link addresses.
    pub keep_queued: bool,
    /// Drop what waits in the interface queue for the sender of a Route Error, when that invalidates a route.
    pub drop_queued_on_rerr: bool,
    /// Local repair (section 6.12).
    pub local_repair: LocalRepair,
    /// Report a destination only if somebody is known to use the route (section 6.11); else every lost one is reported.
    pub rerr_needs_precursors: bool,
    /// Send a Route Error to a single user as unicast (section 6.11); else always broadcast.
    pub rerr_unicast: bool,
    /// Tell the source of a data packet that ends here for want of a route by an ICMP message "host unreachable" about it,
    /// if there is a route to the source, for its transport protocol; of its own packets a node tells its own stack.
    pub failure_notices: bool,
    /// Which number a Route Error of the next hop must have to count (section 6.11).
    pub rerr_number: RerrNumber,
    /// The next hop of a route that says less of the destination than the route does, a lower number, is asked for the
    /// destination with the route's number, which the destination then takes over (section 6.1). Else replies that forged
    /// numbers precede are believed by none.
    pub ask_lagging_next_hop: bool,
    /// With Hellos, on links that acknowledge nothing: ask the next hop that data goes to and that never sent a Hello for
    /// itself when it has said nothing for `HELLO_INTERVAL`, and take it for lost if it does not answer within
    /// `RING_TRAVERSAL_TIME`. Section 6.9 notices the silence of those only that sent a Hello before; a route over
    /// a forged next hop would stay as long as data uses it.
    pub ask_silent_next_hop: bool,
    /// A route by which a packet would go back to the neighbour that it came from is broken, and reported to all: two nodes
    /// that send each other what is for a third believe forged messages, and each packet would renew the routes of both.
    pub turning_back_ends_route: bool,
    /// Keep the list of a route's users when the route breaks or expires.
    pub keep_precursors: bool,
    /// `RERR_RATELIMIT`: Route Errors that a node may send a second (section 6.11); 0: no limit.
    pub rerr_rate_limit: u32,

    // ---- one-way links -----------------------------------------------------------------------------------------
    /// Ask for RREP-ACK (the A flag, section 6.8): for links that do not acknowledge.
    pub rrep_ack: bool,
    /// Ignore requests from a neighbour that a reply could not be sent to (section 6.8).
    pub blacklist: bool,
    /// `BLACKLIST_TIMEOUT`, ms (sections 6.8, 10).
    pub blacklist_timeout_ms: u64,

    // ---- neighbours --------------------------------------------------------------------------------------------
    /// When Hello messages are sent (section 6.9).
    pub hello: Hello,
    /// A Hello makes or renews a route to its sender (section 6.9); else it only tells that the link is there.
    pub hello_routes: bool,
    /// `HELLO_INTERVAL`, ms.
    pub hello_interval_ms: u64,
    /// `ALLOWED_HELLO_LOSS`: intervals without a sign of life after which a neighbour is lost.
    pub allowed_hello_loss: u32,

    // ---- subnets -----------------------------------------------------------------------------------------------
    /// Subnets that one node answers for (section 7), each as that node's address and the length of the prefix:
    /// `"10.0.0.5/29"`. The router reaches the nodes of its subnet directly; these leave the answers to it. Of several
    /// routers of one subnet the one with the lowest address serves.
    pub subnet_routers: Vec<String>,

    // ---- the rest ----------------------------------------------------------------------------------------------
    /// Wait `DELETE_PERIOD` after the start before taking part in routing (section 6.13): for a node that comes back
    /// without its old sequence number.
    pub wait_after_reboot: bool,
    /// The own sequence number and the identifiers of requests begin behind this number. A node on a real host begins with the tenths of a
    /// second of its clock: one that is started again repeats no identifier within `PATH_DISCOVERY_TIME` (section 6.3), and
    /// neighbours, which remember its last sequence number, believe its news at once.
    pub first_number: u32,
    /// Entries in the routing table, at most.
    pub max_routes: usize,
    /// Requests remembered, at most.
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

/// How a node counts its own sequence number.
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
