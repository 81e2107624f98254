//! A frame on the air, and at its receivers.

use wayhop_core::{Position, Span, Time};

use super::watch::FrameInfo;
use crate::host::FrameHead;

/// A station within range of a transmission.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) station: u32,
    /// How long the signal takes to it.
    pub(crate) delay_ns: u32,
}

/// A station that a frame reaches, and how.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Audible {
    pub(crate) station: u32,
    pub(crate) delay_ns: u32,
    pub(crate) watts: f64,
}

/// A frame on the air.
#[derive(Debug)]
pub(crate) struct Transmission {
    pub(crate) head: FrameHead,
    /// The frame's number at its sender.
    pub(crate) number: u64,
    /// Octets on the air.
    pub(crate) bytes: u32,
    pub(crate) rate_mbps: f64,
    /// What is to be known of it, where somebody watches.
    pub(crate) about: Option<FrameInfo>,
    /// Those who shall look at it when it ends.
    pub(crate) receivers: Vec<Receiver>,
    /// Whether stations that it is not for have a use for it, if they can decode it.
    pub(crate) is_read_by_all: bool,
    /// Where it is kept for stations that have not been notified of it, if it is.
    pub(crate) kept: u32,
}

impl Transmission {
    /// One that is read by all.
    pub(crate) fn new(
        head: FrameHead,
        number: u64,
        bytes: u32,
        rate_mbps: f64,
        about: Option<FrameInfo>,
    ) -> Self {
        Self { head, number, bytes, rate_mbps, about, receivers: Vec::new(), is_read_by_all: true, kept: 0 }
    }
}

/// A frame as it begins at one station.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) slot: u32,
    pub(crate) sender: u32,
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) watts: f64,
}

/// A transmission that begins.
#[derive(Copy, Clone)]
pub(crate) struct Start<'a> {
    pub(crate) now: Time,
    pub(crate) airtime: Span,
    pub(crate) sender: u32,
    /// Where its sender is.
    pub(crate) here: Position,
    pub(crate) slot: u32,
    pub(crate) t: &'a Transmission,
}
