//! Who may hear whom: a grid over the stations, and for each station that transmits a list of those near enough.
//!
//! Lists are built for the range plus a margin, and stay valid until a station may have moved by half the
//! margin (Verlet 1967). So the cost of a transmission depends on the stations nearby, not on all.

use wayhop_core::{Leg, Position, Time};

use crate::host::Motions;

pub(crate) struct Neighbours {
    range_m: f64,
    margin_m: f64,
    /// The lists and the grid are right until then.
    until: Time,
    epoch: u32,
    lists: Vec<List>,
    grid: Grid,
    /// Where each station was when the grid was made.
    places: Vec<Position>,
    /// By station, whether it has this radio at all; `None` if all do.
    pub(crate) members: Option<Vec<bool>>,
}

#[derive(Default)]
struct List {
    epoch: u32,
    near: Vec<u32>,
}

/// Stations sorted by square cell.
#[derive(Default)]
struct Grid {
    cell_m: f64,
    origin: (f64, f64),
    columns: usize,
    rows: usize,
    /// For each cell, where its stations begin in `stations`; one more at the end.
    starts: Vec<u32>,
    stations: Vec<u32>,
}

/// Share of the range by which lists reach farther.
const MARGIN: f64 = 0.1;

impl Neighbours {
    pub(crate) fn new(stations: usize, range_m: f64) -> Self {
        Self {
            range_m,
            margin_m: range_m * MARGIN,
            until: Time::ZERO,
            epoch: 0,
            lists: (0..stations).map(|_| List::default()).collect(),
            grid: Grid::default(),
            places: vec![Position::default(); stations],
            members: None,
        }
    }

    /// Makes sure that `station`'s list is right at `now`.
    pub(crate) fn refresh(&mut self, now: Time, station: u32, legs: &mut [Leg], motions: &mut impl Motions) {
        if now >= self.until || self.epoch == 0 {
            for (i, leg) in legs.iter_mut().enumerate() {
                if now >= leg.until {
                    *leg = motions.leg(i as u32, now);
                }
                self.places[i] = leg.position(now);
            }
            self.grid.fill(&self.places, f64::midpoint(self.range_m, self.margin_m));
            self.epoch += 1;
            self.until = motions.settled_until(now, self.margin_m / 2.0);
        }
        let list = &mut self.lists[station as usize];
        if list.epoch != self.epoch {
            list.epoch = self.epoch;
            list.near.clear();
            let reach = self.range_m + self.margin_m;
            self.grid.near(self.places[station as usize], reach, &self.places, &mut list.near);
            let has_radio = |i: u32| self.members.as_ref().is_none_or(|m| m[i as usize]);
            list.near.retain(|&i| i != station && has_radio(i));
        }
    }

    /// What was known of places is wrong.
    pub(crate) fn forget(&mut self) {
        self.until = Time::ZERO;
    }

    /// The stations that may be in range of `station`. Call `refresh` first.
    pub(crate) fn near(&self, station: u32) -> &[u32] {
        &self.lists[station as usize].near
    }
}

impl Grid {
    fn fill(&mut self, places: &[Position], cell_m: f64) {
        let low = |f: fn(&Position) -> f64| places.iter().map(f).fold(f64::INFINITY, f64::min);
        let high = |f: fn(&Position) -> f64| places.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
        self.origin = (low(|p| p.x), low(|p| p.y));
        let (width, height) = (high(|p| p.x) - self.origin.0, high(|p| p.y) - self.origin.1);
        // Never more cells than a few per station, however far apart the stations are.
        let limit = (places.len() as f64).sqrt().ceil().max(1.0) * 2.0;
        self.cell_m = cell_m.max(width / limit).max(height / limit);
        self.columns = (width / self.cell_m) as usize + 1;
        self.rows = (height / self.cell_m) as usize + 1;
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        for p in places {
            let c = self.cell(*p);
            self.starts[c] += 1;
        }
        let mut end = 0;
        for s in &mut self.starts {
            end += *s;
            *s = end;
        }
        self.stations.resize(places.len(), 0);
        for (i, p) in places.iter().enumerate().rev() {
            let c = self.cell(*p);
            self.starts[c] -= 1;
            self.stations[self.starts[c] as usize] = i as u32;
        }
    }

    fn column(&self, x: f64) -> usize {
        (((x - self.origin.0) / self.cell_m) as usize).min(self.columns - 1)
    }
    fn row(&self, y: f64) -> usize {
        (((y - self.origin.1) / self.cell_m) as usize).min(self.rows - 1)
    }
    fn cell(&self, p: Position) -> usize {
        self.row(p.y) * self.columns + self.column(p.x)
    }

    /// Appends the stations within `reach` metres of `at`.
    fn near(&self, at: Position, reach: f64, places: &[Position], out: &mut Vec<u32>) {
        let columns = self.column(at.x - reach)..=self.column(at.x + reach);
        for row in self.row(at.y - reach)..=self.row(at.y + reach) {
            let first = self.starts[row * self.columns + columns.start()] as usize;
            let last = self.starts[row * self.columns + columns.end() + 1] as usize;
            out.extend(
                self.stations[first..last]
                    .iter()
                    .filter(|&&i| places[i as usize].distance_squared(at) <= reach * reach),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{Purpose, stream};

    struct Still;
    impl Motions for Still {
        fn leg(&mut self, _: u32, _: Time) -> Leg {
            unreachable!("stations at rest have one leg")
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
            let mut legs: Vec<Leg> = places.iter().map(|&p| Leg::at_rest(p)).collect();
            let mut nb = Neighbours::new(n, 550.0);
            for s in 0..n {
                nb.refresh(Time::ZERO, s as u32, &mut legs, &mut Still);
                let expect: Vec<u32> = (0..n)
                    .filter(|&i| i != s && places[i].distance(places[s]) <= 605.0)
                    .map(|i| i as u32)
                    .collect();
                let mut near = nb.near(s as u32).to_vec();
                near.sort_unstable();
                assert_eq!(near, expect);
            }
        }
    }
}
