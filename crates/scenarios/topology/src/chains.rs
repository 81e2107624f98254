//! The throughput of a chain of nodes by its length, and the expected throughput of a moving flow.

use wayhop_document::{Error, Result};

use crate::flow::FlowTopology;

/// The throughput over a static chain of 1, 2, ... hops, bits per second: the T_i of Holland and Vaidya's (1999)
/// equation 1.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainThroughput {
    bps: Vec<f64>,
}

const MAX_HOPS: usize = 1_000;

impl ChainThroughput {
    /// For chains of 1, 2, ... hops, bits per second. Longer chains have the throughput of the last. `None` if the
    /// list is empty or has a value that is not a number from zero up.
    pub fn new(bps: Vec<f64>) -> Option<Self> {
        let good = !bps.is_empty() && bps.iter().all(|b| b.is_finite() && *b >= 0.0);
        good.then_some(Self { bps })
    }

    /// Reads comma-separated values: a header line with the columns `hops` and `kbps` (or `bps`) and any others after
    /// them, then one line for each number of hops from 1 on. The last line applies to all longer chains, and may be
    /// written `>6`. Lines that begin with `#` are skipped.
    pub fn parse(text: &str) -> Result<Self> {
        let error = |line, reason: String, remedy: &str| Err(Error::new(reason, remedy).at_line(line));
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
        let Some((first, header)) = lines.next() else {
            return error(1, "the file is empty".to_owned(), "start it with hops,kbps");
        };
        let mut columns = header.split(',').map(str::trim);
        let scale = match (columns.next(), columns.next()) {
            (Some("hops"), Some(unit)) if unit == "kbps" || unit.ends_with("_kbps") => 1e3,
            (Some("hops"), Some("bps")) => 1.0,
            _ => return error(first, format!("{header:?} is not a header"), "write hops,kbps or hops,bps"),
        };
        let mut bps: Vec<f64> = Vec::new();
        let mut last = false;
        for (line, text) in lines {
            let mut cells = text.split(',').map(str::trim);
            let (hops, value) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            let due = bps.len() + 1;
            if last || due > MAX_HOPS {
                return error(line, "there is a line after the last one".to_owned(), "remove it");
            }
            last = hops.strip_prefix('>').is_some_and(|h| h.trim().parse() == Ok(bps.len()));
            if !last && hops.parse() != Ok(due) {
                let reason = format!("found {hops:?} where {due} hops are expected");
                return error(line, reason, "list 1, 2, 3, ... hops in order");
            }
            match value.parse::<f64>() {
                Ok(v) if v.is_finite() && v >= 0.0 => bps.push(v * scale),
                _ => {
                    let reason = format!("{value:?} is not a throughput");
                    return error(line, reason, "give a number of at least 0");
                }
            }
        }
        let last = text.lines().count().max(1) as u32;
        let remedy = "add a line for each number of hops from 1 on";
        Self::new(bps).map_or_else(|| error(last, "the file has no chains".to_owned(), remedy), Ok)
    }

    /// As [`ChainThroughput::parse`] reads it.
    pub fn to_csv(&self) -> String {
        let line = |(k, b): (usize, &f64)| format!("{},{b}\n", k + 1);
        self.bps.iter().enumerate().fold("hops,bps\n".to_owned(), |text, l| text + &line(l))
    }

    /// For chains of 1, 2, ... hops, bits per second.
    pub fn bps(&self) -> &[f64] {
        &self.bps
    }

    /// Over a chain of this number of hops, bits per second; 0 over none.
    pub fn over(&self, hops: u16) -> f64 {
        let last = self.bps.len() - 1;
        usize::from(hops).checked_sub(1).map_or(0.0, |k| self.bps[k.min(last)])
    }

    /// The expected throughput of a flow, bits per second: the mean of T_i over the flow's time, T being 0 without a
    /// path (equation 1). `None` if the flow has no time.
    pub fn expected_bps(&self, flow: &FlowTopology) -> Option<f64> {
        let whole = flow.observed().as_secs_f64();
        let bits = flow
            .intervals()
            .filter_map(|(step, end)| Some(self.over(step.hops?) * end.since(step.from).as_secs_f64()));
        // Not `sum`, whose zero is negative.
        (whole > 0.0).then(|| bits.fold(0.0, |sum, b| sum + b) / whole)
    }
}
