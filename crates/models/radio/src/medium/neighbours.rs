//! Who may hear whom: a grid over the stations, and for each station that transmits often a list of those near enough.
//!
//! Lists are built for a range plus a margin, and stay valid until a station may have moved by half the
//! margin (Verlet 1967). So the cost of a transmission depends on the stations nearby, not on all. A station that transmits once
//! until then has no use for a list: its neighbours are taken from the grid, and a network of a million such stations needs no memory for
//! lists.

use wayhop_core::{Position, Time};

use super::layout::Layout;
use super::legs::Legs;
use crate::host::Motions;

pub(crate) struct Neighbours {
    /// How far a frame is sensed, metres.
    range_m: f64,
    /// How far the lists go, without the margin, metres.
    list_range_m: f64,
    margin_m: f64,
    /// The lists and the grid are right until then.
    until: Time,
    epoch: u32,
    /// Stations are not on the legs that they were on.
    forgotten: bool,
    /// By station, once it has transmitted.
    lists: Vec<Option<Box<Lists>>>,
    /// What the grid gave last, for reuse.
    found: Vec<u32>,
    grid: Grid,
    /// Where each station was when the grid was made.
    places: Vec<Position>,
    /// By station, whether it has this radio at all; `None` if all do.
    pub(crate) members: Option<Vec<bool>>,
}

/// Those of one station.
#[derive(Default)]
struct Lists {
    near: List,
    everyone: List,
}

#[derive(Default)]
struct List {
    /// The epoch in which the list was last asked for, and the one in which it was made.
    asked: u32,
    made: u32,
    stations: Box<[u32]>,
}

/// Stations sorted by square cell.
#[derive(Default)]
struct Grid {
    layout: Layout,
    /// For each cell, where its stations begin in `stations`; one more at the end.
    starts: Vec<u32>,
    stations: Vec<u32>,
    /// Where each of `stations` was, x and y, in the same order.
    places: Vec<[f64; 2]>,
}

/// Share of the range by which lists reach farther.
const MARGIN: f64 = 0.1;

impl Neighbours {
    pub(crate) fn new(stations: usize, range_m: f64) -> Self {
        Self {
            range_m,
            list_range_m: range_m,
            margin_m: range_m * MARGIN,
            until: Time::ZERO,
            epoch: 0,
            forgotten: false,
            lists: (0..stations).map(|_| None).collect(),
            found: Vec::new(),
            grid: Grid::default(),
            places: vec![Position::default(); stations],
            members: None,
        }
    }

    /// The lists of [`Neighbours::near`] have only the stations within this range from now on, metres.
    pub(super) fn list_within(&mut self, range_m: f64) {
        self.list_range_m = range_m;
        // The first epoch is 1.
        for lists in self.lists.iter_mut().flatten() {
            lists.near.made = 0;
        }
    }

    /// The lists of [`Neighbours::near`] have all stations that may sense a frame from now on.
    pub(super) fn list_everyone(&mut self) {
        self.list_within(self.range_m);
    }

    /// Whether the grid is out of date.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        now >= self.until || self.epoch == 0
    }

    /// Makes the grid again.
    pub(crate) fn renew(&mut self, now: Time, legs: &mut Legs, motions: &mut impl Motions) {
        if std::mem::take(&mut self.forgotten) {
            legs.forget();
        }
        for (i, place) in (0..).zip(&mut self.places) {
            *place = legs.place(i, now, motions);
        }
        let cell_m = f64::midpoint(self.range_m, self.margin_m);
        self.grid.fill(&self.places, cell_m, self.members.as_deref());
        self.epoch += 1;
        self.until = motions.settled_until(now, self.margin_m / 2.0);
    }

    /// What was known of places is wrong.
    pub(crate) fn forget(&mut self) {
        self.until = Time::ZERO;
        self.forgotten = true;
    }

    /// The stations that may be within the range of the lists, in the order of the grid, which must not be due.
    pub(crate) fn near(&mut self, station: u32) -> &[u32] {
        let reach = self.list_range_m + self.margin_m;
        let list = &mut self.lists[station as usize].get_or_insert_default().near;
        list.get(station, self.epoch, &self.grid, self.places[station as usize], reach, &mut self.found)
    }

    /// All stations that may sense `station`, in the same order.
    pub(super) fn everyone_near(&mut self, station: u32) -> &[u32] {
        let reach = self.range_m + self.margin_m;
        let list = &mut self.lists[station as usize].get_or_insert_default().everyone;
        list.get(station, self.epoch, &self.grid, self.places[station as usize], reach, &mut self.found)
    }

    /// Appends the stations that were within `reach` metres of a place.
    pub(super) fn around(&self, at: Position, reach: f64, out: &mut Vec<u32>) {
        self.grid.near(at, reach, out);
    }

    /// Whether there is a station of this number with this radio.
    pub(super) fn has_radio(&self, station: u32) -> bool {
        let i = station as usize;
        i < self.places.len() && self.members.as_ref().is_none_or(|m| m[i])
    }
    /// Within how many metres of a sender's place when the grid was made those stations were that decode what it sends, and those that
    /// sense it.
    pub(crate) fn reach_m(&self) -> (f64, f64) {
        // A hair more is for rounding.
        let was_within = |m: f64| (m + self.margin_m) * 1.000_001;
        (was_within(self.list_range_m), was_within(self.range_m))
    }
    /// Where a station was when the grid was made.
    pub(crate) fn place(&self, station: u32) -> Position {
        self.places[station as usize]
    }
    pub(super) fn places(&self) -> &[Position] {
        &self.places
    }
    pub(super) fn layout(&self) -> &Layout {
        &self.grid.layout
    }
    /// A station that senses a frame was not farther than this, metres, from its sender's place when the grid was made.
    pub(super) fn sensed_within_m(&self) -> f64 {
        // Half the margin is for the station; a hair more is for rounding.
        (self.range_m + self.margin_m / 2.0) * 1.000_001
    }
}

impl List {
    /// The list of a station; what the grid finds for it, when it is asked for the first time in an epoch.
    fn get<'a>(
        &'a mut self,
        station: u32,
        epoch: u32,
        grid: &Grid,
        at: Position,
        reach: f64,
        found: &'a mut Vec<u32>,
    ) -> &'a [u32] {
        if self.made != epoch {
            found.clear();
            grid.near(at, reach, found);
            // Its own number is among them, unless it has no radio.
            if let Some(at) = found.iter().position(|&i| i == station) {
                found.remove(at);
            }
            if std::mem::replace(&mut self.asked, epoch) != epoch {
                return found;
            }
            self.made = epoch;
            // There may be many lists: each takes only the memory that it needs.
            self.stations = found.as_slice().into();
        }
        &self.stations
    }
}

impl Grid {
    fn fill(&mut self, places: &[Position], cell_m: f64, members: Option<&[bool]>) {
        self.layout = Layout::over(places, cell_m);
        self.starts.clear();
        self.starts.resize(self.layout.cells() + 1, 0);
        let has_radio = |i: usize| members.is_none_or(|m| m[i]);
        for (_, p) in places.iter().enumerate().filter(|(i, _)| has_radio(*i)) {
            self.starts[self.layout.cell(*p)] += 1;
        }
        let mut end = 0;
        for s in &mut self.starts {
            end += *s;
            *s = end;
        }
        self.stations.resize(end as usize, 0);
        self.places.resize(end as usize, [0.0; 2]);
        for (i, p) in places.iter().enumerate().rev().filter(|(i, _)| has_radio(*i)) {
            let start = &mut self.starts[self.layout.cell(*p)];
            *start -= 1;
            self.stations[*start as usize] = i as u32;
            self.places[*start as usize] = [p.x, p.y];
        }
    }

    /// Appends the stations within `reach` metres of `at`, heights aside.
    fn near(&self, at: Position, reach: f64, out: &mut Vec<u32>) {
        for row in self.layout.rows_of(&self.layout.around(at, reach)) {
            let row = self.starts[row.start] as usize..self.starts[row.end] as usize;
            // About half of these stations are in reach, in no order that the processor could predict. So all are written, without a
            // branch, and one that is not in reach is overwritten by the next.
            let mut len = out.len();
            out.resize(len + row.len(), 0);
            for (station, place) in self.stations[row.clone()].iter().zip(&self.places[row]) {
                out[len] = *station;
                len += usize::from(squared_m2(*place, at) <= reach * reach);
            }
            out.truncate(len);
        }
    }
}

/// The square of the distance of two places on the ground.
#[inline]
fn squared_m2([x, y]: [f64; 2], at: Position) -> f64 {
    let (x, y) = (x - at.x, y - at.y);
    x * x + y * y
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{Leg, Purpose, stream};

    /// Stations that rest at these places.
    struct Still<'a>(&'a [Position]);
    impl Motions for Still<'_> {
        fn leg(&mut self, station: u32, _: Time) -> Leg {
            Leg::at_rest(self.0[station as usize])
        }
        fn settled_until(&mut self, _: Time, _: f64) -> Time {
            Time::NEVER
        }
    }

    #[test]
    fn lists_hold_exactly_those_in_reach() {
        let mut r = stream(5, Purpose::Mobility, 0);
        for (n, size) in [(1usize, 10.0), (40, 1500.0), (300, 5000.0), (50, 1e6)] {
            let places: Vec<Position> =
                (0..n).map(|_| Position::new(r.range(-size, size), r.range(0.0, size), 0.0)).collect();
            let mut legs = Legs::new(n);
            let mut nb = Neighbours::new(n, 550.0);
            for s in 0..n {
                if nb.is_due(Time::ZERO) {
                    nb.renew(Time::ZERO, &mut legs, &mut Still(&places));
                }
                let expect: Vec<u32> = (0..n)
                    .filter(|&i| i != s && places[i].distance(places[s]) <= 605.0)
                    .map(|i| i as u32)
                    .collect();
                // From the grid, then from a list that is made, then from the list.
                for _ in 0..3 {
                    let mut near = nb.near(s as u32).to_vec();
                    near.sort_unstable();
                    assert_eq!(near, expect);
                }
            }
        }
    }
}
