//! Every constant and choice of the protocol, with three named sets of values.

mod checks;
mod live;
mod profiles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;

/// Constants of RFC 4728 section 9, and switches for the places where implementations differ.
///
/// The default is the profile `rfc`. A scenario that sets some fields keeps the default of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    // ---- Route Discovery ----
    /// Whether each discovery starts with a request that neighbours answer but do not propagate (TTL 1; section
    /// 3.3.3).
    pub ring_zero_search: bool,
    /// How long to wait for replies to a non-propagating request before sending a propagating one, in milliseconds
    /// (NonpropRequestTimeout, section 9).
    pub nonprop_request_timeout_ms: u32,
    /// Time between the first and second discovery for a target, in milliseconds (RequestPeriod, section 9).
    pub request_period_ms: u32,
    /// Factor by which each further wait is longer (section 8.2.1: doubled).
    pub request_backoff_factor: u32,
    /// The longest time between discoveries for one target, in milliseconds (MaxRequestPeriod, section 9).
    pub max_request_period_ms: u32,
    /// Number of repeated discoveries without a reply after which the packets for a target are dropped; 0 for no limit
    /// (MaxRequestRexmt, section 9).
    pub max_request_rexmt: u32,
    /// TTL of a propagating Route Request, in hops (DiscoveryHopLimit, section 9).
    pub discovery_hop_limit: u8,
    /// Maximum jitter before sending a Route Request or a Route Reply of the target, in milliseconds (BroadcastJitter,
    /// section 9).
    pub broadcast_jitter_ms: u32,
    /// The longest route that is requested, returned or cached, in hops; at most 31. The format allows more, and
    /// packets with longer source routes are forwarded.
    pub max_route_hops: u8,
    /// Number of initiators, and of targets, in the Route Request Table (RequestTableSize, section 9).
    pub request_table_size: u16,
    /// Number of (identification, target) pairs per initiator in that table (RequestTableIds, section 9).
    pub request_table_ids: u16,
    /// Whether a request also counts as a duplicate if its identification is lower than another one already seen from
    /// the same initiator.
    pub request_ids_in_order: bool,

    // ---- Send Buffer ----
    /// Capacity of the Send Buffer, packets; the oldest is dropped when it is full (section 4.2).
    pub send_buffer_packets: u16,
    /// How long a packet may wait for a route, in seconds (SendBufferTimeout, section 9).
    pub send_buffer_timeout_s: u32,
    /// Minimum time between two checks of the Send Buffer, in milliseconds; 0 to act exactly when something is due.
    pub send_buffer_check_min_ms: u32,
    /// Maximum time between two checks of the Send Buffer, in milliseconds; each interval is drawn uniformly.
    pub send_buffer_check_max_ms: u32,
    /// Spacing between packets released by one Route Reply, in milliseconds.
    pub send_buffer_release_spacing_ms: u32,
    /// Whether any newly cached route releases waiting packets (section 4.1), or only a Route Reply to this node.
    pub release_on_any_route: bool,

    // ---- Route Cache ----
    /// How long an unused cached route is kept, in seconds; 0 for no limit (RouteCacheTimeout, section 9).
    pub route_cache_timeout_s: u32,
    /// Number of cached routes that this node requested or uses.
    pub cache_primary_routes: u16,
    /// Number of cached routes that were learned by overhearing.
    pub cache_secondary_routes: u16,
    /// Whether routes are learned by promiscuous listening (section 3.3.1).
    pub snoop_overheard: bool,
    /// Whether only the first overheard copy of a packet is processed.
    pub overheard_once: bool,
    /// Whether every node that receives a Route Request caches the route recorded in it (section 8.1.4).
    pub learn_from_requests: bool,
    /// Whether links are cached in both directions (section 3.3.1, third case: bidirectional MACs).
    pub learn_reverse_routes: bool,
    /// Whether nodes that forward a Route Reply cache the route in it (section 8.1.4).
    pub learn_from_forwarded_replies: bool,
    /// Whether the remaining part of the source route of a Route Reply packet is cached (section 3.3.1 says no).
    pub learn_ahead_of_replies: bool,

    /// How the cache is organised: `path` keeps whole routes, `link` a graph of links (section 4.1; appendix A).
    pub route_cache: CacheKind,
    /// Capacity of a link cache, nodes; the one that was not used for the longest time is replaced.
    pub link_cache_nodes: u16,
    /// Capacity of a link cache, links; the one whose lifetime ends first is replaced.
    pub link_cache_links: u16,

    // ---- Links: remembered as bad (CMU-CS-99-116 section 9.2), and measured ----
    /// How failed links are remembered, so that routes over them are not used again at once.
    pub bad_links: BadLinks,
    /// `timed`: how long a failed link is refused, in seconds.
    pub bad_link_timeout_s: u32,
    /// `until-moved`: the distance by which either end must have moved, in metres.
    pub bad_link_distance_m: f32,
    /// `until-moved`: how long a link is refused if the position of an end is unknown, in seconds.
    pub bad_link_unlocated_timeout_s: u32,
    /// `probability`: refuse links that work with a lower probability than this, from 0 to 1.
    pub bad_link_probability: f64,
    /// `probability`: the received power at which a link is expected to work half of the time, in dBm.
    pub bad_link_signal_dbm: f64,
    /// `probability`: the expected path loss exponent.
    pub bad_link_path_loss_exponent: f64,
    /// Time after an unsuccessful propagating Route Request until a route over refused links is used after all, in
    /// milliseconds; 0 for never.
    pub bad_link_last_resort_ms: u32,
    /// The route metric. With `etx`, nodes send probes, and Route Requests and Route Replies carry link costs; the
    /// node then uses a link cache, and every request propagates.
    pub metric: Metric,

    // ---- Route Replies ----
    /// Whether propagating requests are answered from the cache (section 8.2.3); non-propagating ones always are.
    pub reply_from_cache: bool,
    /// Delay per hop of a reply from the cache, H in section 8.2.5, in microseconds; 0 to reply at once.
    pub cached_reply_delay_us: u32,

    // ---- Route Maintenance ----
    /// Whether forwarded packets are salvaged with another cached route when their link breaks (section 8.3.6).
    pub salvage: bool,
    /// How often one packet may be salvaged (MAX_SALVAGE_COUNT, section 9); at most 15, the range of the field.
    pub max_salvage_count: u8,
    /// Whether a packet with a Route Reply is salvaged, unless another route is cached and the reply itself contains
    /// the broken link (section 8.3.6: never).
    pub salvage_replies: bool,
    /// Whether a forwarded packet without another cached route waits for a non-propagating discovery (section 8.3.6:
    /// it is dropped).
    pub discover_for_salvage: bool,
    /// Whether this node's own Route Replies and Route Errors are retransmitted over another route when their first
    /// link breaks, after a discovery if necessary.
    pub resend_own_control: bool,
    /// Whether the Route Error is sent before the packet is salvaged (section 8.3.6), or after.
    pub error_before_salvage: bool,
    /// Whether a Route Error also goes to every other source with queued packets for the broken link (section 3.4.2).
    pub error_to_queued_sources: bool,
    /// Whether the Route Error for a data packet carries an ICMP "host unreachable" message about that packet after
    /// its DSR header, for the source's transport protocol (the notice of Holland and Vaidya 1999). If the packet is
    /// the node's own and there is no other route, the node's own stack is notified.
    pub failure_notices: bool,
    /// Whether a Route Error received by this node is propagated in its next Route Request (section 3.4.4).
    pub propagate_errors: bool,
    /// The maximum age of such a Route Error, in milliseconds.
    pub propagate_errors_ms: u32,
    /// Whether the node 10.0.0.1, which is node 0 of a scenario unless it has another address, treats each Route Error
    /// in a Route Request as addressed to itself, including those that return with its own requests. ns-2 marks such
    /// errors with the address 0, which is also that of its first node.
    pub first_node_takes_spread_errors: bool,
    /// Whether neighbours that cannot be reached are remembered and their requests ignored (section 4.6).
    pub blacklist: bool,
    /// How long after the last failure a neighbour counts as unidirectional without a check ("probable"), in
    /// milliseconds.
    pub blacklist_probable_ms: u32,
    /// How long after the last failure a neighbour is removed from the blacklist, in milliseconds; until then it is
    /// "questionable".
    pub blacklist_expiry_ms: u32,

    // ---- Acknowledgements (sections 8.3.1 to 8.3.3) ----
    /// How this node detects that a neighbour did not receive a packet.
    pub maintenance: Maintenance,
    /// Capacity of the Maintenance Buffer, copies of packets that wait for a confirmation; further packets are sent
    /// without one (RexmtBufferSize, section 9).
    pub rexmt_buffer_packets: u16,
    /// Time after a confirmation in which packets to the same neighbour need no confirmation, in milliseconds
    /// (MaintHoldoffTime, section 9).
    pub maint_holdoff_ms: u32,
    /// How often a packet that requests an acknowledgement is retransmitted (MaxMaintRexmt, section 9).
    pub max_maint_rexmt: u8,
    /// How often a packet is retransmitted before it requests an acknowledgement, if the next hop can be overheard
    /// forwarding it (TryPassiveAcks, section 9).
    pub try_passive_acks: u8,
    /// How long to wait for a passive acknowledgement, in milliseconds (PassiveAckTimeout, section 9); 0 for the
    /// retransmission timer.
    pub passive_ack_timeout_ms: u32,
    /// Whether a confirmation also confirms all other packets that wait for the same neighbour (sections 8.3.1 and
    /// 8.3.2), or each packet needs its own.
    pub ack_confirms_neighbour: bool,
    /// The minimum of the retransmission timer, in milliseconds.
    pub rexmt_timer_min_ms: u32,
    /// The maximum of the retransmission timer, before the interface queue is added, in milliseconds.
    pub rexmt_timer_max_ms: u32,
    /// The retransmission timer for a neighbour with unknown round-trip time, in milliseconds.
    pub rexmt_timer_initial_ms: u32,
    /// Factor by which the timer grows with each request for an acknowledgement of the packet; at most 8. 1 for a
    /// constant timer.
    pub rexmt_backoff_factor: u8,
    /// Interval between checks of the Maintenance Buffer, in milliseconds; what is due waits for the next check. 0 to
    /// act exactly when something is due.
    pub rexmt_tick_ms: u32,
    /// Number of packets in the interface queue above which the retransmission timer grows.
    pub rexmt_queue_threshold: u32,
    /// How much it then grows per packet in the queue, in milliseconds; 0 for no growth.
    pub rexmt_queue_factor_ms: u32,
    /// Whether the timer and the round-trip time start when the radio has sent the packet, or when the packet enters
    /// the interface queue.
    pub rexmt_timer_from_air: bool,
    /// Whether a node remembers the packets that it has forwarded, so that it does not forward retransmissions.
    /// Otherwise it compares only with the packets in the Send Buffer and the Maintenance Buffer.
    pub remember_forwarded: bool,
    /// Whether control packets and retransmissions carry the low-delay bit in the IP header's TOS field, and all
    /// packets with that bit leave the interface queue first.
    pub low_delay_tos: bool,
    /// Whether TCP segments without data leave the interface queue before other data, as in the queue that ns-2 uses
    /// with DSR.
    pub acknowledgements_first: bool,
    /// Whether packets of this node carry a location option of 44 bytes.
    pub location_option: bool,

    // ---- Watchdog and pathrater (Marti, Giuli, Lai and Baker, MobiCom 2000) ----
    /// Whether this node overhears its next hop to detect that it does not forward packets, reports it to the packets'
    /// source, and believes such reports.
    pub watchdog: bool,
    /// How long after acknowledging a packet the next hop must have been overheard forwarding it, in milliseconds.
    pub watchdog_timeout_ms: u32,
    /// How many packets a next hop may drop within `watchdog_window_ms` before it counts as misbehaving.
    pub watchdog_threshold: u16,
    /// The time for this count, in milliseconds.
    pub watchdog_window_ms: u32,
    /// Whether routes are chosen by the ratings of their nodes, and avoid misbehaving nodes as long as another route
    /// may be found.
    pub pathrater: bool,

    // ---- Automatic route shortening ----
    /// Whether an overheard packet that could skip hops is answered with a gratuitous Route Reply (section 3.4.3).
    pub gratuitous_replies: bool,
    /// How long no further gratuitous reply is sent after one, in milliseconds (GratReplyHoldoff, section 9).
    pub grat_reply_holdoff_ms: u32,
    /// Whether this holdoff applies per source route, instead of per (source, transmitter) (section 4.4).
    pub grat_holdoff_by_route: bool,
    /// Number of entries in the Gratuitous Route Reply Table (section 4.4).
    pub grat_table_size: u16,

    // ---- Flow state (sections 3.5 and 8.6) ----
    /// Whether data packets travel along flows, without source routes (section 3.5).
    pub flow_state: bool,
    /// How long an unused flow is kept, in seconds: the value of the Timeout option (section 7.2.1).
    pub flow_timeout_s: u16,
    /// Number of packets with which a source announces a flow before it considers it established end-to-end (section
    /// 3.5.3).
    pub flow_announcements: u32,
    /// Time after which a source announces a flow again, in milliseconds (section 3.5.3).
    pub flow_announce_ms: u32,
    /// Whether every packet of a flow extends its lifetime at each node, instead of only packets with a Timeout option
    /// (section 3.5.1).
    pub flow_extended_by_use: bool,
    /// Time after its start during which a node creates no flows, in seconds. For a node that restarts after a crash,
    /// set it to the largest `flow_timeout_s` in the network, so that it does not reuse identifiers in use (section
    /// 3.5.9).
    pub flow_recovery_wait_s: u16,
    /// Whether a node that overhears a packet of a flow before receiving it reports the shorter route to the source
    /// (section 3.5.6).
    pub flow_shortening: bool,
    /// Whether an error about an unknown flow returns hop by hop along the flow, starting with the neighbour that sent
    /// the packet, instead of over a cached route (section 3.5.4).
    pub flow_errors_by_hop: bool,
    /// Number of flows that a node remembers (section 5.1).
    pub flow_table_size: u16,

    // ---- Data packets ----
    /// Whether multicast packets flood the network in a Route Request, within their TTL, or reach only the neighbours.
    /// Groups in 224.0.0.0/24 always stay with the neighbours.
    pub multicast_flood: bool,
    /// The largest packet that the link carries, in bytes, including all headers from IP on; 0 for no limit. A larger
    /// one is dropped, and its source is informed of the limit by ICMP (section 8.1.5).
    pub mtu_bytes: u16,
    /// Whether a packet to a neighbour carries a source route without addresses, from which others learn the link
    /// (section 8.1.1 requires a source route only from two hops on).
    pub source_route_on_one_hop: bool,
    /// TTL of this node's control packets, in hops, except Route Requests.
    pub control_ttl: u8,
}

/// How a Route Cache is organised.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Whole routes in two tiers.
    Path,
    /// A graph of links with lifetimes (Link-MaxLife).
    Link,
}

/// How failed links are remembered.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BadLinks {
    /// Not at all.
    None,
    /// For some time.
    Timed,
    /// Until either end has moved.
    UntilMoved,
    /// By an estimate of the probability that the link works.
    Probability,
}

/// The route metric.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The number of hops.
    Hops,
    /// The expected number of transmissions (ETX).
    Etx,
}

/// How a node detects that a neighbour did not receive a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Maintenance {
    /// By link-layer acknowledgements if available (section 8.3.1), otherwise as with `network`.
    Auto,
    /// By link-layer acknowledgements only: over a radio without them, broken links are not detected.
    Link,
    /// By passive acknowledgements (section 8.3.2) and requested acknowledgements (section 8.3.3).
    Network,
}

impl Params {
    pub(crate) fn jitter(&self) -> Span {
        Span::from_millis(self.broadcast_jitter_ms.into())
    }

    /// The wait after the `n`th discovery in a row for one target; `n` counts from 1.
    pub(crate) fn backoff(&self, n: u32) -> Span {
        let factor = u64::from(self.request_backoff_factor).saturating_pow(n.saturating_sub(1));
        let ms = u64::from(self.request_period_ms).saturating_mul(factor);
        Span::from_millis(ms.min(self.max_request_period_ms.into()))
    }
}
