//! The paper's numbers.

pub(crate) const PING: &str = include_str!("../../data/cmu/ping.csv");
pub(crate) const ROUTE_LENGTH: &str = include_str!("../../data/cmu/route_length.csv");
pub(crate) const CONGESTION: &str = include_str!("../../data/cmu/congestion.csv");
pub(crate) const TCP: &str = include_str!("../../data/cmu/tcp.csv");
const NUMBERS: &str = include_str!("../../data/cmu/numbers.csv");

pub(crate) use crate::table::cell;

pub(crate) fn number(name: &str) -> Option<f64> {
    cell(NUMBERS, name, "value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_printed() {
        assert_eq!(cell(PING, "T3", "loss_raw_pct"), Some(8.21));
        assert_eq!(cell(PING, "Total", "successful_rexmts"), Some(345.0));
        assert_eq!(cell(ROUTE_LENGTH, "echo_reply", "4"), Some(5.0));
        assert_eq!(number("spacing_mean_ms"), Some(314.0));
        assert_eq!((cell(PING, "T9", "sent"), cell(PING, "T1", "none")), (None, None));
    }

    #[test]
    fn the_tables_add_up_as_the_text_says() {
        // Sections 8.2 and 8.3: what went to T1..T5 and what went directly is all that E1 transmitted.
        let total = |column| cell(PING, "Total", column).unwrap();
        let n = |name| number(name).unwrap();
        assert_eq!(total("sent") + total("rexmts") + n("direct_sent"), n("transmitted"));
        assert_eq!(n("transmitted") - n("originated"), n("duplicates"));
        for column in
            ["sent", "recv_raw", "recv_with_rexmt", "passive_acks", "rexmts", "rexmts_lost", "acks_lost"]
        {
            let sum: f64 =
                ["T1", "T2", "T3", "T4", "T5"].iter().map(|t| cell(PING, t, column).unwrap()).sum();
            assert_eq!(sum, total(column), "{column}");
        }
    }
}
