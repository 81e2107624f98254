//! The keys of a TCP flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;

/// A TCP connection, from its handshake on, as `src` opens it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Who opens it, and sends.
    pub src: NodeRef,
    /// The other end.
    pub dst: NodeRef,
    /// When it is opened, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When the application stops writing, seconds. Without it: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
    /// Whose constants hold for the keys that are left out: `rfc`, or `ns2` for those of ns-2.35's `Agent/TCP` (payload of
    /// 1000 octets, window of 20, initial window of 2, no delayed acknowledgements, clock ticks of 10 ms, timeout of 3 s at
    /// first and 0.2 s at least, and a loss halves the window instead of what is under way).
    #[serde(default)]
    pub profile: TcpProfile,
    /// Congestion control and recovery.
    #[serde(default)]
    pub variant: TcpVariant,
    /// The longest payload of a segment, octets; 1460 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_bytes: Option<u32>,
    /// The receiver's window and the most that is under way, segments, up to 1024; 32 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// How many octets of no-operations each header has behind its options: a multiple of 4, up to 40. Without it: none; but 20
    /// if this profile and DSR's are `ns2`, for ns-2.35's DSR counts the IP header of TCP's packets twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding_bytes: Option<u8>,
    /// How many segments the sender begins with; 3 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Whether an acknowledgement may wait for a second segment; so it is in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<bool>,
    /// How long it waits, seconds. Without it: 0.2 (`rfc`), 0.1 (`ns2`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack_s: Option<f64>,
    /// Whether the first two duplicate acknowledgements let out a new segment each (RFC 3042). Without it: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Whether the connection begins with a handshake. Without it: yes. If not, both ends know each other from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// From one SYN to the next while nothing answers, seconds: a program that opens the connection again and again. Without it:
    /// the retransmission timeout, doubled each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_every_s: Option<f64>,
    /// What the application does.
    #[serde(default)]
    pub application: TcpApplication,
    /// Of `ftp`: the size of the file, octets. Without it: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Of `requests`: the size of a request, octets. Without it: 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<u32>,
    /// Of `requests`: the size of an answer, octets. Without it: 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u32>,
    /// Of `requests`: from an answer to the next request, seconds. Without it: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_s: Option<f64>,
    /// Of `on-off`: the rate while it writes, bits a second. Without it: 64000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// Of `on-off`: mean time of writing, seconds. Without it: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_s: Option<f64>,
    /// Of `on-off`: mean time of silence, seconds. Without it: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_s: Option<f64>,
    /// The clock's tick, in which round trips are counted, seconds; 0 for an exact clock, as in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_s: Option<f64>,
    /// The retransmission timeout before the first measurement, seconds; 1 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto_s: Option<f64>,
    /// The shortest retransmission timeout, seconds; 1 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto_s: Option<f64>,
    /// The longest, seconds. Without it: 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto_s: Option<f64>,
    /// Whether the timeout is doubled by the first of several timeouts in a row only (Dyer and Boppana 2001).
    #[serde(default)]
    pub fixed_rto: bool,
    /// What the sender does when it is told that its route is gone. Any but `none` makes the routing protocol tell
    /// (`protocol.failure_notices`).
    #[serde(default)]
    pub route_failure: RouteFailure,
    /// Of `elfn`, `elfn-half`: from one probe to the next, seconds. Without it: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_interval_s: Option<f64>,
    /// Of `tcp-f`: how long the sender waits for a route at most, seconds. Without it: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_failure_timer_s: Option<f64>,
    /// Bounds the window by the length of the path: so many segments a hop, at least one segment in all. About 0.25 lets
    /// segments of a chain leave each other alone (Fu et al. 2003).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_per_hop: Option<f64>,
    /// Spreads segments over time, as TCP-AP does (ElRakabawy et al. 2005): the rate of the radio, bits a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_bps: Option<f64>,
}

/// Whose constants hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpProfile {
    /// The RFCs'.
    #[default]
    Rfc,
    /// ns-2.35's.
    Ns2,
}

/// Congestion control and recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpVariant {
    /// Slow start after every loss.
    Tahoe,
    /// Fast recovery (RFC 2581).
    #[default]
    Reno,
    /// RFC 6582.
    Newreno,
    /// RFC 2018 and RFC 6675.
    Sack,
    /// Brakmo and Peterson 1995.
    Vegas,
    /// Mascolo et al. 2001.
    Westwood,
}

/// What the application does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpApplication {
    /// A file goes from `src` to `dst`.
    #[default]
    Ftp,
    /// `src` asks, `dst` answers, `src` thinks.
    Requests,
    /// `src` writes for a while, and is silent for a while.
    OnOff,
}

/// The answer to a lost route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouteFailure {
    /// None: standard TCP.
    #[default]
    None,
    /// Stand by and probe; then go on with window and timeout as they were (Holland and Vaidya 1999).
    Elfn,
    /// The same, with the window halved.
    ElfnHalf,
    /// Stand by until there is a route (Chandran et al. 1998).
    TcpF,
    /// Take the timer's back-off back (RFC 6069).
    Rfc6069,
}
