//! The rates of unicast data frames, chosen per neighbour by the outcome of earlier ones.
//!
//! Random values are drawn by (seed, sender, receiver, number of the packet): nothing depends on the order of events
//! elsewhere.

mod arf;
mod minstrel;

use rustc_hash::FxHashMap;
use wayhop_core::{Purpose, Time, draw};

use crate::config::{RadioConfig, RateControl};
use crate::phy::Phy;
use arf::Arf;
use minstrel::{Airtimes, Minstrel};

/// The rate controls of all stations.
#[derive(Debug)]
pub(crate) struct Rates {
    seed: u64,
    /// Ascending, Mb/s.
    mbps: Vec<f64>,
    airtimes: Airtimes,
    kind: RateControl,
    /// By (sender, receiver).
    links: FxHashMap<(u32, u32), NeighbourRates>,
}

/// A sender's view of one neighbour.
#[derive(Debug)]
enum NeighbourRates {
    Arf(Arf),
    Minstrel(Minstrel),
}

impl NeighbourRates {
    fn new(kind: RateControl, rates: usize) -> Self {
        match kind {
            RateControl::Minstrel => Self::Minstrel(Minstrel::new(rates)),
            RateControl::Arf | RateControl::Fixed => Self::Arf(Arf::new(rates)),
        }
    }
}

impl Rates {
    /// `None` for a fixed rate: most radios have that, and pay nothing.
    pub(crate) fn new(c: &RadioConfig, phy: &Phy, seed: u64) -> Option<Box<Self>> {
        if c.rate_control == RateControl::Fixed {
            return None;
        }
        let not_above = c.phy.rates().iter().copied().filter(|r| *r <= c.data_rate_mbps);
        let mbps: Vec<f64> = not_above.collect();
        let airtimes = Airtimes::new(phy, &mbps);
        Some(Box::new(Self { seed, mbps, airtimes, kind: c.rate_control, links: FxHashMap::default() }))
    }

    fn link(&mut self, from: u32, to: u32) -> &mut NeighbourRates {
        let (kind, rates) = (self.kind, self.mbps.len());
        self.links.entry((from, to)).or_insert_with(|| NeighbourRates::new(kind, rates))
    }

    /// A packet becomes the one that is sent next.
    pub(crate) fn begin(&mut self, now: Time, from: u32, to: u32) {
        let (kind, rates, seed) = (self.kind, self.mbps.len(), self.seed);
        let link = self.links.entry((from, to)).or_insert_with(|| NeighbourRates::new(kind, rates));
        if let NeighbourRates::Minstrel(m) = link {
            let key = |n| [u64::from(from), u64::from(to), n];
            m.begin(now, &self.airtimes, |n| draw(seed, Purpose::RateControl, key(n)));
        }
    }

    /// The rate of the packet's next frame, which was sent so often before, Mb/s.
    pub(crate) fn rate_mbps(&mut self, from: u32, to: u32, failures: u8) -> f64 {
        let i = match self.link(from, to) {
            NeighbourRates::Arf(a) => a.rate(),
            NeighbourRates::Minstrel(m) => m.rate(failures),
        };
        self.mbps[i]
    }

    /// What became of that frame.
    pub(crate) fn report(&mut self, from: u32, to: u32, failures: u8, acknowledged: bool) {
        match self.link(from, to) {
            NeighbourRates::Arf(a) => a.report(acknowledged),
            NeighbourRates::Minstrel(m) => m.report(failures, acknowledged),
        }
    }
}
