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
    /// Whether each discovery starts with a request that neighbours answer but do not propagate (TTL 1; section 3.3.3).
    pub ring_zero_search: bool,
    /// How long to wait for answers to that request before a propagating one, in milliseconds
    /// (NonpropRequestTimeout, section 9).
    pub nonprop_request_timeout_ms: u32,
    /// The wait after the first discovery for a target before the second, in milliseconds (RequestPeriod, section 9).
    pub request_period_ms: u32,
    /// By how much each further wait is longer (section 8.2.1: doubled).
    pub request_backoff_factor: u32,
    /// The longest wait between discoveries for one target, in milliseconds (MaxRequestPeriod, section 9).
    pub max_request_period_ms: u32,
    /// After how many repeated discoveries without a reply the packets for a target are dropped; 0 for no limit
    /// (MaxRequestRexmt, section 9).
    pub max_request_rexmt: u32,
    /// TTL of a propagating Route Request, in hops (DiscoveryHopLimit, section 9).
    pub discovery_hop_limit: u8,
    /// Longest jitter before a Route Request or a Route Reply of the target is sent, in milliseconds (BroadcastJitter,
    /// section 9).
    pub broadcast_jitter_ms: u32,
    /// The longest route that is requested, answered or cached, in hops; at most 31. The format allows more, and packets
    /// with longer source routes are forwarded.
    pub max_route_hops: u8,
    /// How many initiators, and how many targets, the Route Request Table remembers (RequestTableSize, section 9).
    pub request_table_size: u16,
    /// How many (identification, target) pairs it remembers of each initiator (RequestTableIds, section 9).
    pub request_table_ids: u16,
    /// Whether a request is also taken for a duplicate when its identification is lower than another one already seen
    /// from the same initiator.
    pub request_ids_in_order: bool,

    // ---- Send Buffer ----
    /// How many packets may wait for a route; the oldest gives way (section 4.2).
    pub send_buffer_packets: u16,
    /// How long a packet may wait for a route, in seconds (SendBufferTimeout, section 9).
    pub send_buffer_timeout_s: u32,
    /// The shortest time between two looks into the Send Buffer, in milliseconds; 0 to act exactly when something is due.
    pub send_buffer_check_min_ms: u32,
    /// The longest time between two looks into the Send Buffer, in milliseconds; each is drawn uniformly.
    pub send_buffer_check_max_ms: u32,
    /// The distance between packets that one Route Reply frees, in milliseconds.
    pub send_buffer_release_spacing_ms: u32,
    /// Whether any newly cached route frees waiting packets (section 4.1), or only a Route Reply to this node.
    pub release_on_any_route: bool,

    // ---- Route Cache ----
    /// How long an unused cached route is kept, in seconds; 0 for ever (RouteCacheTimeout, section 9).
    pub route_cache_timeout_s: u32,
    /// How many routes the cache keeps that this node asked for or uses.
    pub cache_primary_routes: u16,
    /// How many routes it keeps that were learned by listening.
    pub cache_secondary_routes: u16,
    /// Whether listening in promiscuous mode teaches routes (section 3.3.1).
    pub snoop_overheard: bool,
    /// Whether only the first overheard copy of a packet is looked at.
    pub overheard_once: bool,
    /// Whether the route recorded in a Route Request is cached by all who hear it (section 8.1.4).
    pub learn_from_requests: bool,
    /// Whether links are cached in both directions (section 3.3.1, third case: bidirectional MACs).
    pub learn_reverse_routes: bool,
    /// Whether the nodes that forward a Route Reply cache the route in it (section 8.1.4).
    pub learn_from_forwarded_replies: bool,
    /// Whether the part of a Route Reply packet's own source route that is still ahead is cached (section 3.3.1 says no).
    pub learn_ahead_of_replies: bool,

    /// How the cache is organised: `path` keeps whole routes, `link` a graph of links (section 4.1; appendix A).
    pub route_cache: CacheKind,
    /// How many nodes a link cache knows; the one unused for longest gives way.
    pub link_cache_nodes: u16,
    /// How many links it knows; the one whose time ends first gives way.
    pub link_cache_links: u16,

    // ---- Links: remembered as bad (CMU-CS-99-116 section 9.2), and measured ----
    /// How links that failed are remembered, so that routes over them are not used again at once.
    pub bad_links: BadLinks,
    /// With `timed`: how long a link that failed is refused, in seconds.
    pub bad_link_timeout_s: u32,
    /// With `until-moved`: by how many metres an end must have moved.
    pub bad_link_distance_m: f32,
    /// With `until-moved`: how long a link is refused when the position of an end is not known, in seconds.
    pub bad_link_unlocated_timeout_s: u32,
    /// With `probability`: a link that works with a smaller probability, from 0 to 1, is refused.
    pub bad_link_probability: f64,
    /// With `probability`: the received power at which a link is expected to work half of the time, in dBm.
    pub bad_link_signal_dbm: f64,
    /// With `probability`: the exponent by which power is expected to fall with distance.
    pub bad_link_path_loss_exponent: f64,
    /// How long after a propagating Route Request that brought nothing better a route over refused links is used after
    /// all, in milliseconds; 0 for never.
    pub bad_link_last_resort_ms: u32,
    /// What routes are compared by. With `etx`, nodes send probes, and Route Requests and Route Replies carry the costs of
    /// links; routes are then kept in a link cache, and every request propagates.
    pub metric: Metric,

    // ---- Route Replies ----
    /// Whether propagating requests are answered from the cache (section 8.2.3); non-propagating ones always are.
    pub reply_from_cache: bool,
    /// Delay per hop of an answer from the cache, H in section 8.2.5, in microseconds; 0 to answer at once.
    pub cached_reply_delay_us: u32,

    // ---- Route Maintenance ----
    /// Whether packets of others are sent on by another cached route when their link breaks (section 8.3.6).
    pub salvage: bool,
    /// How often one packet may be salvaged (MAX_SALVAGE_COUNT, section 9); at most 15, the field's range.
    pub max_salvage_count: u8,
    /// Whether a packet that carries a Route Reply is salvaged, unless another route is cached and the reply itself names
    /// the broken link (section 8.3.6: never).
    pub salvage_replies: bool,
    /// Whether a packet of others with no other cached route waits for a non-propagating discovery (section 8.3.6: it is
    /// dropped).
    pub discover_for_salvage: bool,
    /// Whether this node's own Route Replies and Route Errors are sent again by another route, after a discovery if need
    /// be, when their first link breaks.
    pub resend_own_control: bool,
    /// Whether the Route Error leaves before the packet is salvaged (section 8.3.6), or after.
    pub error_before_salvage: bool,
    /// Whether a Route Error also goes to each other source whose queued packets the broken link stopped (section 3.4.2).
    pub error_to_queued_sources: bool,
    /// Whether the Route Error for a data packet has an ICMP message "host unreachable" about that packet behind its DSR
    /// header, for the source's transport protocol (the notice of Holland and Vaidya 1999); of a packet of its own a node's
    /// own stack is told, if there is no other route.
    pub failure_notices: bool,
    /// Whether a Route Error told to this node travels on in its next Route Request (section 3.4.4).
    pub propagate_errors: bool,
    /// How old such a Route Error may be, in milliseconds.
    pub propagate_errors_ms: u32,
    /// Whether the node 10.0.0.1, which is a scenario's node 0 unless it has another address, takes each Route Error that a
    /// Route Request carries for one told to it, those that come back with its own requests too. ns-2 marks such errors
    /// with the address 0, which is also its first node's.
    pub first_node_takes_spread_errors: bool,
    /// Whether neighbours that cannot be answered are remembered and their requests ignored (section 4.6).
    pub blacklist: bool,
    /// How long after the last failure a neighbour is taken for one-way without asking ("probable"), in milliseconds.
    pub blacklist_probable_ms: u32,
    /// How long after the last failure a neighbour is forgotten, in milliseconds; until then it is "questionable".
    pub blacklist_expiry_ms: u32,

    // ---- Acknowledgements (sections 8.3.1 to 8.3.3) ----
    /// How this node notices that a neighbour did not get a packet.
    pub maintenance: Maintenance,
    /// How many packets the Maintenance Buffer holds, copies that wait for a confirmation; further packets are sent
    /// without one (RexmtBufferSize, section 9).
    pub rexmt_buffer_packets: u16,
    /// How long after a confirmation the next packets to the same neighbour need none, in milliseconds
    /// (MaintHoldoffTime, section 9).
    pub maint_holdoff_ms: u32,
    /// How often a packet that asks for an acknowledgement is sent again (MaxMaintRexmt, section 9).
    pub max_maint_rexmt: u8,
    /// How often a packet is sent again before it asks, where the next hop can be heard passing it on (TryPassiveAcks,
    /// section 9).
    pub try_passive_acks: u8,
    /// How long to wait for hearing that, in milliseconds (PassiveAckTimeout, section 9); 0 for the timer that
    /// acknowledgements have.
    pub passive_ack_timeout_ms: u32,
    /// Whether a confirmation also confirms all other packets that wait for the same neighbour (sections 8.3.1 and 8.3.2),
    /// or each packet needs its own.
    pub ack_confirms_neighbour: bool,
    /// The shortest retransmission timer, in milliseconds.
    pub rexmt_timer_min_ms: u32,
    /// The longest retransmission timer before the interface queue is counted in, in milliseconds.
    pub rexmt_timer_max_ms: u32,
    /// The retransmission timer for a neighbour whose round-trip time is not known yet, in milliseconds.
    pub rexmt_timer_initial_ms: u32,
    /// By how much the timer is longer for each time that the packet asked already; at most 8. 1 for the same timer.
    pub rexmt_backoff_factor: u8,
    /// How often the Maintenance Buffer is looked at, in milliseconds: what is due waits until then; 0 to act exactly when
    /// something is due.
    pub rexmt_tick_ms: u32,
    /// Above how many packets in the interface queue the retransmission timer grows.
    pub rexmt_queue_threshold: u32,
    /// By how much it then grows for each packet in the queue, in milliseconds; 0 for not at all.
    pub rexmt_queue_factor_ms: u32,
    /// Whether the timer and the round-trip time begin when the radio has sent the packet, or when it enters the interface
    /// queue.
    pub rexmt_timer_from_air: bool,
    /// Whether a node remembers which packets it has passed on, so that it does not pass on what is sent again. If not, it
    /// compares with the packets that it still holds in the Send Buffer and the Maintenance Buffer only.
    pub remember_forwarded: bool,
    /// Whether control packets and retransmissions carry the low-delay bit in the IP header's TOS octet, and all packets
    /// with that bit leave the interface queue first.
    pub low_delay_tos: bool,
    /// Whether TCP segments that only acknowledge leave the interface queue before other data, as in the queue that ns-2
    /// gives its DSR.
    pub acknowledgements_first: bool,
    /// Whether packets of this node carry a location option of 44 octets.
    pub location_option: bool,

    // ---- Watchdog and pathrater (Marti, Giuli, Lai and Baker, MobiCom 2000) ----
    /// Whether this node listens if its next hop passes packets on, tells a packet's source of one that does not, and believes
    /// what others tell.
    pub watchdog: bool,
    /// How long after the next hop has acknowledged a packet it must have been heard passing it on, in milliseconds.
    pub watchdog_timeout_ms: u32,
    /// How many packets a next hop may keep within `watchdog_window_ms`; one more, and it misbehaves.
    pub watchdog_threshold: u16,
    /// In which time, in milliseconds.
    pub watchdog_window_ms: u32,
    /// Whether routes are chosen by the ratings of their nodes, and never lead over one that misbehaves while there is hope for
    /// another.
    pub pathrater: bool,

    // ---- Automatic route shortening ----
    /// Whether an overheard packet that skipped hops is answered with a gratuitous Route Reply (section 3.4.3).
    pub gratuitous_replies: bool,
    /// How long to be silent after such a reply, in milliseconds (GratReplyHoldoff, section 9).
    pub grat_reply_holdoff_ms: u32,
    /// Whether that silence is kept for each source route, instead of for each (source, transmitter) (section 4.4).
    pub grat_holdoff_by_route: bool,
    /// How many such silences are remembered (section 4.4).
    pub grat_table_size: u16,

    // ---- Flow state (sections 3.5 and 8.6) ----
    /// Whether data packets travel along flows, without source routes (section 3.5).
    pub flow_state: bool,
    /// How long an unused flow is kept, in seconds: the value of the Timeout option (section 7.2.1).
    pub flow_timeout_s: u16,
    /// With how many packets a source announces a flow before it takes it for established end-to-end (section 3.5.3).
    pub flow_announcements: u32,
    /// After which time a source announces a flow again, in milliseconds (section 3.5.3).
    pub flow_announce_ms: u32,
    /// Whether each packet of a flow puts off its end at every node, instead of the packets with a Timeout option alone
    /// (section 3.5.1).
    pub flow_extended_by_use: bool,
    /// How long after its start a node begins no flows of its own, in seconds. Set it to the largest `flow_timeout_s` of the
    /// network on a node that comes back after a crash, so that it does not repeat identifiers in use (section 3.5.9).
    pub flow_recovery_wait_s: u16,
    /// Whether a node that overheard a packet of a flow before it got it tells the source of the shorter route
    /// (section 3.5.6).
    pub flow_shortening: bool,
    /// Whether an error about an unknown flow goes back hop by hop along the flow, beginning with the neighbour that sent the
    /// packet, instead of by a route of the cache (section 3.5.4).
    pub flow_errors_by_hop: bool,
    /// How many flows a node remembers (section 5.1).
    pub flow_table_size: u16,

    // ---- Data packets ----
    /// Whether a packet for a multicast group floods the network behind a Route Request, as far as its TTL says, or goes
    /// to the neighbours only. Groups of 224.0.0.0/24 always stay with the neighbours.
    pub multicast_flood: bool,
    /// The longest packet that the link takes, in octets, all headers from IP on included; 0 for no limit. A longer one is
    /// dropped, and its source told by ICMP what fits (section 8.1.5).
    pub mtu_bytes: u16,
    /// Whether a packet to a neighbour carries a source route without addresses, which lets others learn the link
    /// (section 8.1.1 asks for a source route from two hops on).
    pub source_route_on_one_hop: bool,
    /// TTL of this node's control packets, in hops; a Route Request has its own.
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

/// How links that failed are remembered.
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

/// What routes are compared by.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Their number of hops.
    Hops,
    /// The expected number of transmissions (ETX).
    Etx,
}

/// How a node notices that a neighbour did not get a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Maintenance {
    /// By the link layer where it acknowledges (section 8.3.1), otherwise as `network`.
    Auto,
    /// By the link layer only: over a radio without acknowledgements nothing is noticed.
    Link,
    /// By hearing the neighbour pass the packet on (section 8.3.2) and by acknowledgements that are asked for
    /// (section 8.3.3).
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
