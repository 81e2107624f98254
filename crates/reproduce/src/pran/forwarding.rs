//! Table 1 and Figure 3: what forwarding a packet costs at user level, beside the kernel's own forwarding.

use wayhop_report::{Row, Section};

use crate::table::cell;

const TABLE_1: &str = include_str!("../../data/pran/processing.csv");
const CONFIGURATIONS: [&str; 4] = ["AODV on Linux", "DSR on Linux", "AODV on FreeBSD", "DSR on FreeBSD"];
const QUANTITIES: [&str; 4] = ["kernel_in_us", "user_us", "kernel_out_us", "total_us"];

/// The sections of 6.1.
pub(crate) fn sections() -> Vec<Section> {
    let mut rows = Vec::new();
    for who in CONFIGURATIONS {
        rows.extend(QUANTITIES.map(|q| Row::new("Table 1", who, q, cell(TABLE_1, who, q))));
    }
    vec![Section {
        heading: "Table 1: processing a packet that is forwarded".to_owned(),
        text: vec![],
        rows,
        figures: vec![],
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_cells_are_as_printed_and_its_totals_are_sums() {
        assert_eq!(cell(TABLE_1, "DSR on Linux", "user_us"), Some(27.68));
        for who in CONFIGURATIONS {
            let [kernel_in, user, out, total] = QUANTITIES.map(|q| cell(TABLE_1, who, q).unwrap());
            assert!((kernel_in + user + out - total).abs() < 0.02, "{who}");
        }
    }
}
