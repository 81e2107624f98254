//! Transmissions that stations are notified of when they need to know.
//!
//! By ns-2's rules, a frame that a station cannot decode, or that is for another one, occupies its receiver, and then keeps it
//! from sending: for an EIFS, or as long as the frame's Duration field says. Around a sender there are four times as many
//! stations that only sense the frame as ones that can decode it, and most have nothing to send. So only these are told at once
//! that a frame begins:
//!
//! 1. stations that have a use for it: the one that it is for, or all that can decode it (broadcasts; data where stations
//!    overhear; every frame where stations capture);
//! 2. stations that contend for the medium, whose backoff it pauses;
//! 3. all that sense it, if it begins while another is on the air within reach of any of them: the two may collide.
//!
//! Any other station is told before something else happens to it (`Medium::replay` in `telling`): before it is notified of a later
//! frame, and before its own MAC looks at the medium. By rule 3 such a frame was alone there, so what it does depends on nothing
//! that came later. A frame that is over is kept until nobody has to wait any more on its account; then it leaves no trace in
//! stations that did not ask.
//!
//! The state of every station that is looked at is thus the one that it would have if everybody were notified of everything.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wayhop_core::{Position, Span, Time};

use super::cells::Cells;
use super::neighbours::Neighbours;
use super::reach::Reach;
use crate::propagation::LIGHT_SPEED_M_PER_S;
use crate::station::{Backoff, NONE, PhyState};

/// The transmissions that stations may have to be notified of later.
pub(super) struct Deferred {
    /// How far a frame can be decoded.
    pub(super) decoded: Reach,
    /// How long a transmission may matter from when its last bit was sent, besides its Duration field.
    way_and_difs: Span,
    eifs: Span,
    /// Events before this one are over; [`Time::NEVER`] if they come in order.
    pub(super) earliest: Time,
    /// The number of the next transmission.
    pub(super) next: u32,
    pub(super) kept: Vec<Option<Kept>>,
    free: Vec<u32>,
    /// Those of `kept` that are over, and until when they matter.
    over: BinaryHeap<Reverse<(Time, u32)>>,
    /// `kept` by the senders' places.
    places: Cells,
    /// Stations with a backoff, by their places when the grid of stations was made.
    pub(super) contending: Cells,
    /// Transmissions from this number on began after that.
    renewed_at: u32,
    /// Transmissions on the air that began before it. Nobody knows where to look for those who sense them.
    pub(super) old_on_air: u32,
    /// What somebody may have to be notified of now, in the order of numbers; for reuse.
    pub(super) nearby: Vec<Kept>,
    /// Stations that may sense a frame, for reuse.
    pub(super) candidates: Vec<u32>,
}

/// A transmission, as a station that hears of it later has to know it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Kept {
    pub(super) number: u32,
    pub(super) sender: u32,
    /// [`NONE`] once it is over.
    pub(super) slot: u32,
    /// Everybody has been notified of it.
    pub(super) is_known: bool,
    pub(super) from: Time,
    pub(super) airtime: Span,
    /// For how long after it the stations that understand it do not send.
    pub(super) reserved: Span,
    pub(super) here: Position,
}

impl Deferred {
    /// A frame is sensed within `range_m` metres, decoded within `decoded`, and damaged keeps a station from sending for `eifs`.
    pub(super) fn new(decoded: Reach, range_m: f64, eifs: Span, difs: Span) -> Self {
        let way = Span::from_secs_f64(range_m / LIGHT_SPEED_M_PER_S);
        Self {
            decoded,
            // A medium that was idle for a DIFS may be used at once: how it was before that matters to nobody.
            way_and_difs: way + difs * 2,
            eifs,
            earliest: Time::NEVER,
            next: 0,
            kept: Vec::new(),
            free: Vec::new(),
            over: BinaryHeap::new(),
            places: Cells::default(),
            contending: Cells::default(),
            renewed_at: 0,
            old_on_air: 0,
            nearby: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Collects the transmissions that began within `reach` metres of a place and that somebody has not been notified of.
    /// Returns whether any that began there is on the air, known or not.
    pub(super) fn find(&mut self, at: Position, reach: f64) -> bool {
        let Self { nearby, kept, places, .. } = self;
        nearby.clear();
        let mut is_busy = false;
        places.around(at, reach, |k| {
            let Some(kept) = &kept[k as usize] else { return };
            if kept.here.distance_squared(at) <= reach * reach {
                is_busy |= kept.slot != NONE;
                nearby.extend(Some(*kept).filter(|kept| !kept.is_known));
            }
        });
        nearby.sort_unstable_by_key(|k| k.number);
        is_busy
    }

    pub(super) fn keep(&mut self, transmission: Kept) -> u32 {
        let k = self.free.pop().unwrap_or_else(|| {
            self.kept.push(None);
            self.kept.len() as u32 - 1
        });
        self.kept[k as usize] = Some(transmission);
        self.places.put(k, transmission.here);
        k
    }

    /// A transmission's last bit has left its sender.
    pub(super) fn end(&mut self, k: u32) {
        if let Some(kept) = &mut self.kept[k as usize] {
            kept.slot = NONE;
            self.old_on_air -= u32::from(kept.number < self.renewed_at);
            if kept.is_known {
                self.places.remove(k, kept.here);
                self.kept[k as usize] = None;
                self.free.push(k);
                return;
            }
            let matters_for = self.way_and_difs + self.eifs.max(kept.reserved);
            self.over.push(Reverse((kept.from + kept.airtime + matters_for, k)));
        }
    }

    /// Drops what is over and does not matter any more.
    pub(super) fn forget_until(&mut self, now: Time) {
        let now = now.min(self.earliest);
        while let Some(&Reverse((until, k))) = self.over.peek()
            && until < now
        {
            self.over.pop();
            if let Some(kept) = self.kept[k as usize].take() {
                self.places.remove(k, kept.here);
            }
            self.free.push(k);
        }
    }

    /// Everybody has been notified of everything, and the grid of stations is a new one.
    pub(super) fn settled(&mut self, neighbours: &Neighbours, phy_states: &[PhyState]) {
        for Reverse((_, k)) in self.over.drain() {
            self.kept[k as usize] = None;
            self.free.push(k);
        }
        self.renewed_at = self.next;
        self.old_on_air = 0;
        let sensed_m = neighbours.sensed_within_m();
        self.places.clear(neighbours.layout().in_cells_of(2.0 * sensed_m));
        for (k, kept) in (0..).zip(&self.kept) {
            if let Some(kept) = kept {
                self.old_on_air += 1;
                self.places.put(k, kept.here);
            }
        }
        self.contending.clear(neighbours.layout().in_cells_of(sensed_m));
        let contends = |s: &PhyState| s.backoff != Backoff::Off;
        for (i, _) in phy_states.iter().enumerate().filter(|(_, s)| contends(s)) {
            self.contending.put(i as u32, neighbours.places()[i]);
        }
    }

    /// Numbers are used up: begins with them again. Everybody must have been notified of everything.
    #[cold]
    pub(super) fn restart_numbers(&mut self, phy_states: &mut [PhyState]) {
        self.kept.iter_mut().flatten().for_each(|k| k.number = 0);
        for s in phy_states {
            s.told = 1;
        }
        (self.next, self.renewed_at) = (1, 1);
        self.old_on_air = self.kept.iter().flatten().filter(|k| k.slot != NONE).count() as u32;
    }
}
