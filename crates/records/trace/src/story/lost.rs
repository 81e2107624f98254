//! The packets that did not arrive.

use std::collections::BTreeMap;

use parquet::record::Row;
use schemars::JsonSchema;
use serde::Serialize;

use super::names::Names;
use super::path::PathBetween;
use super::read::{MOST_ROWS, rows};
use crate::tables::Cell as _;
use crate::{Error, RunDir};

/// A packet of a flow that did not arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LostPacket {
    /// Its flow's index in the scenario.
    pub flow: u32,
    /// Its number in the flow, from 0.
    pub seq: u64,
    /// `dropped`, or `held`: still in transit at the end of the run.
    pub outcome: String,
    /// Why it was dropped.
    pub reason: Option<String>,
    /// Its number in the run; null if it was not recorded.
    pub packet: Option<u64>,
    /// Time of sending since the start of the run; null if not recorded.
    pub sent_s: Option<f64>,
    /// The number of the node that sent it.
    pub source_node: Option<u32>,
    /// The number of the destination node; null for broadcasts and for hosts outside.
    pub destination_node: Option<u32>,
    /// The address that it was sent from.
    pub source: Option<String>,
    /// The address that it was sent to.
    pub destination: Option<String>,
    /// Time of its last event since the start of the run.
    pub time_s: Option<f64>,
    /// Where: the node's number.
    pub node: Option<u32>,
    /// The node's name.
    pub node_name: Option<String>,
    /// Outcomes of the frames with which that node tried to forward it, and of their answers, as in the table `receptions`, without
    /// those received; null if not recorded.
    pub causes: Option<BTreeMap<String, u64>>,
    /// Whether a path between the two nodes existed during that time; null unless both nodes and the time of sending are known.
    pub path: Option<PathBetween>,
}

impl LostPacket {
    /// Its causes in a few words, the most frequent first.
    pub fn causes_text(&self) -> String {
        let mut all: Vec<_> = self.causes.iter().flatten().collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let each: Vec<_> = all.iter().map(|(what, n)| format!("{what} {n}")).collect();
        if each.is_empty() { "-".to_owned() } else { each.join(", ") }
    }
}

/// The packets that a run's flows sent and that did not arrive, in order of their flows; of one flow if it is named.
pub fn lost(run: &RunDir, flow: Option<u32>) -> Result<Vec<LostPacket>, Error> {
    let names = Names::read(run)?;
    let mut all: BTreeMap<(u32, u64), LostPacket> = BTreeMap::new();
    rows(run, "outcomes", &[], |row| {
        let (of, seq, outcome) = (row.int("flow")?, row.int("seq")?, row.text("outcome")?);
        if outcome != "delivered" && flow.is_none_or(|f| f == of) {
            all.insert(
                (of, seq),
                LostPacket {
                    flow: of,
                    seq,
                    outcome: outcome.to_owned(),
                    reason: row.text("reason").map(str::to_owned),
                    ..LostPacket::default()
                },
            );
        }
        (all.len() <= MOST_ROWS).then_some(())
    })?;
    // A ping's request and its reply have the same number in their flow.
    let mut sent: BTreeMap<u64, f64> = BTreeMap::new();
    rows(run, "packets", &[], |row| {
        let Some(p) = number_in_flow(row).and_then(|key| all.get_mut(&key)) else {
            return Some(());
        };
        if row.text("event")? == "originate" {
            sent.insert(row.int("packet")?, row.number("time_ns")? as f64 / 1e9);
        }
        // A copy of it may have arrived somewhere and been dropped there: what counts is the reason that counts.
        if row.text("event")? != "drop" || p.reason.as_deref() == row.text("reason") {
            p.packet = row.int("packet");
            p.time_s = Some(row.number("time_ns")? as f64 / 1e9);
            p.node = row.int("node");
            p.source_node = names.number(row.text("source")?);
            p.destination_node = names.number(row.text("destination")?);
            p.source = row.text("source").map(str::to_owned);
            p.destination = row.text("destination").map(str::to_owned);
        }
        (sent.len() <= MOST_ROWS).then_some(())
    })?;
    if run.has("receptions") {
        causes(run, &mut all)?;
    }
    let named = all.into_values().map(|p| LostPacket {
        node_name: p.node.map(|n| names.of(n)),
        sent_s: p.packet.and_then(|n| sent.get(&n)).copied(),
        ..p
    });
    Ok(named.collect())
}

fn number_in_flow(row: &Row) -> Option<(u32, u64)> {
    row.int("flow").zip(row.int("seq"))
}

fn causes(run: &RunDir, all: &mut BTreeMap<(u32, u64), LostPacket>) -> Result<(), Error> {
    for p in all.values_mut() {
        p.causes = Some(BTreeMap::new());
    }
    rows(run, "receptions", &[], |row| {
        let (frame, outcome) = (row.text("frame")?, row.text("outcome")?);
        let Some(p) = number_in_flow(row).and_then(|key| all.get_mut(&key)) else {
            return Some(());
        };
        // CTS and ACK come back to the node that tries.
        let tries = if matches!(frame, "cts" | "ack") { row.int("node") } else { row.int("sender") };
        if outcome != "received"
            && tries == p.node
            && let Some(causes) = &mut p.causes
        {
            *causes.entry(outcome.to_owned()).or_default() += 1;
        }
        Some(())
    })
}
