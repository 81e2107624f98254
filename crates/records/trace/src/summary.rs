//! The result of a run in numbers: the object that `--json` prints and `summary.json` holds.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{DropReason, NodeId, Span};

use crate::PartialRecord;
use crate::bundle_summary::BundleSummary;
use crate::transmissions::{OverheadFrames, Rfc2501, Transmissions};

/// The summary of one run. Its keys are a contract: they are added to, never renamed or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of Wayhop.
    pub wayhop: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of all random number streams.
    pub seed: u64,
    /// `sim`, `emulation`, `lab` or `field`.
    pub world: String,
    /// The routing protocol.
    pub protocol: String,
    /// Duration of the run by its own clock, seconds.
    pub simulated_s: f64,
    /// For a running or killed run: time up to which it is recorded, seconds. Figures known only at the end are missing then: `wall_s`
    /// and `events` are 0, `trace_hash` is empty, and `goodput_bps` is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut_off_s: Option<f64>,
    /// Wall-clock time of the run, seconds.
    pub wall_s: f64,
    /// Number of simulated events.
    pub events: u64,
    /// The hash of every hop event in order, hexadecimal digits ([`crate::TraceHash::hex`]).
    pub trace_hash: String,
    /// One entry per flow: those of the scenario in its order, then conversations of programs in the order of their first packets.
    pub flows: Vec<FlowSummary>,
    /// All flows and all nodes together.
    pub totals: Totals,
    /// All packets of programs in the nodes, including those outside any flow.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub programs: Option<Programs>,
    /// Lateness of events in real time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lateness_us: Option<Lateness>,
    /// Frames missing in captures in real time because the disk was too slow or full.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capture_drops: Option<u64>,
    /// Wall-clock time at time zero of the tables, nanoseconds since 1970 (UTC); captures with times of the host's clock relate to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_zero_unix_ns: Option<u64>,
    /// Position on the globe of the origin of the table `positions`, if nodes report only such positions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin: Option<Origin>,
    /// Whether the hosts' kernels forwarded, as with AODV and DSDV on real interfaces: only packets of programs that waited for a route
    /// are recorded, and their fate is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub kernel_forwards: bool,
    /// The nodes that went down, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outages: Vec<NodeOutages>,
    /// The attacks of the scenario, with their nodes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub attacks: Vec<AttackNodes>,
    /// Energy used by the radios of nodes with batteries, in the nodes' order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub energy: Vec<NodeEnergy>,
    /// Bundles of delay-tolerant networking, for scenarios with a section `dtn`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bundles: Option<BundleSummary>,
    /// The scenario's applications, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub applications: Vec<ApplicationSummary>,
    /// The exit status of the command that ran in a node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command_exit: Option<i32>,
    /// The scenario's programs that ended before the run did, in that order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub program_exits: Vec<ProgramExit>,
    /// What the tables and lists of this summary leave out; absent if nothing. The counts are complete all the same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<PartialRecord>,
}

/// Figures of one application of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationSummary {
    /// The node, by its number.
    pub node: u32,
    /// Name of the application in scenarios.
    pub application: String,
    /// Its figures by name; names end with the unit. Undefined figures are absent.
    pub figures: BTreeMap<String, f64>,
}

impl ApplicationSummary {
    /// One without figures.
    pub fn new(node: u32, application: &str) -> Self {
        Self { node, application: application.to_owned(), figures: BTreeMap::new() }
    }
    /// Adds a figure.
    pub fn add(&mut self, name: &str, value: f64) {
        self.figures.insert(name.to_owned(), value);
    }
}

/// Outcome of a program in a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramExit {
    /// The node, by its number.
    pub node: u32,
    /// What the scenario calls it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The program, without its arguments.
    pub program: String,
    /// Its exit status, or 128 and the number of the signal that ended it; `None` if it could not be started.
    pub exit: Option<i32>,
    /// Why it could not be started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// How often it was started again after it ended; the other fields are about its last end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restarts: Option<u32>,
}

impl ProgramExit {
    /// What went wrong, in words; `None` if it succeeded.
    pub fn failure(&self) -> Option<String> {
        let Self { program, exit, error, .. } = self;
        let node = self.name.clone().unwrap_or_else(|| self.node.to_string());
        match (exit, error) {
            (Some(0), _) => None,
            (Some(status), _) => Some(format!("node {node}: {program} exited with status {status}")),
            (None, why) => {
                let why = why.as_deref().unwrap_or("unknown error");
                let why = format!("node {node}: cannot start {program}: {why}");
                // The reason may come with a remedy.
                let remedy =
                    if why.contains("; ") { "" } else { "; check that it is installed and executable" };
                Some(why + remedy)
            }
        }
    }
}

/// Outages of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeOutages {
    /// Who, as the scenario numbers it.
    pub node: u32,
    /// What the scenario calls it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Number of outages.
    pub outages: u64,
    /// Total time down, seconds.
    pub down_s: f64,
}

/// The nodes of one kind of attack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttackNodes {
    /// What they do: `black-hole`.
    pub kind: String,
    /// Who, as the scenario numbers them.
    pub nodes: Vec<u32>,
}

/// Energy used by one node's radio.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEnergy {
    /// Who, as the scenario numbers it.
    pub node: u32,
    /// Energy at the start, J.
    pub initial_j: f64,
    /// Energy at the end, J.
    pub remaining_j: f64,
    /// Energy used, J.
    pub used_j: f64,
    /// Energy used for sending, J.
    pub tx_j: f64,
    /// Energy used for receiving, J.
    pub rx_j: f64,
    /// Energy used while idle, J.
    pub idle_j: f64,
    /// Energy used while the node was down, J.
    pub sleep_j: f64,
    /// Time at which the battery was empty, seconds; null if it was not.
    pub empty_s: Option<f64>,
}

impl NodeOutages {
    /// Adds up outages, each as the node and how long it was down.
    pub fn of(outages: impl IntoIterator<Item = (NodeId, Span)>) -> Vec<Self> {
        let mut all: BTreeMap<NodeId, (u64, Span)> = BTreeMap::new();
        for (node, length) in outages {
            let (count, down) = all.entry(node).or_default();
            *count += 1;
            *down += length;
        }
        let one = |(node, (outages, down)): (NodeId, (u64, Span))| Self {
            node: node.0,
            name: None,
            outages,
            down_s: down.as_secs_f64(),
        };
        all.into_iter().map(one).collect()
    }
}

impl Summary {
    /// Whether its nodes were real network stacks, of a lab or in the field, without a model of the radio.
    pub fn is_of_hosts(&self) -> bool {
        matches!(self.world.as_str(), "lab" | "field")
    }

    /// Says of each node what the scenario calls it; `names` are in the order of their numbers.
    pub fn name_nodes(&mut self, names: &[String]) {
        let name = |node: u32| names.get(node as usize).cloned();
        for f in &mut self.flows {
            (f.src_name, f.dst_name) = (name(f.src), name(f.dst));
        }
        self.outages.iter_mut().for_each(|o| o.name = name(o.node));
        for f in self.bundles.iter_mut().flat_map(|b| &mut b.flows) {
            (f.src_name, f.dst_name) = (name(f.src), name(f.dst));
        }
        self.program_exits.iter_mut().for_each(|p| p.name = name(p.node));
    }

    /// What went wrong with the scenario's programs; `None` if those that ended, ended well.
    pub fn failed_programs(&self) -> Option<String> {
        let failures: Vec<String> = self.program_exits.iter().filter_map(ProgramExit::failure).collect();
        (!failures.is_empty()).then(|| failures.join("; "))
    }

    /// This summary as today's version writes it. Older ones wrote 0 where a figure was undefined, and a total latency in
    /// which each way of a ping counted for itself: such figures are taken out.
    #[must_use]
    pub(crate) fn brought_up_to_date(mut self) -> Self {
        for f in &mut self.flows {
            f.delivery_ratio = f.delivery_ratio.filter(|_| f.sent > Some(0));
            f.latency_ms = f.latency_ms.filter(|_| f.received > Some(0));
            f.hops_mean = f.hops_mean.filter(|_| f.received > Some(0));
        }
        let t = &mut self.totals;
        let pings = self.flows.iter().any(|f| f.kind == "ping" && f.received > Some(0));
        t.latency_ms = t.latency_ms.filter(|_| t.received > 0 && (!pings || t.round_trip_ms.is_some()));
        t.delivery_ratio = t.delivery_ratio.filter(|_| t.sent > 0);
        t.hops_mean = t.hops_mean.filter(|_| t.received > 0);
        t.goodput_bps = t.goodput_bps.filter(|_| !self.flows.is_empty());
        // One node of a real mesh does not see what arrives elsewhere.
        if self.flows.iter().any(FlowSummary::knows_both_ends) {
            t.set_loads();
        }
        self
    }
}

/// A position on the globe (WGS 84).
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// Degrees, north positive.
    pub latitude_deg: f64,
    /// Degrees, east positive.
    pub longitude_deg: f64,
}

/// Packets of programs in nodes that run in real time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Programs {
    /// Sent into the network.
    pub sent: u64,
    /// Delivered to their destinations; a packet that arrives twice counts twice.
    pub delivered: u64,
    /// Dropped, by reason, without losses on the air of radios that do not acknowledge.
    pub drops: BTreeMap<String, u64>,
    /// Packets in `sent` outside any flow: only for neighbours on the link, such as multicast DNS, or of conversations beyond the
    /// first 100,000.
    #[serde(default)]
    pub without_flow: u64,
}

/// One traffic flow: one of the scenario's, or one direction of a conversation of programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSummary {
    /// Its index in the scenario; conversations of programs are numbered after the scenario's flows.
    pub id: u32,
    /// `cbr`, `poisson`, `ping`, `tcp`, ...; for programs `tcp`, `udp`, `icmp`, or `ip-` with the number of another IP protocol.
    pub kind: String,
    /// The source node, as the scenario numbers it; `u32::MAX`, written as null, if it is none: see `src_address`.
    #[serde(with = "node_or_none")]
    #[schemars(with = "Option<u32>")]
    pub src: u32,
    /// The destination node; `u32::MAX`, written as null, for all of them, or if it is none: see `dst_address`.
    #[serde(with = "node_or_none")]
    #[schemars(with = "Option<u32>")]
    pub dst: u32,
    /// What the scenario calls the source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub src_name: Option<String>,
    /// What it calls the destination.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dst_name: Option<String>,
    /// Number of the IP protocol of a conversation of programs: 6 for TCP. The scenario's own flows have none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub protocol: Option<u8>,
    /// Source port of programs' TCP and UDP; the identifier of an ICMP echo.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub src_port: Option<u16>,
    /// Destination port of programs' TCP and UDP; the identifier of an ICMP echo.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dst_port: Option<u16>,
    /// The source's address if no node of the run has it: a host outside of the mesh. `src` is then the gateway by which its packets
    /// came, if one is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub src_address: Option<String>,
    /// The destination's address if no node of the run has it. `dst` is then the gateway by which packets left the mesh, if any did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dst_address: Option<String>,
    /// While the run is summarised: from when until when a conversation of programs was active, nanoseconds.
    #[serde(skip)]
    pub active_ns: Option<(i128, i128)>,
    /// Packets sent by the source's application; a broadcast counts once per intended receiver. `None` in the run of a node that
    /// only received them.
    #[serde(default)]
    pub sent: Option<u64>,
    /// Different packets received by the destination's application; for ping, echo replies received. `None` in the run of a node
    /// that only sent them.
    #[serde(default)]
    pub received: Option<u64>,
    /// Packets in `sent` that were dropped; `None` if not observed.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// Packets in `sent` that were still in transit at the end; `None` if not observed.
    #[serde(default)]
    pub held: Option<u64>,
    /// `received / sent`; `None` if nothing was sent.
    pub delivery_ratio: Option<f64>,
    /// Application bytes received; a broadcast counts once per receiver. `None` if not observed.
    #[serde(default)]
    pub received_bytes: Option<u64>,
    /// `received_bytes` times 8 over the time that the flow was active; `None` if it never was.
    pub goodput_bps: Option<f64>,
    /// Time from sending to receiving, or the round trip for ping, milliseconds; `None` if nothing was received.
    pub latency_ms: Option<LatencyMs>,
    /// Echo requests of programs that were answered; `None` for other flows, and if not observed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answered: Option<u64>,
    /// Round-trip time of the requests in `answered`, milliseconds. For pings of the scenario this is `latency_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round_trip_ms: Option<LatencyMs>,
    /// Mean number of hops of the packets received; `None` if there were none.
    pub hops_mean: Option<f64>,
    /// Details of a TCP connection.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tcp: Option<TcpSummary>,
    /// What the geometry allowed, with `--topology`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topology: Option<Topology>,
}

impl FlowSummary {
    /// Whether its packets are for all nodes.
    pub fn is_to_all(&self) -> bool {
        self.dst == u32::MAX && self.dst_address.is_none()
    }

    /// Whether it is known how much was sent, and how much of it arrived: one node of a real mesh knows one of them only.
    pub fn knows_both_ends(&self) -> bool {
        self.sent.is_some() && self.received.is_some()
    }

    /// Whether it is a conversation of programs, and not a flow of the scenario.
    pub fn is_of_programs(&self) -> bool {
        self.protocol.is_some()
    }

    /// Its source for people: `robot:5001`, or `192.0.2.7:80 via gateway` from outside.
    pub fn from_text(&self) -> String {
        self.end_text(self.src, self.src_name.as_deref(), self.src_address.as_deref(), self.src_port)
    }

    /// Its destination for people.
    pub fn to_text(&self) -> String {
        if self.is_to_all() {
            return "all".to_owned();
        }
        self.end_text(self.dst, self.dst_name.as_deref(), self.dst_address.as_deref(), self.dst_port)
    }

    fn end_text(&self, node: u32, name: Option<&str>, address: Option<&str>, port: Option<u16>) -> String {
        // Names come from files, and terminals obey control characters.
        let harmless = |text: &str| text.replace(char::is_control, " ");
        let node = (node != u32::MAX).then(|| name.map_or_else(|| node.to_string(), harmless));
        // The identifier of an echo is no port of an end: both have it.
        let port = port.filter(|_| !matches!(self.protocol, Some(1 | 58)));
        let port = port.map(|p| format!(":{p}")).unwrap_or_default();
        match (address.map(harmless), node) {
            (Some(address), gateway) => {
                let address =
                    if address.contains(':') && !port.is_empty() { format!("[{address}]") } else { address };
                let via = gateway.map(|g| format!(" via {g}")).unwrap_or_default();
                format!("{address}{port}{via}")
            }
            (None, Some(node)) => node + &port,
            (None, None) => "?".to_owned(),
        }
    }
}

/// Details of a TCP connection. The flow's `sent` and `received` count its segments with data from source to destination,
/// including retransmissions; `goodput_bps` counts the same bytes as `delivered_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSummary {
    /// `reno`, `sack`, ...
    pub variant: String,
    /// Bytes delivered to the destination's application, in order and without duplicates; for requests and answers, to both ends.
    pub delivered_bytes: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Number of losses detected by duplicate acknowledgements.
    pub fast_retransmits: u64,
    /// Packets without data from the destination: acknowledgements.
    pub acks_sent: u64,
    /// Number of these that reached the source.
    pub acks_received: u64,
    /// Notices of lost routes that the sender accepted.
    pub notices: u64,
    /// Segments sent to probe for a route, or for space in the receiver's window.
    pub probes: u64,
    /// Time from the start until the destination had received a whole sized transfer, seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed_s: Option<f64>,
    /// Requests that were answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answers: Option<u64>,
}

/// A node's number, or null for what is not one node.
mod node_or_none {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(node: &u32, s: S) -> Result<S::Ok, S::Error> {
        (*node != u32::MAX).then_some(*node).serialize(s)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
        Ok(Option::deserialize(d)?.unwrap_or(u32::MAX))
    }
}

/// Times of the packets received, in milliseconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyMs {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

impl LatencyMs {
    /// The statistics of these latencies, in nanoseconds; `None` of nothing. A percentile is the smallest sample that at least that share
    /// of the samples does not exceed (nearest rank). Leaves the slice in another order.
    pub fn of(samples_ns: &mut [u64]) -> Option<Self> {
        let n = samples_ns.len();
        if n == 0 {
            return None;
        }
        samples_ns.sort_unstable();
        let ms = |ns: u64| ns as f64 / 1e6;
        let rank = |percent: usize| ms(samples_ns[(n * percent).div_ceil(100).max(1) - 1]);
        let sum: u128 = samples_ns.iter().map(|&s| u128::from(s)).sum();
        Some(Self {
            mean: sum as f64 / n as f64 / 1e6,
            p50: rank(50),
            p95: rank(95),
            p99: rank(99),
            max: ms(samples_ns[n - 1]),
        })
    }
}

/// What the nodes' geometry allowed a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Number of path changes: of the length of the shortest path, or of all shortest paths since the last change.
    pub path_changes: u64,
    /// Number of changes of the shortest path's length; losing and regaining a path counts.
    pub hop_changes: u64,
    /// Number of times that the destination became unreachable.
    pub partitions: u64,
    /// Share of the flow's time at 1, 2, ... hops.
    pub hop_share: Vec<f64>,
    /// Share of the flow's time without a path; `None` if it had no time.
    pub unreachable_share: Option<f64>,
    /// Throughput expected from the time at each distance (Holland and Vaidya 1999, equation 1); `None` if the throughput of
    /// chains is not given.
    pub expected_bps: Option<f64>,
}

/// All flows and all nodes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Sum over the flows for which it is known.
    pub sent: u64,
    /// Sum over the flows for which it is known.
    pub received: u64,
    /// Sum over the flows, equal to the sum of `drops`; `None` if not observed.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// Sum over the flows; `None` in a world that does not see it.
    #[serde(default)]
    pub held: Option<u64>,
    /// `received / sent` of the flows for which both are known; `None` if they sent nothing.
    pub delivery_ratio: Option<f64>,
    /// Sum over the flows; `None` in a world that does not see it.
    #[serde(default)]
    pub received_bytes: Option<u64>,
    /// Sum over the scenario's flows that were active, and the bytes of all flows of programs over the time from the first of them
    /// to the end of the last; `None` without known flows.
    pub goodput_bps: Option<f64>,
    /// One-way latency of all packets received, without pings; `None` if there were none.
    #[serde(default)]
    pub latency_ms: Option<LatencyMs>,
    /// Round-trip time of all ping replies; `None` if there were none.
    #[serde(default)]
    pub round_trip_ms: Option<LatencyMs>,
    /// Mean number of hops of the packets received, all flows together; `None` if there were none.
    #[serde(default)]
    pub hops_mean: Option<f64>,
    /// Routing packets passed to the interfaces, including forwarded ones: each hop counts (Broch et al. 1998).
    pub routing_packets: u64,
    /// Their length with IP header, bytes.
    pub routing_bytes: u64,
    /// The routing protocol's headers in data packets passed to the interfaces, bytes: DSR's source routes. `None` in runs that did
    /// not count them.
    #[serde(default)]
    pub routing_header_bytes: Option<u64>,
    /// Data packets passed to the interfaces; `None` if kernels forward unobserved.
    #[serde(default)]
    pub transmissions: Option<Transmissions>,
    /// Frames without data packets; `None` if the MAC's frames are not observed.
    #[serde(default)]
    pub overhead_frames: Option<OverheadFrames>,
    /// Normalised routing load: `routing_packets / received` (Broch et al. 1998; Das, Perkins and Royer 2000).
    #[serde(default)]
    pub normalised_routing_load: Option<f64>,
    /// `(routing_bytes + routing_header_bytes) / received_bytes`: Broch et al. count source routes in data packets as routing.
    #[serde(default)]
    pub routing_bytes_per_byte: Option<f64>,
    /// Normalised MAC load: all of `overhead_frames / received` (Das, Perkins and Royer 2000).
    #[serde(default)]
    pub normalised_mac_load: Option<f64>,
    /// The measures of RFC 2501, section 4.
    #[serde(default)]
    pub rfc2501: Rfc2501,
    /// Transmitted routing messages by kind, counted at the first attempt of their packet. A packet may carry several
    /// messages, data packets may carry some, and a packet may end before it is sent, so the sum is not `routing_packets`.
    pub by_type: BTreeMap<String, u64>,
    /// Drops of the flows' packets by reason; of all data packets if their flows are not known.
    pub drops: BTreeMap<String, u64>,
}

impl Totals {
    /// Sets the sums and means over the flows, and the loads, when all else but drops is counted.
    pub fn sum_flows(&mut self, flows: &[FlowSummary]) {
        self.sent = flows.iter().filter_map(|f| f.sent).sum();
        self.received = flows.iter().filter_map(|f| f.received).sum();
        let sum = |of: fn(&FlowSummary) -> Option<u64>| flows.iter().map(of).sum::<Option<u64>>();
        (self.dropped, self.held) = (sum(|f| f.dropped), sum(|f| f.held));
        let both = flows.iter().filter_map(|f| Some((f.received?, f.sent?)));
        let (received, sent) = both.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        self.delivery_ratio = ratio(received, sent);
        self.received_bytes = flows.iter().map(|f| f.received_bytes).sum();
        let (programs, own): (Vec<&FlowSummary>, Vec<_>) = flows.iter().partition(|f| f.active_ns.is_some());
        // Not `sum`, whose zero is negative.
        let own_bps = own.iter().filter_map(|f| f.goodput_bps).fold(0.0, |all, one| all + one);
        self.goodput_bps = Some(own_bps + programs_bps(&programs));
        let hops = flows.iter().filter_map(|f| Some(f.hops_mean? * f.received? as f64));
        let hops = hops.fold(0.0, |all, one| all + one);
        self.hops_mean = (self.received > 0).then(|| hops / self.received as f64);
        self.set_loads();
    }

    /// Sets `drops` from counts in the order of [`DropReason::ALL`]; zeros are left out.
    pub fn set_drops(&mut self, counts: &[u64; DropReason::ALL.len()]) {
        self.drops = named_drops(counts);
    }
}

/// The rate of all conversations of programs together, over the time in which there were some: a sum of their rates would add
/// those of bursts that never were at the same time.
fn programs_bps(programs: &[&FlowSummary]) -> f64 {
    let times = || programs.iter().filter_map(|f| f.active_ns);
    let (from, until) = (times().map(|t| t.0).min(), times().map(|t| t.1).max());
    let bytes: u64 = programs.iter().filter_map(|f| f.received_bytes).sum();
    match from.zip(until) {
        Some((from, until)) if until > from => bytes as f64 * 8e9 / (until - from) as f64,
        _ => 0.0,
    }
}

/// Counts in the order of [`DropReason::ALL`] by name; zeros are left out.
pub fn named_drops(counts: &[u64; DropReason::ALL.len()]) -> BTreeMap<String, u64> {
    let named = DropReason::ALL.iter().zip(counts).filter(|(_, n)| **n > 0);
    named.map(|(r, n)| (r.name().to_owned(), *n)).collect()
}

/// `part / whole`; `None` of nothing.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Lateness of events in real time, microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Share of the events that were more than 1 ms late.
    #[serde(default)]
    pub late_share: f64,
    /// `ok` or `degraded`.
    pub verdict: String,
}
