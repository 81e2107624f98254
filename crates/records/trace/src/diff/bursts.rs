//! Losses by time.

use std::collections::BTreeMap;

use super::matching::Difference;

/// The packets of a stretch of time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its beginning, nanoseconds since the sender's epoch.
    pub start_ns: u64,
    /// Packets sent.
    pub sent: usize,
    /// Of these, packets that were not received.
    pub lost: usize,
}

/// Windows in a row that each hold more than their share of the losses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Its beginning, nanoseconds since the sender's epoch.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Packets sent.
    pub sent: usize,
    /// Of these, packets that were not received.
    pub lost: usize,
    /// The mean time of the losses, nanoseconds since the sender's epoch.
    pub centre_ns: u64,
}

/// Losses in windows of `width_ns` (at least 1) from the first packet on. Windows in which nothing was sent are left out.
pub fn windows(d: &Difference, width_ns: u64) -> Vec<Window> {
    let width = width_ns.max(1);
    let begin = d.begins_ns();
    let mut windows: BTreeMap<u64, Window> = BTreeMap::new();
    for s in &d.sent {
        let start_ns = begin + (s.time_ns - begin) / width * width;
        let w = windows.entry(start_ns).or_insert(Window { start_ns, sent: 0, lost: 0 });
        w.sent += 1;
        w.lost += usize::from(!s.received);
    }
    windows.into_values().collect()
}

/// The windows with more than `share` (0 to 1) of all losses, those that follow one another taken together.
pub fn bursts(d: &Difference, width_ns: u64, share: f64) -> Vec<Burst> {
    let width = width_ns.max(1);
    let line = share * d.lost() as f64;
    let mut bursts: Vec<Burst> = Vec::new();
    for w in windows(d, width).iter().filter(|w| w.lost > 0 && w.lost as f64 > line) {
        let to_ns = w.start_ns.saturating_add(width);
        match bursts.last_mut().filter(|b| b.to_ns == w.start_ns) {
            Some(b) => {
                b.to_ns = to_ns;
                b.sent += w.sent;
                b.lost += w.lost;
            }
            None => {
                bursts.push(Burst { from_ns: w.start_ns, to_ns, sent: w.sent, lost: w.lost, centre_ns: 0 });
            }
        }
    }
    for b in &mut bursts {
        let from = d.sent.partition_point(|s| s.time_ns < b.from_ns);
        let to = d.sent.partition_point(|s| s.time_ns < b.to_ns);
        let after: u128 =
            d.sent[from..to].iter().filter(|s| !s.received).map(|s| u128::from(s.time_ns - b.from_ns)).sum();
        b.centre_ns = b.from_ns + (after / b.lost as u128) as u64;
    }
    bursts
}
