//! The macfilter: frames of ignored transmitters reach neither the node nor, where the kernel
//! forwards, the kernel.

use std::collections::BTreeMap;

use wayhop_core::{Mac, Time};
use wayhop_scenario::Ignores;

use crate::config::plan::{MacFilterPlan, OwnNames};

/// Octets of an Ethernet header in which the transmitter's address is.
const TRANSMITTER: std::ops::Range<usize> = 6..12;

/// Whom the node ignores.
pub(crate) struct MacFilter {
    /// Link addresses that the file names: the kernel's filter has room for them.
    pub(crate) cards: Vec<Mac>,
    /// By what orders about links name this node; `None` without a macfilter.
    pub(crate) own: Option<OwnNames>,
    /// What is to come, the next one last.
    steps: Vec<Ignores>,
    /// By the file.
    filed: Vec<Mac>,
    /// By order of the control socket, which outdoes the file: whether the node hears this one.
    told: BTreeMap<Mac, bool>,
    is_told: bool,
    ignored: Vec<Mac>,
}

impl MacFilter {
    pub(crate) fn new(plan: MacFilterPlan) -> Self {
        let MacFilterPlan { ignores: mut steps, cards, own } = plan;
        steps.reverse();
        let (filed, told, is_told, ignored) = (Vec::new(), BTreeMap::new(), false, Vec::new());
        Self { cards, own, steps, filed, told, is_told, ignored }
    }

    /// When the next change is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.steps.last().map(|s| s.at)
    }

    /// Makes the changes that are due. Returns whom the node ignores now, if it was others.
    pub(crate) fn run_due(&mut self, now: Time) -> Option<&[Mac]> {
        let mut is_due = std::mem::take(&mut self.is_told);
        while self.next().is_some_and(|at| at <= now) {
            if let Some(step) = self.steps.pop() {
                self.filed = step.from;
                is_due = true;
            }
        }
        if !is_due {
            return None;
        }
        let filed = self.filed.iter().copied().filter(|m| !self.told.contains_key(m));
        let told = self.told.iter().filter(|(_, hears)| !**hears).map(|(m, _)| *m);
        let ignored: Vec<Mac> = filed.chain(told).collect();
        let changed = ignored != self.ignored;
        self.ignored = ignored;
        changed.then_some(&self.ignored)
    }

    /// Has the node hear this one or not, or (`None`) as the file says. It counts from the next [`MacFilter::run_due`] on.
    pub(crate) fn tell(&mut self, from: Mac, hears: Option<bool>) {
        match hears {
            Some(hears) => self.told.insert(from, hears),
            None => self.told.remove(&from),
        };
        self.is_told = true;
    }

    /// Whether a frame's transmitter is ignored.
    pub(crate) fn ignores(&self, frame: &[u8]) -> bool {
        // Nearly always there is nobody.
        !self.ignored.is_empty()
            && frame.get(TRANSMITTER).is_some_and(|from| self.ignored.iter().any(|m| m.0 == from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mac(n: u8) -> Mac {
        Mac([2, 0, 10, 0, 0, n])
    }

    fn filter(ignores: Vec<Ignores>) -> MacFilter {
        MacFilter::new(MacFilterPlan { ignores, cards: Vec::new(), own: None })
    }

    fn step(s: f64, from: &[u8]) -> Ignores {
        Ignores { at: Time::from_secs_f64(s), node: 0, from: from.iter().copied().map(mac).collect() }
    }

    fn frame(from: u8) -> Vec<u8> {
        [&[0xff; 6][..], &mac(from).0, &[8, 0]].concat()
    }

    #[test]
    fn each_step_says_all_that_is_ignored_from_then_on() {
        let mut f = filter(vec![step(0.0, &[]), step(1.0, &[1, 2]), step(2.5, &[2]), step(3.0, &[2])]);
        assert_eq!(f.run_due(Time::ZERO), None, "nobody, as before");
        assert_eq!(f.next(), Some(Time::from_secs_f64(1.0)));
        assert_eq!(f.run_due(Time::from_secs_f64(1.0)), Some(&[mac(1), mac(2)][..]));
        assert!(f.ignores(&frame(1)) && f.ignores(&frame(2)) && !f.ignores(&frame(3)));
        // One that was due long ago counts, as on a host that slept.
        assert_eq!(f.run_due(Time::from_secs_f64(9.0)), Some(&[mac(2)][..]));
        assert!(!f.ignores(&frame(1)) && f.ignores(&frame(2)));
        assert_eq!(f.next(), None);
    }

    #[test]
    fn an_order_outdoes_the_file_until_it_is_taken_back() {
        let mut f = filter(vec![step(0.0, &[1]), step(5.0, &[1, 2])]);
        f.run_due(Time::ZERO);
        f.tell(mac(1), Some(true));
        f.tell(mac(3), Some(false));
        assert_eq!(f.run_due(Time::from_secs_f64(1.0)), Some(&[mac(3)][..]));
        assert_eq!(f.run_due(Time::from_secs_f64(6.0)), Some(&[mac(2), mac(3)][..]));
        f.tell(mac(1), None);
        f.tell(mac(3), None);
        assert_eq!(f.run_due(Time::from_secs_f64(7.0)), Some(&[mac(1), mac(2)][..]));
    }

    #[test]
    fn a_frame_that_is_too_short_has_no_transmitter() {
        let mut f = filter(vec![step(0.0, &[1])]);
        f.run_due(Time::ZERO);
        assert!(!f.ignores(&frame(1)[..11]) && !f.ignores(&[]));
    }
}
