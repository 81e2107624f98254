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
    /// Section 10 requires an `ACTIVE_ROUTE_TIMEOUT` of 10 s where the link layer reports broken links;
    /// `MY_ROUTE_TIMEOUT` and `DELETE_PERIOD` follow from it (20 s and 50 s). `BLACKLIST_TIMEOUT` is the value for
    /// expanding rings: (3 rings + 1 + `RREQ_RETRIES`) * `NET_TRAVERSAL_TIME`. Hellos and local repair, which are
    /// optional, are off.
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
    /// repair and link-layer detection on, Hellos and gratuitous replies off), with RFC 3561's wire format.
    ///
    /// **Discovery.**
    /// * A destination's first request goes to the whole network (TTL 30): the last hop count of a new entry is 255, so
    ///   `TTL_START` 5 is never used. After a break, the TTL is the larger of the route's last distance and the last
    ///   TTL, plus 2, if that number was less than 7; otherwise 30.
    /// * A request waits 2 * TTL * (mean of the last three round trips per hop, or 30 ms), times the number of requests
    ///   to the whole network so far, at most 10 s. It is repeated by the next data packet or the next check after that.
    ///   The checks are at multiples of 0.5 s at all nodes.
    /// * After four requests to the whole network, the next attempt drops the packets waiting for the destination, and
    ///   no request is sent for 10 s.
    /// * The originator's broadcast is not delayed; forwarders wait U(0, 10 ms).
    /// * No rate limit, no D, no G, no A, no blacklist.
    /// * (Originator, id) is remembered for 6 s (in ns-2: until the first purge after that, one every 6 s).
    ///
    /// **Numbers.** Own numbers are even: +2 before a request and at each broken link; every reply of the destination
    /// has a new one, above its own and the request's. Broken and expired routes add one.
    ///
    /// **Routes.**
    /// * Reverse routes live 6 s, or 10 s if this node was itself searching for the requester. There are no routes to
    ///   neighbours as such.
    /// * Using a route extends the lifetime of the destination's entry only (10 s). Forwarding a reply extends the route
    ///   to its originator; answering does not.
    /// * An expired route is used, and offered to others, until the next check. Entries are never deleted.
    /// * An intermediate node answers if its number is at least the request's, also while it repairs the route (the
    ///   lifetime then wraps to 2^32 s; here: the field's maximum). The lifetime is rounded down to whole seconds.
    /// * A reply is accepted if its number is newer, or equal and the route shorter; otherwise it is not forwarded.
    /// * Waiting packets are sent at once when a request created the route, 10 ms apart when a reply did.
    ///
    /// **Broken links.** Only data packets report them; a lost reply has no effect.
    /// * If the packet has travelled more than half of its route (here: initial TTL estimated as 30, 64, 128 or 255), it
    ///   is buffered, the route is marked as under repair, with its number and distance unchanged, and a request is sent
    ///   by the rules above. Other routes over the link and packets in the interface queue stay, and further packets for
    ///   the destination are buffered. A failed repair is not reported; a timer drops the route. The timer gets a point
    ///   in time instead of a duration, so it fires at about twice the time of the break.
    /// * Otherwise the packet and all packets waiting for this next hop are dropped; every route over it gets an odd
    ///   number and is reported by one broadcast Route Error without delay, with or without known users.
    /// * A packet to forward without a route is dropped, and answered by a broadcast Route Error each time.
    /// * A Route Error is accepted if it comes from the next hop and its number is at least the route's. Packets for its
    ///   sender in the interface queue are dropped. Routes with known users are reported further, after U(0, 10 ms), and
    ///   the users are forgotten.
    ///
    /// **Buffer.** 64 packets, the oldest dropped for a new one; 30 s.
    ///
    /// Not copied: the initial TTL of 30 of data packets (the host sets it; 64 here), messages that are 4 to 8 bytes
    /// shorter (no UDP header), a request's time stamp (the requester remembers when it asked).
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
    /// without acknowledgements. From the paper, in its order:
    ///
    /// * "Route discovery works by flooding the network" (3.1): no expanding ring. The 14 ms over four hops (Table 2)
    ///   leave no time for one, nor the 4 ms per hop for jitter before a request is forwarded.
    /// * "Each node receiving a RREQ, rebroadcasts it, unless it is the destination or it has a route" (3.1): intermediate
    ///   nodes answer.
    /// * "The reverse path entries are expired after a short interval of time only sufficient to allow RREP to be
    ///   propagated" (3.1): 1 s, the time that a request waits. A request creates routes to its originator only (3.2),
    ///   not to neighbours.
    /// * "These nodes are notified with RERR packets" (3.1): only the predecessors of a route.
    /// * "Each node periodically (every second in our testbed) broadcasts a hello message" (3.3), whatever else it
    ///   broadcasts; it updates "a set of neighboring nodes", not the routing table: one-hop routes were discovered, too.
    /// * "When a node does not hear from an existing neighbor for ... (2 seconds in our testbed)" (3.3).
    /// * "An intermediate node does not start any new route discovery ... it will drop all incoming packets" (3.4): no local
    ///   repair. The node reports them, as in the draft that the paper cites.
    /// * "The ARP queue size was increased to 30" (3.4) from 3. That queue was per destination, this one is shared;
    ///   the testbed had one destination.
    /// * "Packets that received a MAC address from the ARP table, but are just waiting to be transmitted" (3.4) belong
    ///   to the driver and are sent although the neighbour is lost. Set the radio's `queue_packets` high and disable
    ///   `queue_classes`: "the transmit queue does not have any bound".
    ///
    /// The paper does not say when a request is repeated. ARP in that kernel (`net/ipv4/arp.c`: `retrans_time` 1 s,
    /// `mcast_probes` 3), which it extends, repeats after 1 s, three requests in all. The rest is the RFC's.
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
