//! Complete sets of parameters.

use crate::params::{Hello, LocalRepair, OwnNumber, Params, Refresh, RerrNumber, SearchRule};

impl Params {
    /// The set of this name: `rfc`, `ns2` or `das`.
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "rfc" => Some(Self::rfc()),
            "ns2" => Some(Self::ns2()),
            "das" => Some(Self::das()),
            _ => None,
        }
    }

    /// RFC 3561 with link-layer feedback.
    ///
    /// Section 10 asks for an `ACTIVE_ROUTE_TIMEOUT` of 10 s where the link layer reports broken links; `MY_ROUTE_TIMEOUT`
    /// and `DELETE_PERIOD` follow from it (20 s and 50 s). `BLACKLIST_TIMEOUT` is the value for expanding rings:
    /// (3 rings + 1 + `RREQ_RETRIES`) * `NET_TRAVERSAL_TIME`. Hellos and local repair, which are options, are off.
    pub fn rfc() -> Self {
        Self {
            active_route_timeout_ms: 10_000,
            my_route_timeout_ms: 20_000,
            delete_period_ms: Some(50_000),
            bounded_lifetimes: true,
            reverse_route_ms: None,
            check_interval_ms: 100,
            refresh: Refresh::AllInvolved,
            node_traversal_time_ms: 40,
            net_diameter: 35,
            rreq_retries: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            request_wait_ms: None,
            search: SearchRule::RingTraversal,
            request_memory_ms: 5_600,
            rreq_rate_limit: 10,
            broadcast_jitter_ms: 10,
            gratuitous_rrep: true,
            destination_only: false,
            own_number: OwnNumber::Minimal,
            reply_lifetime_whole_seconds: false,
            neighbour_routes: true,
            buffer_packets: 64,
            buffer_timeout_ms: 30_000,
            buffer_spacing_ms: 0,
            rebuffer_own: true,
            link_feedback: true,
            passive_ack: false,
            control_loss_breaks_link: true,
            reroute_queued: true,
            keep_queued: false,
            drop_queued_on_rerr: false,
            local_repair: LocalRepair::Off,
            rerr_needs_precursors: true,
            rerr_unicast: true,
            failure_notices: false,
            rerr_number: RerrNumber::Newer,
            ask_lagging_next_hop: true,
            ask_silent_next_hop: true,
            turning_back_ends_route: true,
            keep_precursors: false,
            rerr_rate_limit: 10,
            rrep_ack: false,
            blacklist: true,
            blacklist_timeout_ms: 16_800,
            hello: Hello::Off,
            hello_routes: true,
            hello_interval_ms: 1_000,
            allowed_hello_loss: 2,
            subnet_routers: Vec::new(),
            wait_after_reboot: false,
            first_number: 0,
            max_routes: 4_096,
            max_requests_remembered: 8_192,
        }
    }

    /// The constants and choices of ns-2.35 (`aodv/aodv.{h,cc}`, `aodv_rtable.cc`, `aodv_rqueue.cc`, as compiled: local
    /// repair and link-layer detection on, Hellos and gratuitous replies off), on RFC 3561's wire format.
    ///
    /// **Discovery.**
    /// * A destination's first request goes to everybody (TTL 30): the last hop count of a new entry is 255, so
    ///   `TTL_START` 5 is never used. Once a route to it has broken, the TTL is the larger of its last distance and the last
    ///   TTL, plus 2, if that number was under 7; else 30.
    /// * A request waits 2 * TTL * (mean of the last three round trips per hop, or 30 ms), times the number of requests to
    ///   everybody so far, at most 10 s. It is repeated by the next data packet or the next check after that. The checks fall on
    ///   multiples of 0.5 s at all nodes.
    /// * After four requests to everybody the next attempt drops what waits for the destination and begins 10 s of silence.
    /// * The originator's broadcast is not delayed; forwarders wait U(0, 10 ms).
    /// * No rate limit, no D, no G, no A, no blacklist.
    /// * (Originator, id) is remembered for 6 s (in ns-2: until the first purge, each 6 s, after that).
    ///
    /// **Numbers.** Own numbers are even: +2 before a request and at each broken link; every reply of the destination carries
    /// a new one, above its own and the request's. Broken and expired routes add one.
    ///
    /// **Routes.**
    /// * Reverse routes live 6 s, or 10 s if this node was itself looking for the requester. No routes to neighbours as such.
    /// * Using a route refreshes (10 s) the destination's entry only. Forwarding a reply refreshes the route to its originator;
    ///   answering does not.
    /// * An expired route is used, and offered to others, until the next check. Entries are never deleted.
    /// * An intermediate node answers if its number is at least the request's, also while it repairs the route (then the
    ///   lifetime wraps to 2^32 s; here: the field's maximum). The lifetime is cut to whole seconds.
    /// * A reply is taken if its number is newer, or equal and the way shorter; else it is not passed on.
    /// * Packets waiting leave at once when a request brought the route, 10 ms apart when a reply did.
    ///
    /// **Broken links.** Only data packets report them; a lost reply is lost.
    /// * If the packet came further than it has to go (here: initial TTL guessed as 30, 64, 128 or 255), it is buffered, the route is marked
    ///   as under repair, with its number and distance unchanged, and a request goes out by the rules above. Other routes over the link and
    ///   packets in the interface queue stay. Packets for the destination are buffered meanwhile. Nobody is told if
    ///   that fails; the route is dropped by a timer that is given a point in time where it wants a
    ///   duration, so it fires at about twice the time of the break.
    /// * Else the packet and all that wait for this next hop are dropped, every route over it gets an odd number and is
    ///   reported by one broadcast Route Error without delay, whether or not anybody is known to use it.
    /// * A packet to forward without a route is dropped, and answered by a broadcast Route Error each time.
    /// * A Route Error counts if it comes from the next hop and its number is at least the route's. What waits in the
    ///   interface queue for its sender is dropped. Routes with known users are reported on, after U(0, 10 ms), and the users forgotten.
    ///
    /// **Buffer.** 64 packets, the oldest dropped for a new one; 30 s.
    ///
    /// Not taken over: the initial TTL of 30 of data packets (the host's matter; 64 here), messages 4 to 8 octets shorter (no UDP header),
    /// a request's time stamp (the requester remembers when it asked).
    pub fn ns2() -> Self {
        Self {
            active_route_timeout_ms: 10_000,
            my_route_timeout_ms: 10_000,
            delete_period_ms: None,
            bounded_lifetimes: false,
            reverse_route_ms: Some(6_000),
            check_interval_ms: 500,
            refresh: Refresh::DestinationOnly,
            node_traversal_time_ms: 30,
            net_diameter: 30,
            rreq_retries: 3,
            ttl_start: 5,
            search: SearchRule::MeasuredLatency,
            request_memory_ms: 6_000,
            rreq_rate_limit: 0,
            gratuitous_rrep: false,
            own_number: OwnNumber::Even,
            reply_lifetime_whole_seconds: true,
            neighbour_routes: false,
            buffer_spacing_ms: 10,
            rebuffer_own: false,
            control_loss_breaks_link: false,
            reroute_queued: false,
            drop_queued_on_rerr: true,
            local_repair: LocalRepair::PastHalfWay,
            rerr_needs_precursors: false,
            rerr_unicast: false,
            rerr_number: RerrNumber::NotOlder,
            ask_lagging_next_hop: false,
            ask_silent_next_hop: false,
            turning_back_ends_route: false,
            keep_precursors: true,
            rerr_rate_limit: 0,
            blacklist: false,
            ..Self::rfc()
        }
    }

    /// The Linux testbed of Desilva and Das (2000): AODV as an extension of Linux 2.2's ARP, over first-generation WaveLAN
    /// without acknowledgements. What the paper says, in its order:
    ///
    /// * "Route discovery works by flooding the network" (3.1): no expanding ring. 14 ms over four hops (Table 2) leave no
    ///   room for one, and none for jitter before a request is passed on: 4 ms a hop.
    /// * "Each node receiving a RREQ, rebroadcasts it, unless it is the destination or it has a route" (3.1): intermediate
    ///   nodes answer.
    /// * "The reverse path entries are expired after a short interval of time only sufficient to allow RREP to be
    ///   propagated" (3.1): 1 s, the time that a request waits. The routes that a request leaves are those to its originator
    ///   (3.2), none to neighbours as such.
    /// * "These nodes are notified with RERR packets" (3.1): the predecessors of a route, and nobody else.
    /// * "Each node periodically (every second in our testbed) broadcasts a hello message" (3.3), whatever else it
    ///   broadcasts; it updates "a set of neighboring nodes", not the routing table: one-hop routes were discovered, too.
    /// * "When a node does not hear from an existing neighbor for ... (2 seconds in our testbed)" (3.3).
    /// * "An intermediate node does not start any new route discovery ... it will drop all incoming packets" (3.4): no local
    ///   repair. That it reports them is the draft's that the paper cites.
    /// * "The ARP queue size was increased to 30" (3.4) from 3. There it was one for each destination, here it is one for
    ///   all; the testbed had one destination.
    /// * "Packets that received a MAC address from the ARP table, but are just waiting to be transmitted" (3.4) are the
    ///   driver's: a lost neighbour does not call them back. Let the radio's `queue_packets` be large and its
    ///   `queue_classes` off: "the transmit queue does not have any bound".
    ///
    /// The paper does not say when a request is repeated. An extension of ARP does it as ARP does in that kernel
    /// (`net/ipv4/arp.c`: `retrans_time` 1 s, `mcast_probes` 3): after 1 s, three requests in all. The rest is the RFC's.
    pub fn das() -> Self {
        Self {
            active_route_timeout_ms: 3_000,
            my_route_timeout_ms: 11_200,
            delete_period_ms: Some(15_000),
            bounded_lifetimes: false,
            reverse_route_ms: Some(1_000),
            ttl_start: 35,
            ttl_increment: 35,
            request_wait_ms: Some(1_000),
            rreq_rate_limit: 0,
            broadcast_jitter_ms: 0,
            neighbour_routes: false,
            buffer_packets: 30,
            link_feedback: false,
            control_loss_breaks_link: false,
            keep_queued: true,
            gratuitous_rrep: false,
            blacklist: false,
            hello: Hello::Periodic,
            hello_routes: false,
            ask_lagging_next_hop: false,
            ask_silent_next_hop: false,
            turning_back_ends_route: false,
            ..Self::rfc()
        }
    }
}
