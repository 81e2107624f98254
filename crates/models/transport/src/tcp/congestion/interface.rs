//! The interface between a sender and its congestion control.

use wayhop_core::{Span, Time};

/// New data was acknowledged.
#[derive(Copy, Clone, Debug)]
pub struct Acked {
    /// When.
    pub now: Time,
    /// How much, in segments.
    pub segments: f64,
    /// From the sending of its last segment to now, if that was sent once.
    pub rtt: Option<Span>,
    /// The stream's octet up to which all has arrived.
    pub up_to: u64,
    /// The octet that is sent next.
    pub next: u64,
    /// What is under way after this, in segments.
    pub in_flight: f64,
    /// Whether the sender is recovering from a loss.
    pub recovering: bool,
}

/// Something was lost.
#[derive(Copy, Clone, Debug)]
pub struct Lost {
    /// When that was noticed.
    pub now: Time,
    /// What a sender halves: what was under way (RFC 5681), or its window (ns-2), in segments.
    pub load: f64,
    /// When the lost segment was last sent.
    pub sent: Option<Time>,
    /// How often it had been sent.
    pub times: u32,
}

/// Decides how many segments may be under way. Recovery - what is sent again, and when - is the sender's; it tells here
/// what happened.
///
/// Windows are in segments and may have a fraction, which the sender ignores.
pub trait CongestionControl: Send {
    /// The congestion window.
    fn window(&self) -> f64;
    /// The slow-start threshold.
    fn threshold(&self) -> f64;
    /// New data was acknowledged. In recovery the window is to stay.
    fn acked(&mut self, a: &Acked);
    /// Duplicate acknowledgements show a loss: fast retransmit.
    fn lost(&mut self, l: &Lost);
    /// The retransmission timer ran out. `again`: for the same data as the last time.
    fn timed_out(&mut self, l: &Lost, again: bool);
    /// Sets the window, for what is no matter of congestion: restarts, deflation, mechanisms that freeze a connection.
    fn set_window(&mut self, segments: f64);
    /// Halves the window and the threshold as after a loss.
    fn halve(&mut self) {
        let half = (self.window() / 2.0).max(1.0);
        self.set_window(half);
    }
    /// Whether a segment that was sent so long ago is taken for lost at a duplicate acknowledgement, before the third.
    fn is_overdue(&self, _age: Span) -> bool {
        false
    }
}
