//! The radio's state for each station.

use rustc_hash::FxHashMap;
use wayhop_core::{Rng, Span, Time};

use crate::card::{Card, CardConfig};
use crate::host::Outgoing;

/// "No transmission" in [`PhyState::locked`].
pub(crate) const NONE: u32 = u32::MAX;

/// What the MAC is in the middle of sending, or waiting for the answer to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Sending {
    #[default]
    Nothing,
    Rts,
    Cts,
    Data,
    Ack,
    Beacon,
}

/// Backoff: not wanted, waiting for the medium, or counting.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Backoff {
    #[default]
    Off,
    Paused,
    Running,
}

/// The part of a station that every transmission around it touches: one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct PhyState {
    /// The transmission it is trying to receive.
    pub(crate) locked: u32,
    /// The number of the first transmission that it has not been notified of, where transmissions are numbered.
    pub(crate) told: u32,
    /// Another frame overlapped with it and neither was strong enough.
    pub(crate) collided: bool,
    /// It is too weak, or the station was sending.
    pub(crate) errored: bool,
    pub(crate) sending: Sending,
    pub(crate) backoff: Backoff,
    /// Slots still to count; drawn when the backoff starts.
    pub(crate) slots: u16,
    /// The backoff is only the wait of a station that may send at once (IEEE 802.11 10.3.4.2): an interruption turns it
    /// into a real one.
    pub(crate) immediate: bool,
    /// When the medium was last sensed going busy.
    pub(crate) busy_from: Time,
    /// Until when it is sensed busy.
    pub(crate) busy_until: Time,
    /// Power of the frame that is being received, W.
    pub(crate) watts: f64,
    /// The station's own transmitter is on until then.
    pub(crate) on_air_until: Time,
    /// Network allocation vector: the medium counts as busy until then.
    pub(crate) nav: Time,
    /// Since when the backoff has been running: DIFS first, then the slots.
    pub(crate) since: Time,
}

const _: () = assert!(size_of::<PhyState>() == 64, "one cache line");

impl PhyState {
    pub(crate) fn new() -> Self {
        Self { locked: NONE, ..Self::default() }
    }

    /// Carrier sense, physical and virtual, and the MAC's own exchange (ns-2's `is_idle`). A carrier goes unnoticed for `cca`.
    pub(crate) fn is_idle(&self, now: Time, cca: Span) -> bool {
        self.sending == Sending::Nothing
            && self.nav <= now
            // With 0, a carrier that begins at this very moment is not noticed yet.
            && !(self.busy_from + cca < now && now < self.busy_until)
    }
}

/// A CTS or ACK that waits for its SIFS.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Response {
    pub(crate) ack: bool,
    pub(crate) to: u32,
    pub(crate) duration_us: u16,
    pub(crate) rate_100kbps: u16,
}

/// The part of a station that only its own exchanges touch.
#[derive(Debug)]
pub(crate) struct Mac {
    /// The card between the interface queue and the MAC, if there is one.
    pub(crate) card: Option<Box<Card>>,
    /// Its driver does not serve the queue.
    pub(crate) stalled: bool,
    /// The packet being sent.
    pub(crate) current: Option<Outgoing>,
    /// It needs an RTS before it can go.
    pub(crate) rts_wanted: bool,
    pub(crate) answer: Option<Response>,
    /// A beacon is to be sent before anything else.
    pub(crate) beacon_due: bool,
    /// When the SIFS before an answer, or before data after a CTS, ends.
    pub(crate) defer_until: Time,
    /// When the next event of the backoff comes up. A backoff that is put off leaves it in the queue, where it puts itself
    /// off, so that every interruption costs no queue operation.
    pub(crate) backoff_queued: Time,
    /// When to give up waiting for an answer, or a transmission that expects none is over.
    pub(crate) timeout_at: Time,
    /// After a damaged frame: the end of EIFS, which replaces DIFS, as a time until which DIFS may not begin.
    pub(crate) eifs_until: Time,
    pub(crate) cw: u32,
    pub(crate) short_retries: u8,
    pub(crate) long_retries: u8,
    /// How often the current packet, or its RTS, went on the air.
    pub(crate) tries: u8,
    /// Whether the current packet's data frame has been on the air. `long_retries` does not say so: after a packet whose RTS stayed
    /// without answer it counts on into the next one, as in ns-2.
    pub(crate) data_sent: bool,
    pub(crate) sequence: u32,
    /// Frames sent, which numbers them for fading.
    pub(crate) frames: u64,
    pub(crate) last_sequence: FxHashMap<u32, u32>,
    pub(crate) rng: Rng,
    pub(crate) counters: Counters,
}

impl Mac {
    pub(crate) fn new(rng: Rng, cw_min: u32, card: CardConfig) -> Self {
        Self {
            card: Card::new(card),
            stalled: false,
            current: None,
            rts_wanted: false,
            answer: None,
            beacon_due: false,
            defer_until: Time::NEVER,
            backoff_queued: Time::NEVER,
            timeout_at: Time::NEVER,
            eifs_until: Time::ZERO,
            cw: cw_min,
            short_retries: 0,
            long_retries: 0,
            tries: 0,
            data_sent: false,
            sequence: 0,
            frames: 0,
            last_sequence: FxHashMap::default(),
            rng,
            counters: Counters::default(),
        }
    }

    /// Whether there is a card between queue and MAC that does not only take time.
    pub(crate) fn has_frames_in_card(&self) -> bool {
        self.card.as_ref().is_some_and(|c| c.config.buffers > 0)
    }

    /// As after switching it on. The packets in it, what numbers its frames, its counters and its driver stay.
    pub(crate) fn reset(&mut self, cw_min: u32) {
        self.rts_wanted = false;
        self.answer = None;
        self.beacon_due = false;
        self.defer_until = Time::NEVER;
        self.backoff_queued = Time::NEVER;
        self.timeout_at = Time::NEVER;
        self.eifs_until = Time::ZERO;
        self.cw = cw_min;
        self.short_retries = 0;
        self.long_retries = 0;
        self.tries = 0;
        self.data_sent = false;
        self.last_sequence.clear();
    }
}

/// What a station's MAC counts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// RTS frames sent.
    pub rts: u32,
    /// CTS frames sent.
    pub cts: u32,
    /// ACK frames sent.
    pub ack: u32,
    /// Unicast data frames sent, retries included.
    pub data: u32,
    /// Broadcast frames sent.
    pub broadcast: u32,
    /// RTS and data frames sent again.
    pub retries: u32,
    /// Packets given up after the last retry.
    pub failures: u32,
    /// Data frames received well, for this station or for all.
    pub received: u32,
    /// Data frames received again because their ACK was lost.
    pub duplicates: u32,
    /// Frames within range that overlapped with another and were lost.
    pub collisions: u32,
    /// Data frames lost because the card had no free buffer.
    pub card_drops: u32,
}

impl Counters {
    /// All of them, by name.
    pub fn named(&self) -> [(&'static str, u32); 11] {
        [
            ("rts", self.rts),
            ("cts", self.cts),
            ("ack", self.ack),
            ("data", self.data),
            ("broadcast", self.broadcast),
            ("retries", self.retries),
            ("failures", self.failures),
            ("received", self.received),
            ("duplicates", self.duplicates),
            ("collisions", self.collisions),
            ("card_drops", self.card_drops),
        ]
    }
}
