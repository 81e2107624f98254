//! What a flow sends, and when.

use core::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{NodeId, Span, Time};

use crate::bursts::{Lengths, OnOff};
use crate::schedule::Schedule;
use crate::tcp::TcpConfig;

/// The UDP port of both ends unless the scenario names others: the first of the dynamic ones, which no dissector claims.
pub const DEFAULT_PORT: u16 = 49_152;

/// The longest UDP payload, or data of an echo request, in an IPv4 packet, in octets.
pub const MAX_PAYLOAD: u32 = 65_535 - 20 - 8;

/// The destination of a flow to all other nodes: its packets go to [`GROUP`].
pub const EVERYONE: NodeId = NodeId(u32::MAX);

/// The multicast group that all nodes are in: the first of the scope that an organisation may use freely (RFC 2365).
pub const GROUP: Ipv4Addr = Ipv4Addr::new(239, 192, 0, 1);

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowConfig {
    /// What it sends.
    pub kind: FlowKind,
    /// The source.
    pub src: NodeId,
    /// The destination; [`EVERYONE`] for all nodes but the source.
    pub dst: NodeId,
    /// When it begins.
    pub start: Time,
    /// When it stops, if before the end of the run: nothing is sent at this time or later.
    pub stop: Option<Time>,
    /// UDP payload, or data of an echo request, in octets; at most [`MAX_PAYLOAD`]. TCP has its own setting, and packets of
    /// a schedule have theirs.
    pub payload_bytes: u32,
    /// How many packets it sends at most.
    pub max_packets: Option<u64>,
    /// UDP source port; the identifier of echo requests.
    pub src_port: u16,
    /// UDP destination port.
    pub dst_port: u16,
    /// The IP Type of Service octet.
    pub tos: u8,
    /// Whether it goes over IPv6.
    pub ip6: bool,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowKind {
    /// UDP packets, the first at the flow's start. Each interval is drawn by itself, uniformly from (1 - jitter) to
    /// (1 + jitter) times the mean: with 0.5, what ns-2's CBR source does with `random_` set.
    Cbr {
        /// The mean interval.
        interval: Span,
        /// From 0 to 1.
        jitter: f64,
    },
    /// UDP packets, a Poisson process from the flow's start on.
    Poisson {
        /// The mean interval.
        interval: Span,
    },
    /// UDP packets in bursts.
    OnOff(OnOff),
    /// UDP packets at given times.
    Trace(Arc<Schedule>),
    /// ICMP echo requests, the first at the flow's start.
    Ping {
        /// The interval.
        interval: Span,
    },
    /// A TCP connection, which [`crate::TcpClient`] opens at the flow's start.
    Tcp(TcpConfig),
}

impl FlowKind {
    /// As summaries call it: `cbr`, `poisson`, `on-off`, `pareto`, `trace`, `ping` or `tcp`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cbr { .. } => "cbr",
            Self::Poisson { .. } => "poisson",
            Self::OnOff(bursts) => bursts.lengths.name(),
            Self::Trace(_) => "trace",
            Self::Ping { .. } => "ping",
            Self::Tcp(_) => "tcp",
        }
    }

    /// The mean time between two packets; zero for TCP, which has no rhythm of its own.
    pub fn mean_interval(&self) -> Span {
        match self {
            Self::Cbr { interval, .. } | Self::Poisson { interval } | Self::Ping { interval } => *interval,
            Self::OnOff(bursts) => bursts.mean_interval(),
            Self::Trace(schedule) => schedule.mean_interval(),
            Self::Tcp(_) => Span::ZERO,
        }
    }
}

impl FlowConfig {
    /// A flow from the run's start to its end, on the default ports.
    pub const fn new(kind: FlowKind, src: NodeId, dst: NodeId, payload_bytes: u32) -> Self {
        Self {
            kind,
            src,
            dst,
            start: Time::ZERO,
            stop: None,
            payload_bytes,
            max_packets: None,
            src_port: DEFAULT_PORT,
            dst_port: DEFAULT_PORT,
            tos: 0,
            ip6: false,
        }
    }

    /// Whether it goes to all nodes.
    pub fn is_to_all(&self) -> bool {
        self.dst == EVERYONE
    }

    /// Whether a [`crate::Source`] can send it.
    pub fn check(&self) -> Result<(), FlowError> {
        if self.payload_bytes > MAX_PAYLOAD {
            return Err(FlowError::Payload(self.payload_bytes));
        }
        if let FlowKind::Tcp(tcp) = &self.kind {
            return match tcp.check() {
                _ if self.is_to_all() => Err(FlowError::PingToAll),
                Ok(()) => Ok(()),
                Err((key, _)) => Err(FlowError::Tcp(key)),
            };
        }
        if let FlowKind::Trace(schedule) = &self.kind {
            let longest = schedule.longest_payload();
            return if longest > MAX_PAYLOAD { Err(FlowError::Payload(longest)) } else { Ok(()) };
        }
        if self.kind.mean_interval() == Span::ZERO {
            return Err(FlowError::Interval);
        }
        match self.kind {
            FlowKind::OnOff(OnOff { interval, on, .. }) if interval.min(on) == Span::ZERO => {
                Err(FlowError::Interval)
            }
            FlowKind::OnOff(OnOff { lengths: Lengths::Pareto { shape }, .. })
                if !shape.is_finite() || shape <= 1.0 =>
            {
                Err(FlowError::Shape(shape))
            }
            FlowKind::Ping { .. } if self.is_to_all() => Err(FlowError::PingToAll),
            FlowKind::Cbr { jitter, .. } if !(0.0..=1.0).contains(&jitter) => Err(FlowError::Jitter(jitter)),
            _ => Ok(()),
        }
    }
}

/// Why a flow cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowError {
    /// A payload of this many bytes does not fit into an IPv4 packet.
    Payload(u32),
    /// The mean interval, or the mean burst, is zero.
    Interval,
    /// The shape of Pareto's law is not above 1.
    Shape(f64),
    /// The jitter is not from 0 to 1.
    Jitter(f64),
    /// Echo requests or a connection to all nodes: who answers?
    PingToAll,
    /// This setting of a TCP connection is out of its range.
    Tcp(&'static str),
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload(n) => write!(f, "a payload of {n} bytes; at most {MAX_PAYLOAD} fit into a packet"),
            Self::Interval => f.write_str("an interval of zero; give a positive one"),
            Self::Shape(shape) => write!(f, "a Pareto shape of {shape}; give one above 1"),
            Self::PingToAll => f.write_str("a ping or a connection to all nodes; give one node"),
            Self::Tcp(key) => write!(f, "a TCP connection whose {key} is out of range"),
            Self::Jitter(j) => write!(f, "a jitter of {j}; give one from 0 to 1"),
        }
    }
}

impl core::error::Error for FlowError {}
