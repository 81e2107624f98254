//! Where the stations are.

use wayhop_core::{Leg, Position, Time};

use crate::host::Motions;

/// For each station the leg that it was on when its place was last asked for.
pub(crate) struct Legs(Vec<InLine>);

/// A leg in one cache line: nearly every transmission reads those of many stations, here and there in memory.
#[derive(Copy, Clone)]
#[repr(align(64))]
struct InLine(Leg);

const _: () = assert!(size_of::<InLine>() == 64, "one cache line");

/// Asked for before the first use: a leg that is over at once.
const UNKNOWN: InLine =
    InLine(Leg { until: Time::ZERO, ..Leg::at_rest(Position { x: 0.0, y: 0.0, z: 0.0 }) });

impl Legs {
    /// Those of this many stations.
    pub(super) fn new(stations: usize) -> Self {
        Self(vec![UNKNOWN; stations])
    }
    /// How many stations there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where a station is now.
    #[inline]
    pub(super) fn place(&mut self, station: u32, now: Time, motions: &mut impl Motions) -> Position {
        let InLine(leg) = &mut self.0[station as usize];
        if now >= leg.until {
            next_leg(leg, station, now, motions);
        }
        leg.position(now)
    }

    /// Where a station was a moment ago.
    #[inline]
    pub(super) fn place_then(&self, station: u32, then: Time, motions: &mut impl Motions) -> Position {
        let InLine(leg) = &self.0[station as usize];
        if leg.from <= then && then < leg.until {
            leg.position(then)
        } else {
            motions.leg(station, then).position(then)
        }
    }

    /// All legs are to be asked for again.
    pub(super) fn forget(&mut self) {
        self.0.fill(UNKNOWN);
    }
}

/// Apart, so that what is called for every station near stays small.
#[cold]
fn next_leg(leg: &mut Leg, station: u32, now: Time, motions: &mut impl Motions) {
    *leg = motions.leg(station, now);
}
