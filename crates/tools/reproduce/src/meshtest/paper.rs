//! The paper's numbers.

use super::plan::Transport;
use crate::table::cell;

const PROBABILITIES: &str = include_str!("../../data/meshtest/probabilities.csv");

pub(crate) const RUNS: u64 = 100;

/// The share of a window in which anything arrived (section IV-B on Figures 7 and 8).
pub(crate) fn probability(window: &str, transport: Transport) -> Option<f64> {
    cell(PROBABILITIES, window, if transport == Transport::Udp { "udp" } else { "tcp" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_as_printed() {
        assert_eq!(probability("walk-away 198 s", Transport::Udp), Some(0.5));
        assert_eq!(probability("walk-away 198 s", Transport::Tcp), Some(0.03));
        assert_eq!(probability("walk-away 248 s", Transport::Udp), Some(0.07));
        assert_eq!(probability("drive-by 150 s", Transport::Udp), Some(0.0));
        assert_eq!(probability("drive-by 200 s", Transport::Udp), None);
    }
}
