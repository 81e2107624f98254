//! Frames on the air, and their fates at their receivers.

use super::names::Names;
use super::read::{MOST_ROWS, rows};
use super::steps::{At, Step};
use crate::reception::{Obstacle, frame_words, words};
use crate::tables::Cell as _;
use crate::{Error, RunDir};

/// The frames that carried a packet, or were exchanged for it, in the order in which their first bits left.
pub(super) fn frames(run: &RunDir, packet: i64, names: &Names) -> Result<Vec<(i64, Step)>, Error> {
    let mut all: Vec<(i64, Step)> = Vec::new();
    rows(run, "receptions", &[("packet", packet, packet)], |row| {
        let (sent_ns, sender) = (row.number("sent_ns")?, row.int("sender")?);
        let (frame, outcome) = (row.text("frame")?, row.text("outcome")?);
        let other = row.int("other");
        let needed_dbm = row.decibels("needed_dbm");
        let obstacle = Obstacle {
            outcome,
            signal_dbm: row.decibels("signal_dbm").unwrap_or(f64::NAN),
            mean_signal_dbm: row.decibels("mean_signal_dbm").unwrap_or(f64::NAN),
            needed_dbm: needed_dbm.unwrap_or(f64::NAN),
            other: other.map(|n| names.of(n)),
            other_frame: row.text("other_frame"),
            other_packet: row.int("other_packet"),
        };
        let at = At {
            node: row.int("node"),
            node_name: row.int("node").map(|n| names.of(n)),
            outcome: outcome.to_owned(),
            text: words(&obstacle),
            signal_dbm: row.decibels("signal_dbm"),
            needed_dbm,
            other,
            other_name: obstacle.other,
            other_packet: row.int("other_packet"),
        };
        let is_it =
            |(at, step): &&mut (i64, Step)| *at == sent_ns && step.node == sender && step.what == frame;
        if let Some((_, same)) = all.iter_mut().rev().take(64).find(is_it) {
            same.at.push(at);
        } else {
            let step = Step {
                time_s: sent_ns as f64 / 1e9,
                node: sender,
                node_name: names.of(sender),
                what: frame.to_owned(),
                text: String::new(),
                attempt: row.int("attempt"),
                at: vec![at],
            };
            all.push((sent_ns, step));
        }
        (all.len() <= MOST_ROWS).then_some(())
    })?;
    all.sort_by_key(|(sent_ns, _)| *sent_ns);
    for (_, step) in &mut all {
        step.text = sentence(step);
    }
    Ok(all)
}

fn sentence(s: &Step) -> String {
    let frame = frame_words(&s.what);
    let attempt = match s.attempt {
        Some(n) if n > 1 && matches!(s.what.as_str(), "rts" | "data") => format!(" (attempt {n})"),
        _ => String::new(),
    };
    match s.at.as_slice() {
        [at] => {
            let to = at.node_name.as_deref().unwrap_or("an address that no node has");
            format!("{frame} to {to}{attempt}: {}", at.text)
        }
        all => {
            let understood = all.iter().filter(|a| a.outcome == "received").count();
            format!("{frame}{attempt}: received by {understood} of {} in range", all.len())
        }
    }
}
