//! What a merger found.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use wayhop_trace::{ClockFit, Summary};

/// What `wayhop merge --json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MergeReport {
    /// Wayhop's version.
    pub wayhop: String,
    /// The node whose clock the times count by.
    pub reference: String,
    /// The nodes, in the order of their numbers.
    pub nodes: Vec<MergedNode>,
    /// Nodes that share no frame with the others and were left out.
    pub left_apart: Vec<String>,
    /// Different packets in all runs, routing packets too.
    pub packets: u64,
    /// Of those, the ones that several nodes know of.
    pub shared_packets: u64,
    /// Receptions of frames that no node of these runs sent: their senders' runs are missing, or rows of them.
    pub strange_receptions: u64,
    /// Receptions that the clocks put before the frame was sent.
    pub early_receptions: u64,
    /// Packets of programs to somebody whose run is not here, or to neighbours only: no flow has them.
    pub packets_elsewhere: u64,
    /// Rows that the nodes' disks had no time for.
    pub lost_rows: u64,
    /// The merged run in numbers.
    pub summary: Summary,
}

/// A node of a merged run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MergedNode {
    /// Its number in the merged run.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Its IPv4 address.
    pub address: String,
    /// Its run, as it was given.
    pub run: String,
    /// Its clock.
    pub clock: ClockFit,
}

impl MergeReport {
    /// The clocks as a table for people.
    pub fn clocks_text(&self) -> String {
        let header = ["node", "ahead s", "drift ppm", "+-", "error us", "bound us", "frames", "far off"];
        let mut rows = vec![header.map(str::to_owned)];
        for n in &self.nodes {
            let c = &n.clock;
            let figure = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.1}"));
            let mut ahead = c.segments.first().map_or(0.0, |s| -s.offset_s);
            if ahead == 0.0 {
                ahead = 0.0;
            }
            rows.push([
                n.name.clone(),
                format!("{ahead:.6}"),
                format!("{:.2}", c.drift_ppm),
                c.drift_error_ppm.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}")),
                figure(c.error_us),
                figure(c.bound_us),
                c.frames.to_string(),
                c.outliers.to_string(),
            ]);
        }
        let widths: [usize; 8] =
            std::array::from_fn(|c| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0));
        let mut out = String::new();
        for row in &rows {
            let mut line = format!("{:<1$}", row[0], widths[0]);
            for (cell, width) in row.iter().zip(widths).skip(1) {
                let _ = write!(line, "  {cell:>width$}");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        for n in self.nodes.iter().filter(|n| n.clock.segments.len() > 1) {
            let times: Vec<String> =
                n.clock.segments.iter().skip(1).map(|s| format!("{:.3} s", s.from_s)).collect();
            let _ = writeln!(out, "{}: its clock was set at {} of its run", n.name, times.join(", "));
        }
        for n in self.nodes.iter().filter(|n| n.clock.bound_us.is_none()) {
            let _ = writeln!(
                out,
                "{}: frames passed in one direction only; its times may be wrong by any delay that is always there",
                n.name
            );
        }
        out
    }
}
