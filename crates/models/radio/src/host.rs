//! The radio's events for the world around it, and its requirements.

use wayhop_core::{FlowTag, Frame, Leg, Time, TxStatus};

use crate::fate::{Fate, FrameId};
use crate::phy::{FrameKind, in_100kbps};

/// As a destination: all stations.
pub const EVERYONE: u32 = u32::MAX;

/// As a destination: an address that no station has.
pub const NOBODY: u32 = u32::MAX - 1;

/// A frame of a node on its way to the air.
#[derive(Debug)]
pub struct Outgoing {
    /// What the node sends.
    pub frame: Frame,
    /// The station of its receiver: an index, [`EVERYONE`], or [`NOBODY`] for an address that is not there.
    pub to: u32,
}

/// When the radio is to be called for a station.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RadioEvent {
    /// A backoff may have run out.
    Backoff,
    /// An interframe space may be over.
    Defer,
    /// The last bit of what a station hears may have arrived.
    Idle,
    /// A wait for an answer may have run out.
    Timeout,
    /// The last bit of this transmission left the antenna.
    End(u32),
    /// A packet is in the card.
    Loaded,
    /// A battery may be empty: the host calls [`crate::Radio::check_battery`].
    Battery,
    /// A jammer's burst is due.
    Jam,
    /// An access point's beacon is due.
    Beacon,
}

/// The head of a frame, as a capture shows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// What it is.
    pub kind: FrameKind,
    /// The station that sent it.
    pub from: u32,
    /// The station it is for, [`EVERYONE`] or [`NOBODY`].
    pub to: u32,
    /// Its Duration field, us.
    pub duration_us: u16,
    /// Its sequence number; on the air modulo 4096. Whole here, so that two frames that differ are never taken for one.
    pub sequence: u32,
    /// Whether it was sent before.
    pub retry: bool,
    /// The rate at which it was sent, in units of 100 kb/s.
    pub rate_100kbps: u16,
}

impl FrameHead {
    /// Without a duration and a number, sent for the first time.
    pub(crate) fn new(kind: FrameKind, from: u32, to: u32, rate_mbps: f64) -> Self {
        let rate_100kbps = in_100kbps(rate_mbps);
        Self { kind, from, to, duration_us: 0, sequence: 0, retry: false, rate_100kbps }
    }
}

/// A frame at one station.
#[derive(Copy, Clone, Debug)]
pub struct FrameAt<'a> {
    /// When its last bit was received, or its first bit sent.
    pub at: Time,
    /// The station.
    pub station: u32,
    /// Its head.
    pub head: FrameHead,
    /// What a data frame carries.
    pub body: Option<&'a Outgoing>,
    /// Received power, W; 0 at its sender.
    pub watts: f64,
}

/// A frame at a station, and what became of it.
#[derive(Copy, Clone, Debug)]
pub struct FrameFate<'a> {
    /// The frame, at the station, when its last bit was there. It has no body if its sender has none any more.
    pub frame: FrameAt<'a>,
    /// The packet that it carries, or is exchanged for.
    pub id: FrameId,
    /// That packet's flow.
    pub flow: Option<FlowTag>,
    /// How often the packet, or the RTS for it, had been sent, this time included.
    pub attempt: u8,
    /// When its first bit left the sender.
    pub began: Time,
    /// When its last bit did.
    pub ended: Time,
    /// What became of it.
    pub fate: Fate,
    /// The frame that was in its way.
    pub other: Option<FrameId>,
    /// The power that it would have without shadowing and fading, W; NaN where there is none.
    pub mean_watts: f64,
    /// The power that it needs, W.
    pub needed_watts: f64,
    /// Whether it is for this station, or for all and the station is in range; a frame for another one otherwise.
    pub is_meant: bool,
    /// Whether enough of it was there for the station's radio to notice it.
    pub is_audible: bool,
}

/// The stations' motion, as the radio asks for it.
pub trait Motions {
    /// The leg that `station` is on at `t`. Asked again once `t` reaches the leg's `until`, and at times for a moment some
    /// milliseconds ago.
    fn leg(&mut self, station: u32, t: Time) -> Leg;
    /// A time until which no station will be more than `distance_m` from where it is at `now`.
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time;
}

/// What the radio asks of the simulator or emulator around it.
pub trait Host: Motions {
    /// Call [`crate::Radio::handle`] then.
    fn schedule(&mut self, at: Time, station: u32, event: RadioEvent);
    /// A data frame goes on the air.
    fn sending(&mut self, f: &FrameAt<'_>);
    /// A data frame for this station, or for all, arrived well; the station's host has its packet at `ready`.
    fn received(&mut self, f: &FrameAt<'_>, ready: Time);
    /// A data frame for another station was understood. Called only where [`crate::Radio::set_overhear`] asks for it.
    fn overheard(&mut self, f: &FrameAt<'_>);
    /// A packet is done with; the next one is fetched when the host calls [`crate::Radio::fetch`].
    fn finished(&mut self, at: Time, station: u32, out: Outgoing, status: TxStatus);
    /// The next packet of a station's interface queue.
    fn next(&mut self, station: u32) -> Option<Outgoing>;
    /// Whether a station answers frames for another one as if they were its own: the end of a wormhole for those at its other
    /// end. Asked only with [`crate::Radio::set_stand_ins`].
    fn stands_in(&mut self, at: Time, station: u32, head: &FrameHead) -> bool {
        let _ = (at, station, head);
        false
    }
    /// A frame was sent or understood. Called only with [`crate::Radio::set_capturing`].
    fn captured(&mut self, f: &FrameAt<'_>);
    /// Whether it shall be told what becomes of a frame at all who should receive it, and not only at the stations that are
    /// watched anyway. The flow is that of the packet that it carries or is exchanged for. Asked only with [`crate::Radio::watch`].
    fn watches(&mut self, head: &FrameHead, flow: Option<FlowTag>) -> bool;
    /// What became of a frame at a station, when its last bit has left its sender. Called only with [`crate::Radio::watch`].
    fn fate(&mut self, f: &FrameFate<'_>);
}
