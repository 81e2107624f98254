//! Notes of a running connection: the rows of a time-sequence plot.

use wayhop_core::{Span, Time};

/// What happened at a sender.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NoteKind {
    /// A segment left for the first time.
    Send,
    /// A segment left again.
    Resend,
    /// New data was acknowledged.
    Ack,
    /// A duplicate acknowledgement came.
    Duplicate,
    /// Duplicates showed a loss.
    FastRetransmit,
    /// The retransmission timer ran out.
    Timeout,
    /// A notice said that the route is gone.
    Notice,
    /// A segment left to look for the route.
    Probe,
    /// Standby ended.
    Resume,
}

wayhop_core::names!(NoteKind {
    Send = "send",
    Resend = "resend",
    Ack = "ack",
    Duplicate = "duplicate",
    FastRetransmit = "fast_retransmit",
    Timeout = "timeout",
    Notice = "notice",
    Probe = "probe",
    Resume = "resume",
});

/// One event at a sender, with its state after it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Note {
    /// When.
    pub time: Time,
    /// What.
    pub kind: NoteKind,
    /// The octet of the stream that it is about, counted from 0.
    pub from: u64,
    /// How many octets of payload; 0 where there are none.
    pub len: u32,
    /// The oldest octet that is not acknowledged.
    pub una: u64,
    /// What is under way, in octets.
    pub in_flight: u64,
    /// The congestion window, in segments.
    pub window: f32,
    /// The slow-start threshold, in segments.
    pub threshold: f32,
    /// The smoothed round-trip time, once it was measured.
    pub srtt: Option<Span>,
    /// The retransmission timeout, backed off.
    pub rto: Span,
}
