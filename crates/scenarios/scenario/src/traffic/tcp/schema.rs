//! The keys of a TCP flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;

/// A TCP connection, opened by `src`, including its handshake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// The node that opens the connection and sends.
    pub src: NodeRef,
    /// The other end.
    pub dst: NodeRef,
    /// When it is opened, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When the application stops writing, seconds. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
    /// Defaults of the other keys: `rfc`, or `ns2` for those of ns-2.35's `Agent/TCP` (payload of 1000 bytes, window
    /// of 20, initial window of 2, no delayed acknowledgements, clock ticks of 10 ms, initial timeout of 3 s and
    /// minimum timeout of 0.2 s; a loss halves the window instead of the data in flight).
    #[serde(default)]
    pub profile: TcpProfile,
    /// Congestion control and loss recovery.
    #[serde(default)]
    pub variant: TcpVariant,
    /// Maximum payload of a segment, bytes; 1460 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_bytes: Option<u32>,
    /// The receiver's window and the maximum in flight, segments, up to 1024; 32 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Bytes of no-operations after the options of each header: a multiple of 4, up to 40. Default: 0, but 20 if both
    /// this profile and DSR's are `ns2`, because ns-2.35's DSR counts the IP header of TCP packets twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding_bytes: Option<u8>,
    /// Initial window, segments; 3 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Delayed acknowledgements: whether an acknowledgement may wait for a second segment; true in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<bool>,
    /// Longest delay of an acknowledgement, seconds. Default: 0.2 (`rfc`), 0.1 (`ns2`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack_s: Option<f64>,
    /// Limited transmit (RFC 3042): whether each of the first two duplicate acknowledgements releases a new segment.
    /// Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Whether the connection begins with a handshake; otherwise both ends are connected from the start. Default:
    /// true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Interval between SYNs until one is answered, seconds: a program that repeatedly tries to connect. Default: the
    /// retransmission timeout, doubled each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_every_s: Option<f64>,
    /// The application.
    #[serde(default)]
    pub application: TcpApplication,
    /// For `ftp`: size of the file, bytes. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// For `requests`: size of a request, bytes. Default: 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<u32>,
    /// For `requests`: size of a response, bytes. Default: 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u32>,
    /// For `requests`: think time from a response to the next request, seconds. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_s: Option<f64>,
    /// For `on-off`: rate while writing, bits per second. Default: 64000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// For `on-off`: mean time of writing, seconds. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_s: Option<f64>,
    /// For `on-off`: mean pause, seconds. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_s: Option<f64>,
    /// Clock granularity for round-trip times, seconds; 0 for an exact clock, as in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_s: Option<f64>,
    /// Retransmission timeout before the first round-trip measurement, seconds; 1 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto_s: Option<f64>,
    /// Minimum retransmission timeout, seconds; 1 in the profile `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto_s: Option<f64>,
    /// Maximum retransmission timeout, seconds. Default: 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto_s: Option<f64>,
    /// Fixed RTO: whether only the first of several consecutive timeouts doubles the timeout (Dyer and Boppana 2001).
    #[serde(default)]
    pub fixed_rto: bool,
    /// The sender's reaction to the notice that its route is lost. All values but `none` make the routing protocol
    /// send such notices (`protocol.failure_notices`).
    #[serde(default)]
    pub route_failure: RouteFailure,
    /// For `elfn`, `elfn-half`: interval between probes, seconds. Default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_interval_s: Option<f64>,
    /// For `tcp-f`: the longest wait for a route, seconds. Default: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_failure_timer_s: Option<f64>,
    /// Bound on the window by the length of the path: segments per hop, at least one segment in total. About 0.25
    /// avoids interference between segments on a chain (Fu et al. 2003).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_per_hop: Option<f64>,
    /// Pacing as in TCP-AP (ElRakabawy et al. 2005): the rate of the radio, bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_bps: Option<f64>,
}

/// Defaults of a TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpProfile {
    /// The RFCs' defaults.
    #[default]
    Rfc,
    /// ns-2.35's defaults.
    Ns2,
}

/// Congestion control and loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpVariant {
    /// Tahoe: slow start after every loss.
    Tahoe,
    /// Reno: fast recovery (RFC 2581).
    #[default]
    Reno,
    /// NewReno: RFC 6582.
    Newreno,
    /// Selective acknowledgements: RFC 2018 and RFC 6675.
    Sack,
    /// Vegas: Brakmo and Peterson 1995.
    Vegas,
    /// Westwood: Mascolo et al. 2001.
    Westwood,
}

/// What the application does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpApplication {
    /// `src` sends a file to `dst`.
    #[default]
    Ftp,
    /// `src` sends requests, `dst` answers, and `src` waits before the next one.
    Requests,
    /// `src` alternates between writing and pausing.
    OnOff,
}

/// The reaction to a lost route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouteFailure {
    /// None: standard TCP.
    #[default]
    None,
    /// Freeze and probe; then resume with the previous window and timeout (Holland and Vaidya 1999).
    Elfn,
    /// The same, with the window halved.
    ElfnHalf,
    /// Freeze until a route exists (Chandran et al. 1998).
    TcpF,
    /// Undo the timer's back-off (RFC 6069).
    Rfc6069,
}
