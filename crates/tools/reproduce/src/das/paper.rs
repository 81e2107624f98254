//! The paper's numbers.

use crate::table::cell;

const CARDS: &str = include_str!("../../data/das/cards.csv");
const DISCOVERY: &str = include_str!("../../data/das/discovery.csv");
const UDP_3_HOPS: &str = include_str!("../../data/das/udp_3_hops.csv");
const UDP_4_HOPS: &str = include_str!("../../data/das/udp_4_hops.csv");
pub(crate) const FTP: &str = include_str!("../../data/das/ftp.csv");

pub(crate) fn card(quantity: &str, card: &str) -> Option<f64> {
    cell(CARDS, quantity, card)
}

/// Table 2 (without load) or 3 (with load): the mean latency, ms, and half of its interval, % of the mean.
pub(crate) fn discovery(hops: usize, loaded: bool) -> Option<[f64; 2]> {
    let load = if loaded { "udp_0.6Mbps" } else { "none" };
    let numbers = DISCOVERY.lines().find_map(|l| l.strip_prefix(&format!("{hops},{load},")))?;
    let (mean, half) = numbers.split_once(',')?;
    Some([mean.parse().ok()?, 100.0 * half.parse::<f64>().ok()?])
}

/// Table 4 or 5, in the row of this load in tenths of a Mb/s; `column` is `received_pct`, `node1`, `link12`, ...
pub(crate) fn udp(hops: usize, tenths: u32, column: &str) -> Option<f64> {
    let table = match hops {
        3 => UDP_3_HOPS,
        4 => UDP_4_HOPS,
        _ => return None,
    };
    cell(table, &format!("0.{tenths}"), column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_printed() {
        assert_eq!(card("send_mbps", "pcmcia"), Some(1.2));
        assert_eq!(discovery(4, false).map(|d| d[0]), Some(14.14));
        assert_eq!(discovery(3, true), Some([476.0, 31.0]));
        assert_eq!(udp(3, 4, "link12"), Some(18.02));
        assert_eq!(udp(4, 9, "received_pct"), Some(26.28));
        assert_eq!((udp(2, 4, "link12"), udp(3, 4, "link45"), discovery(5, true)), (None, None, None));
    }

    #[test]
    fn the_shares_of_each_load_make_a_whole() {
        // To 100 within the paper's rounding; at 0.6 and 0.7 Mb/s over four hops two in a hundred packets are missing.
        for (hops, columns) in [
            (3, &["node1", "link12", "node2", "link23", "node3", "link34"][..]),
            (4, &["node1", "link12", "node2", "link23", "node3", "link34", "node4", "link45"]),
        ] {
            for tenths in 1..=9 {
                let lost: f64 = columns.iter().map(|c| udp(hops, tenths, c).unwrap()).sum();
                let sum = lost + udp(hops, tenths, "received_pct").unwrap();
                let room = if hops == 4 && matches!(tenths, 6 | 7) { 2.5 } else { 0.6 };
                assert!((sum - 100.0).abs() < room, "{hops} hops, 0.{tenths} Mb/s: {sum}");
            }
        }
    }
}
