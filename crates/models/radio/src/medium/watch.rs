//! The fates of frames at their receivers: a record beside the medium, only on request.

use wayhop_core::{FlowTag, Time};

use super::meeting::{HeardFrame, Meeting};
use crate::fate::{Fate, FrameId};

/// Whose frames are watched.
#[derive(Clone, Debug, Default)]
pub struct Watching {
    /// By station: what becomes of the frames that it should receive.
    pub stations: Vec<bool>,
    /// By station: what becomes of all frames that reach it, whatever their destination.
    pub listeners: Vec<bool>,
}

pub(crate) struct FateRecord {
    pub(crate) who: Watching,
    /// Whether there are any of those.
    pub(crate) has_listeners: bool,
    /// By slot.
    frames: Vec<WatchedFrame>,
    /// By station, how many frames on the air are watched at it.
    watched_at: Vec<u32>,
    /// By station, the last frame that it sent.
    sent: Vec<Option<FrameId>>,
    /// CTS frames that a station owed and did not send, as (from, to).
    pub(crate) withheld: Vec<(u32, u32)>,
}

/// What is known of a frame before it goes on the air.
#[derive(Copy, Clone, Debug)]
pub(crate) struct FrameInfo {
    pub(crate) id: FrameId,
    pub(crate) flow: Option<FlowTag>,
    pub(crate) attempt: u8,
    /// Whether it is watched at all who should receive it.
    pub(crate) everywhere: bool,
}

/// A frame on the air.
#[derive(Debug)]
pub(crate) struct WatchedFrame {
    pub(crate) about: FrameInfo,
    pub(crate) began: Time,
    pub(crate) entries: Vec<AtStation>,
}

/// The frame at a station.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct AtStation {
    pub(crate) station: u32,
    /// `None` while it may still be received.
    pub(crate) fate: Option<Fate>,
    pub(crate) other: Option<FrameId>,
    /// The strongest frame beside it, with its power.
    disturber: Option<(f64, FrameId)>,
    pub(crate) delay_ns: u32,
    pub(crate) watts: f64,
    pub(crate) mean_watts: f64,
    pub(crate) is_meant: bool,
    pub(crate) is_audible: bool,
}

impl AtStation {
    pub(crate) fn new(station: u32, watts: f64, mean_watts: f64, is_meant: bool) -> Self {
        Self { station, watts, mean_watts, is_meant, ..Self::default() }
    }

    /// One that is lost from the beginning, of a station whose signal nobody knows.
    pub(crate) fn lost(station: u32, fate: Fate) -> Self {
        Self { fate: Some(fate), ..Self::new(station, f64::NAN, f64::NAN, true) }
    }

    fn lose(&mut self, fate: Fate, other: Option<FrameId>) {
        if self.fate.is_none() {
            self.fate = Some(fate);
            self.other = other;
        }
    }

    fn disturb(&mut self, watts: f64, by: Option<FrameId>) {
        if let Some(by) = by
            && self.disturber.is_none_or(|(most, _)| watts > most)
        {
            self.disturber = Some((watts, by));
        }
    }
}

impl FateRecord {
    pub(crate) fn new(who: Watching) -> Self {
        let stations = who.stations.len();
        Self {
            has_listeners: who.listeners.contains(&true),
            who,
            frames: Vec::new(),
            watched_at: vec![0; stations],
            sent: vec![None; stations],
            withheld: Vec::new(),
        }
    }

    /// A frame goes on the air, in a slot that no other has.
    pub(crate) fn begin(&mut self, slot: u32, about: FrameInfo, began: Time) {
        self.sent[about.id.from as usize] = Some(about.id);
        let slot = slot as usize;
        while self.frames.len() <= slot {
            self.frames.push(WatchedFrame { about, began, entries: Vec::new() });
        }
        let frame = &mut self.frames[slot];
        frame.about = about;
        frame.began = began;
        frame.entries.clear();
    }

    /// Adds a station to those at whom the frame in this slot is watched.
    pub(crate) fn add(&mut self, slot: u32, entry: AtStation) {
        if let Some(count) = self.watched_at.get_mut(entry.station as usize) {
            *count += 1;
        }
        self.frames[slot as usize].entries.push(entry);
    }

    /// Whether any frame on the air is watched at a station.
    pub(crate) fn is_watched_at(&self, station: u32) -> bool {
        self.watched_at[station as usize] > 0
    }

    /// The frame of this sender in a slot; `None` if it is over and the slot has another.
    fn id(&self, slot: u32, sender: u32) -> Option<FrameId> {
        self.frames.get(slot as usize).map(|f| f.about.id).filter(|id| id.from == sender)
    }

    fn entry(&mut self, slot: u32, station: u32) -> Option<&mut AtStation> {
        self.frames.get_mut(slot as usize)?.entries.iter_mut().find(|e| e.station == station)
    }

    /// The frame in `slot` begins at a station, and meets what is there.
    pub(crate) fn meet(&mut self, slot: u32, station: u32, watts: f64, meeting: &Meeting) {
        let newcomer = Some(self.frames[slot as usize].about.id);
        let beside = |w: &Self, h: Option<HeardFrame>| h.and_then(|h| w.id(h.slot, h.sender));
        let strongest = beside(self, meeting.strongest);
        let locked = meeting.locked.and_then(|l| self.frames.get(l as usize)).map(|f| f.about.id);
        let own = self.sent[station as usize];
        if let Some(entry) = self.entry(slot, station) {
            match meeting.newcomer {
                Some(Fate::Sending) => entry.lose(Fate::Sending, own),
                Some(fate) => entry.lose(fate, locked.or(strongest)),
                None => entry.disturb(meeting.strongest.map_or(0.0, |h| h.watts), strongest),
            }
        }
        let Some(locked) = meeting.locked else { return };
        if let Some(entry) = self.entry(locked, station) {
            match meeting.earlier {
                Some(fate) => entry.lose(fate, newcomer),
                None => entry.disturb(watts, newcomer),
            }
        }
    }

    /// A station begins to send while the frame in `slot` comes in.
    pub(crate) fn drown(&mut self, slot: u32, station: u32, own: FrameId) {
        if let Some(entry) = self.entry(slot, station) {
            entry.lose(Fate::Sending, Some(own));
        }
    }

    /// How the reception of the frame in `slot` ended at a station.
    pub(crate) fn settle(&mut self, slot: u32, station: u32, fate: Fate) {
        if let Some(entry) = self.entry(slot, station) {
            let other = entry.disturber.filter(|_| fate == Fate::Collision).map(|(_, by)| by);
            entry.lose(fate, other);
        }
    }

    /// A station is switched off: it receives nothing, and what it was sending ends.
    pub(crate) fn switched_off(&mut self, station: u32, on_air: impl Fn(usize) -> bool) {
        for (_, frame) in self.frames.iter_mut().enumerate().filter(|(slot, _)| on_air(*slot)) {
            for entry in &mut frame.entries {
                if frame.about.id.from == station {
                    entry.lose(Fate::CutShort, None);
                } else if entry.station == station {
                    entry.lose(Fate::NodeDown, None);
                }
            }
        }
    }

    /// Takes out the entries of a frame that is over. [`FateRecord::give_back`] returns their memory.
    pub(crate) fn take(&mut self, slot: u32) -> (FrameInfo, Time, Vec<AtStation>) {
        let frame = &mut self.frames[slot as usize];
        for entry in &frame.entries {
            if let Some(count) = self.watched_at.get_mut(entry.station as usize) {
                *count -= 1;
            }
        }
        (frame.about, frame.began, std::mem::take(&mut frame.entries))
    }
    pub(crate) fn give_back(&mut self, slot: u32, entries: Vec<AtStation>) {
        self.frames[slot as usize].entries = entries;
    }

    /// Whether a station's entry of a frame is wanted.
    pub(crate) fn wants(&self, about: &FrameInfo, station: u32) -> bool {
        about.everywhere || self.who.stations.get(station as usize).is_some_and(|on| *on)
    }
}
