//! The settings of a TCP connection.

use wayhop_core::Span;
use wayhop_wire::tcp::MAX_OPTIONS;

use super::app::App;
use super::failure::Failure;
use super::pacing::Pacing;
use super::rto::RtoConfig;

/// The most segments that a window may have: what a host keeps for a connection stays bounded.
pub const MAX_WINDOW: u32 = 1_024;
/// The longest payload of a segment, in octets.
pub const MAX_SEGMENT: u32 = 65_535 - 60 - 60;

/// How the sender decides how much may be under way, and how it recovers from losses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Slow start again after every loss (Jacobson 1988).
    Tahoe,
    /// Fast recovery, ended by the first new acknowledgement (RFC 2581).
    Reno,
    /// Fast recovery until everything sent before it is acknowledged (RFC 6582).
    NewReno,
    /// Recovery by selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// A window by the queueing delay (Brakmo and Peterson 1995).
    Vegas,
    /// NewReno with a threshold by the rate at which acknowledgements come (Mascolo et al. 2001).
    Westwood,
}

wayhop_core::names!(Variant {
    Tahoe = "tahoe",
    Reno = "reno",
    NewReno = "newreno",
    Sack = "sack",
    Vegas = "vegas",
    Westwood = "westwood",
});

/// Whose constants and choices hold where they differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The RFCs.
    Rfc,
    /// ns-2.35.
    Ns2,
}

/// A TCP connection, as both of its ends are set up.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Congestion control and recovery of both senders.
    pub variant: Variant,
    /// What a loss halves, and how the window goes on after fast recovery: see [`Profile`].
    pub profile: Profile,
    /// The longest payload of a segment, in octets; at most [`MAX_SEGMENT`].
    pub segment_bytes: u32,
    /// The receiver's buffer and the most that a sender has under way, in segments; at most [`MAX_WINDOW`].
    pub window_segments: u32,
    /// How many octets of no-operations each header has behind its options, a multiple of four; fewer where the options leave
    /// less room.
    pub padding: u8,
    /// How many segments a sender begins with.
    pub initial_window: u32,
    /// How long an acknowledgement may wait for a second segment; `None` for one acknowledgement a segment.
    pub delayed_ack: Option<Span>,
    /// Whether the connection begins with the handshake (RFC 9293, section 3.5); else it is there from the start.
    pub handshake: bool,
    /// From one SYN to the next, without back-off: an application that opens the connection again and again until it stands.
    /// `None` for standard TCP, which doubles the time.
    pub connect_every: Option<Span>,
    /// Whether the first two duplicate acknowledgements let a new segment out (RFC 3042).
    pub limited_transmit: bool,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// What the applications do.
    pub app: App,
    /// What the sender makes of notices that the route is gone.
    pub failure: Failure,
    /// Bounds the window by the length of the path: this many segments per hop, at least one.
    pub window_per_hop: Option<f64>,
    /// Spreads the segments over time.
    pub pacing: Option<Pacing>,
}

impl TcpConfig {
    /// A bulk transfer as the RFCs have it: Reno, delayed acknowledgements, a window of 32 segments of 1460 octets.
    pub const fn rfc() -> Self {
        Self {
            variant: Variant::Reno,
            profile: Profile::Rfc,
            segment_bytes: 1_460,
            window_segments: 32,
            padding: 0,
            // RFC 5681 section 3.1, for segments of 1096 to 2190 octets.
            initial_window: 3,
            // Below the half second of RFC 5681 section 4.2, and what most systems have.
            delayed_ack: Some(Span::from_millis(200)),
            handshake: true,
            connect_every: None,
            limited_transmit: true,
            rto: RtoConfig::rfc(),
            app: App::Bulk { bytes: None },
            failure: Failure::Ignore,
            window_per_hop: None,
            pacing: None,
        }
    }

    /// As ns-2.35's `Agent/TCP/Reno` and `Agent/TCPSink` are set up by `tcl/lib/ns-default.tcl`.
    pub const fn ns2() -> Self {
        Self {
            profile: Profile::Ns2,
            segment_bytes: 1_000,
            window_segments: 20,
            initial_window: 2,
            delayed_ack: None,
            rto: RtoConfig::ns2(),
            ..Self::rfc()
        }
    }

    /// The window limit in octets.
    pub fn window_bytes(&self) -> u64 {
        u64::from(self.window_segments) * u64::from(self.segment_bytes)
    }

    /// By how many bits windows are shifted to fit their field (RFC 7323, section 2).
    pub(crate) fn window_shift(&self) -> u8 {
        let bits = u64::BITS - self.window_bytes().leading_zeros();
        bits.saturating_sub(u16::BITS) as u8
    }

    /// What is wrong with it, if anything: the name of the setting and the reason.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let Self { segment_bytes, window_segments, padding, initial_window, .. } = *self;
        if !(1..=MAX_SEGMENT).contains(&segment_bytes) {
            return Err((
                "payload_bytes",
                format!("{segment_bytes} bytes; a segment has 1 to {MAX_SEGMENT}"),
            ));
        }
        if !(1..=MAX_WINDOW).contains(&window_segments) {
            return Err(("window", format!("{window_segments} segments; give 1 to {MAX_WINDOW}")));
        }
        if usize::from(padding) > MAX_OPTIONS || !padding.is_multiple_of(4) {
            return Err((
                "padding_bytes",
                format!("{padding} bytes; give a multiple of 4 up to {MAX_OPTIONS}"),
            ));
        }
        if !(1..=MAX_WINDOW).contains(&initial_window) {
            return Err(("initial_window", format!("{initial_window} segments; give 1 to {MAX_WINDOW}")));
        }
        if self.window_per_hop.is_some_and(|k| !(k > 0.0 && k <= 1_000.0)) {
            return Err(("window_per_hop", "give a number above zero, at most 1000".to_owned()));
        }
        self.rto.check()?;
        self.app.check()
    }
}
