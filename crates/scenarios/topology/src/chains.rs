//! What a chain of nodes carries, by its length, and what that lets a moving flow expect.

use std::fmt;

use crate::flow::FlowTopology;

/// The throughput over a chain of 1, 2, ... hops that nobody moves, bits a second: the T_i of Holland and Vaidya's (1999)
/// equation 1.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainThroughput {
    bps: Vec<f64>,
}

/// Why a file of chain throughputs cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
    /// What to do.
    pub remedy: &'static str,
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.line, self.reason, self.remedy)
    }
}

impl std::error::Error for ChainError {}

/// No chain that somebody measured is longer, hops.
const MAX_HOPS: usize = 1_000;

impl ChainThroughput {
    /// Of chains of 1, 2, ... hops, bits a second. Longer chains carry what the last does. `None` if there is none, or if
    /// one is not a number from zero up.
    pub fn new(bps: Vec<f64>) -> Option<Self> {
        let good = !bps.is_empty() && bps.iter().all(|b| b.is_finite() && *b >= 0.0);
        good.then_some(Self { bps })
    }

    /// Reads a table of comma-separated values: the columns `hops` and `kbps` (or `bps`), which a first line names, and
    /// any others behind them; a line for each number of hops from 1 on. The last holds for all longer chains, and may be
    /// written `>6`. Lines that begin with `#` are skipped.
    pub fn parse(text: &str) -> Result<Self, ChainError> {
        let error = |line, reason: String, remedy| Err(ChainError { line, reason, remedy });
        let lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim()));
        let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
        let Some((first, header)) = lines.next() else {
            return error(1, "there is nothing in it".to_owned(), "give the columns hops,kbps");
        };
        let mut columns = header.split(',').map(str::trim);
        let scale = match (columns.next(), columns.next()) {
            (Some("hops"), Some(unit)) if unit == "kbps" || unit.ends_with("_kbps") => 1e3,
            (Some("hops"), Some("bps")) => 1.0,
            _ => return error(first, format!("{header:?} names no columns"), "write hops,kbps or hops,bps"),
        };
        let mut bps: Vec<f64> = Vec::new();
        let mut last = false;
        for (line, text) in lines {
            let mut cells = text.split(',').map(str::trim);
            let (hops, value) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            let due = bps.len() + 1;
            if last || due > MAX_HOPS {
                return error(line, "a line behind the last one".to_owned(), "take it out");
            }
            last = hops.strip_prefix('>').is_some_and(|h| h.trim().parse() == Ok(bps.len()));
            if !last && hops.parse() != Ok(due) {
                let reason = format!("{hops:?} where {due} hops are due");
                return error(line, reason, "list 1, 2, 3, ... hops in order");
            }
            match value.parse::<f64>() {
                Ok(v) if v.is_finite() && v >= 0.0 => bps.push(v * scale),
                _ => return error(line, format!("{value:?} is no throughput"), "give a number from 0 up"),
            }
        }
        let count = text.lines().count().max(1);
        Self::new(bps).map_or_else(
            || error(count, "no chain in it".to_owned(), "give a line for each number of hops from 1 on"),
            Ok,
        )
    }

    /// As [`ChainThroughput::parse`] reads it.
    pub fn to_csv(&self) -> String {
        let line = |(k, b): (usize, &f64)| format!("{},{b}\n", k + 1);
        self.bps.iter().enumerate().fold("hops,bps\n".to_owned(), |text, l| text + &line(l))
    }

    /// Of chains of 1, 2, ... hops, bits a second.
    pub fn bps(&self) -> &[f64] {
        &self.bps
    }

    /// Over a chain of so many hops, bits a second; 0 over none.
    pub fn over(&self, hops: u16) -> f64 {
        let last = self.bps.len() - 1;
        usize::from(hops).checked_sub(1).map_or(0.0, |k| self.bps[k.min(last)])
    }

    /// What a flow may expect, bits a second: the mean of T_i over the flow's time, T being 0 without a path (equation 1).
    /// `None` if the flow has no time.
    pub fn expected_bps(&self, flow: &FlowTopology) -> Option<f64> {
        let whole = flow.observed().as_secs_f64();
        let bits = flow
            .intervals()
            .filter_map(|(step, end)| Some(self.over(step.hops?) * end.since(step.from).as_secs_f64()));
        // Not `sum`, whose zero is negative.
        (whole > 0.0).then(|| bits.fold(0.0, |sum, b| sum + b) / whole)
    }
}
