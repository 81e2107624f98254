//! Results of a merge.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use wayhop_trace::{ClockFit, Summary};

/// Output of `wayhop merge --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MergeReport {
    /// Version of Wayhop.
    pub wayhop: String,
    /// Node whose clock is the common clock.
    pub reference: String,
    /// The nodes, in the order of their numbers.
    pub nodes: Vec<MergedNode>,
    /// Nodes that were left out because they share no frames or packets with the others.
    pub left_apart: Vec<String>,
    /// Number of different packets in all runs, including routing packets.
    pub packets: u64,
    /// Packets that several nodes recorded.
    pub shared_packets: u64,
    /// Receptions of frames that no node in these runs sent: runs or rows of their senders are missing.
    pub strange_receptions: u64,
    /// Receptions that are earlier than their sending by the aligned clocks.
    pub early_receptions: u64,
    /// Packets of programs to nodes without a run here, or only to neighbours; not counted in any flow.
    pub packets_elsewhere: u64,
    /// Rows that were lost because the nodes' disks were too slow.
    pub lost_rows: u64,
    /// Summary of the merged run.
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
    /// Its run directory, as given.
    pub run: String,
    /// Its clock.
    pub clock: ClockFit,
}

impl MergeReport {
    /// The clocks as a table for people.
    pub fn clocks_text(&self) -> String {
        let header = ["node", "offset s", "drift ppm", "+-", "error us", "bound us", "frames", "outliers"];
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
            let _ = writeln!(out, "{}: clock set during the run, at {}", n.name, times.join(", "));
        }
        for n in self.nodes.iter().filter(|n| n.clock.bound_us.is_none()) {
            let _ = writeln!(
                out,
                "{}: frames in one direction only; a constant delay would go unnoticed in its times",
                n.name
            );
        }
        out
    }
}
