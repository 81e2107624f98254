//! What the MULE and a station exchange each time it passes.

use std::collections::BTreeMap;

use wayhop_core::{NodeId, Span, Time};
use wayhop_report::{mean, standard_deviation};
use wayhop_trace::{ContactEvent, Observer, Summary};

/// Contacts with one station this close to each other are of one pass: the radio lost the neighbour and found it again.
const ONE_PASS: Span = Span::from_secs(60);

/// The first lap does not count: the sources have not made enough yet to fill a contact.
const FIRST_LAP: Time = Time::from_nanos(300_000_000_000);

#[derive(Copy, Clone, Debug, PartialEq)]
struct Pass {
    from: Time,
    until: Time,
    octets: u64,
    contacts: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Passes {
    mule: NodeId,
    end: Time,
    by_station: BTreeMap<u32, Vec<Pass>>,
}

impl Passes {
    /// Of a run until `end` in which this node is the MULE.
    pub(crate) fn new(mule: NodeId, end: Time) -> Self {
        Self { mule, end, by_station: BTreeMap::new() }
    }

    /// The passes from the second lap on that the run's end did not cut short, by station.
    fn whole(&self) -> impl Iterator<Item = Vec<Pass>> {
        let is_whole = |p: &&Pass| p.from >= FIRST_LAP && p.until < self.end;
        self.by_station.values().map(move |passes| passes.iter().filter(is_whole).copied().collect())
    }

    pub(crate) fn closed(&self, summary: &Summary) -> MuleRun {
        let all: Vec<Pass> = self.whole().flatten().collect();
        let bundles = summary.bundles.as_ref();
        MuleRun {
            kbytes: all.iter().map(|p| p.octets as f64 / 1e3).collect(),
            variation_pct: variation_pct(&self.whole().collect::<Vec<_>>()),
            contacts: mean(&all.iter().map(|p| p.contacts as f64).collect::<Vec<_>>()),
            delivery_pct: bundles.and_then(|b| b.delivery_ratio).map(|r| 100.0 * r),
            delay_s: bundles.and_then(|b| b.delay_s).map(|d| d.mean),
            delay_p95_s: bundles.and_then(|b| b.delay_s).map(|d| d.p95),
        }
    }
}

impl Observer for Passes {
    fn contact(&mut self, e: &ContactEvent) {
        if e.node != self.mule {
            return;
        }
        let octets = e.sent_bytes + e.received_bytes;
        let passes = self.by_station.entry(e.peer.0).or_default();
        match passes.last_mut() {
            Some(last) if e.from < last.until + ONE_PASS => {
                last.until = e.time;
                last.octets += octets;
                last.contacts += 1;
            }
            _ => passes.push(Pass { from: e.from, until: e.time, octets, contacts: 1 }),
        }
    }
}

/// The coefficient of variation of the octets of passes at the same station, %: the root of the mean of its squares over the
/// stations. The stations themselves do not count: one nearer to the way has longer contacts.
fn variation_pct(by_station: &[Vec<Pass>]) -> Option<f64> {
    let of = |passes: &Vec<Pass>| {
        let octets: Vec<f64> = passes.iter().map(|p| p.octets as f64).collect();
        let mean = mean(&octets).filter(|m| *m > 0.0)?;
        Some((standard_deviation(&octets)? / mean).powi(2))
    };
    let squares: Vec<f64> = by_station.iter().filter_map(of).collect();
    mean(&squares).map(|m| 100.0 * m.sqrt())
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MuleRun {
    /// Of each pass, bundles that went whole one way or the other.
    pub(crate) kbytes: Vec<f64>,
    /// Over the passes of the same station.
    pub(crate) variation_pct: Option<f64>,
    /// Contacts in each pass, mean.
    pub(crate) contacts: Option<f64>,
    pub(crate) delivery_pct: Option<f64>,
    /// Mean over delivered bundles.
    pub(crate) delay_s: Option<f64>,
    pub(crate) delay_p95_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(node: u32, peer: u32, from_s: u64, until_s: u64, octets: u64) -> ContactEvent {
        let at = |s| Time::from_nanos(s * 1_000_000_000);
        ContactEvent {
            time: at(until_s),
            from: at(from_s),
            node: NodeId(node),
            peer: NodeId(peer),
            sent: 0,
            sent_bytes: 0,
            received: 1,
            received_bytes: octets,
        }
    }

    #[test]
    fn a_contact_that_breaks_and_comes_back_is_one_pass_and_each_is_counted_at_one_end() {
        let mut passes = Passes::new(NodeId(4), Time::from_nanos(1_000_000_000_000));
        for e in [
            // In the first lap.
            contact(4, 0, 1, 20, 9_999),
            contact(4, 0, 400, 420, 1_000),
            contact(0, 4, 400, 420, 1_000),
            contact(4, 0, 430, 450, 2_000),
            contact(4, 0, 600, 640, 5_000),
            contact(4, 1, 310, 340, 7_000),
            contact(4, 1, 700, 740, 7_000),
            // Cut short by its end.
            contact(4, 0, 990, 1_000, 10),
        ] {
            passes.contact(&e);
        }
        let run = passes.closed(&Summary::default());
        assert_eq!(run.kbytes, [3.0, 5.0, 7.0, 7.0]);
        assert_eq!(run.contacts, Some(1.25));
        // Station 0: mean 4, deviation sqrt(2); station 1: none. The root of the mean of 2/16 and 0 is 1/4.
        assert!((run.variation_pct.unwrap() - 25.0).abs() < 1e-9, "{:?}", run.variation_pct);
        assert_eq!((run.delivery_pct, run.delay_s), (None, None));
    }
}
