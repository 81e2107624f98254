//! The paper's numbers.

use wayhop_report::{Estimate, plain, standard_deviation, student_t95};
use wayhop_topology::ChainThroughput;

use crate::table::cell;

const PATTERNS: &str = include_str!("../../data/holland_vaidya/patterns.csv");
const CHAINS: &str = include_str!("../../data/holland_vaidya/chains.csv");
/// How many patterns the paper's means are over.
const COUNT: usize = 50;

/// The mean over the paper's patterns that Figure 3 prints for this column.
pub(crate) fn mean_of(column: &str) -> Option<f64> {
    cell(PATTERNS, "mean_of_50", column)
}

/// The legible cells of a column of Figure 3, pattern by pattern.
pub(crate) fn column(name: &str) -> Vec<f64> {
    let Some(at) = PATTERNS.lines().next().and_then(|l| l.split(',').position(|c| c == name)) else {
        return vec![];
    };
    let of_pattern = |l: &str| {
        let mut cells = l.split(',');
        cells.next()?.parse::<u32>().ok()?;
        cells.nth(at - 1)?.parse().ok()
    };
    PATTERNS.lines().skip(1).filter_map(of_pattern).collect()
}

/// The printed mean with the 95 % interval that sampling 50 patterns leaves it, from the spread of the legible rows.
fn estimate(name: &str) -> Option<Estimate> {
    let mean = mean_of(name)?;
    let half = student_t95(COUNT - 1) * standard_deviation(&column(name))? / (COUNT as f64).sqrt();
    Some(Estimate { mean, ci95: Some([mean - half, mean + half]), runs: COUNT })
}

/// [`estimate`] in a sentence; empty where there is none.
pub(crate) fn interval_in_words(column: &str) -> String {
    let Some(Estimate { mean, ci95: Some([low, high]), .. }) = estimate(column) else { return String::new() };
    let [mean, low, high] = [mean, low, high].map(plain);
    format!("The paper: {mean}, interval {low} to {high} from the spread of its patterns.")
}

/// Throughput of a chain with this number of hops, kb/s; beyond six, the paper's value for all longer ones.
pub(crate) fn chain_kbps(hops: usize) -> Option<f64> {
    let row = if hops <= 6 { hops.to_string() } else { ">6".to_owned() };
    cell(CHAINS, &row, "tcp_reno_kbps")
}

pub(crate) fn chains() -> Option<ChainThroughput> {
    ChainThroughput::parse(CHAINS).ok()
}

#[cfg(test)]
mod tests {
    use wayhop_report::mean;

    use super::*;

    #[test]
    fn the_legible_rows_have_about_the_printed_means() {
        for (name, tolerance) in
            [("path_changes", 3.0), ("hop_changes", 2.5), ("pct_1hop", 3.0), ("expected_kbps", 35.0)]
        {
            let rows = column(name);
            assert_eq!(rows.len(), 39, "{name}");
            let (ours, printed) = (mean(&rows).unwrap(), mean_of(name).unwrap());
            assert!((ours - printed).abs() < tolerance, "{name}: {ours} {printed}");
        }
    }

    #[test]
    fn the_printed_mean_lies_in_its_interval() {
        let e = estimate("path_changes").unwrap();
        let [low, high] = e.ci95.unwrap();
        assert!(e.mean == 43.1 && low > 35.0 && high < 50.0, "{e:?}");
        assert_eq!((chain_kbps(1), chain_kbps(7), chain_kbps(9)), (Some(1353.0), Some(142.0), Some(142.0)));
    }
}
