//! Bytes sent and acknowledged by TCP senders, over time, from the tables `tcp` and `connections`.

use std::collections::BTreeMap;

use wayhop_core::{TcpEnds, Time};
use wayhop_report::{Mark, Series};
use wayhop_trace::{ConnectionEvent, Error, Tables, TcpEvent};

use crate::column::ColumnRun;

/// Points across a plot, and up: finer steps are less than a pixel.
const ACROSS: u64 = 600;
const UP: u64 = 300;
/// Senders of a run that are told apart.
const MOST_SENDERS: usize = 1 << 16;

/// Which sender: a flow of the scenario's, or an end of a program's connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sender {
    Flow(u32),
    Connection(u32, TcpEnds),
}

#[derive(Default)]
pub(crate) struct Sequence {
    /// Time in nanoseconds and octets: the highest sent, and the highest acknowledged.
    sent: Vec<(u64, u64)>,
    acked: Vec<(u64, u64)>,
    /// Where octets were sent again, and where a timer ran out.
    again: Vec<(u64, u64)>,
    timeouts: Vec<(u64, u64)>,
    /// Bytes that a program's connection had retransmitted at the last sample.
    again_before: u64,
}

#[derive(Default)]
pub(crate) struct Sequences {
    pub(crate) senders: BTreeMap<Sender, Sequence>,
    names: Vec<String>,
    /// The share of the run that is shown.
    pub(crate) share: f64,
}

impl Sequences {
    /// Reads the tables `tcp` and `connections`, as finely as it takes to show `window_s` seconds, or else the whole run.
    pub(crate) fn read(run: &ColumnRun, window_s: Option<f64>) -> Result<Self, Error> {
        let whole_s = run.summary.simulated_s;
        let shown_s = window_s.map_or(whole_s, |s| s.min(whole_s));
        let mut all = Self { share: if whole_s > 0.0 { shown_s / whole_s } else { 1.0 }, ..Self::default() };
        let cell = ((shown_s * 1e9) as u64 / ACROSS).max(1);
        let tables = Tables::of(&run.dir, run.summary.protocol.clone());
        tables.tcp(&mut |e| all.of(Sender::Flow(e.flow)).map(|s| s.event(&e, cell)))?;
        tables.connections(&mut |e| {
            let sender = Sender::Connection(e.node.0, e.connection.ends);
            all.of(sender).map(|s| s.look(&e, cell))
        })?;
        all.senders.retain(|_, s| s.octets() > 0);
        if !all.senders.is_empty() {
            all.names = tables.nodes()?.into_iter().map(|n| n.name).collect();
        }
        Ok(all)
    }

    fn of(&mut self, sender: Sender) -> Result<&mut Sequence, String> {
        if self.senders.len() >= MOST_SENDERS && !self.senders.contains_key(&sender) {
            return Err(format!("more than {MOST_SENDERS} senders"));
        }
        Ok(self.senders.entry(sender).or_default())
    }

    pub(crate) fn title(&self, run: &ColumnRun, sender: Sender) -> String {
        let name = |node: u32| self.names.get(node as usize).map_or("?", String::as_str);
        match sender {
            Sender::Flow(id) => match run.summary.flows.get(id as usize) {
                Some(f) => format!("flow {id}, {} to {}", name(f.src), name(f.dst)),
                None => format!("flow {id}"),
            },
            Sender::Connection(node, e) => {
                format!("{}, {}:{} to {}:{}", name(node), e.local, e.local_port, e.remote, e.remote_port)
            }
        }
    }
}

impl Sequence {
    /// How far the stream has come.
    pub(crate) fn octets(&self) -> u64 {
        self.sent.last().map_or(0, |p| p.1)
    }

    fn event(&mut self, e: &TcpEvent, cell: u64) {
        let end = e.octet + u64::from(e.bytes);
        match e.event {
            "send" => rise(&mut self.sent, e.time, end, cell),
            "resend" | "probe" => mark(&mut self.again, e.time, e.octet, cell),
            "timeout" => mark(&mut self.timeouts, e.time, e.octet, cell),
            "ack" => rise(&mut self.acked, e.time, e.acked, cell),
            _ => {}
        }
    }

    fn look(&mut self, e: &ConnectionEvent, cell: u64) {
        let c = &e.connection;
        let new = c.sent.saturating_sub(c.sent_again);
        rise(&mut self.sent, e.time, new, cell);
        rise(&mut self.acked, e.time, c.acked, cell);
        if c.sent_again > self.again_before {
            // Octets that are sent again are the oldest that are not acknowledged.
            mark(&mut self.again, e.time, c.acked, cell);
        }
        self.again_before = c.sent_again;
    }

    /// As series, in seconds and kB, with about `share` of the run shown.
    /// Lines go on to `end`, when the run ended.
    pub(crate) fn series(&self, end: f64, share: f64) -> Vec<Series> {
        let points = |of: &[(u64, u64)]| -> Vec<[f64; 2]> {
            of.iter().map(|(at, octet)| [*at as f64 / 1e9, *octet as f64 / 1e3]).collect()
        };
        let line = |of: &[(u64, u64)]| {
            let mut points = points(of);
            let last = points.last().filter(|p| p[0] < end).map(|p| [end, p[1]]);
            points.extend(last);
            points
        };
        let height = ((self.octets() as f64 * share) as u64 / UP).max(1);
        let all = [
            ("sent", Mark::Steps, 0, line(&self.sent)),
            ("acknowledged", Mark::Steps, 6, line(&self.acked)),
            ("timeout", Mark::Triangle, 3, points(&thinned(&self.timeouts, height))),
            ("sent again", Mark::Cross, 5, points(&thinned(&self.again, height))),
        ];
        let drawn = all.into_iter().filter(|(.., points)| !points.is_empty());
        drawn.map(|(name, mark, colour, points)| Series::new(name, mark, colour, points)).collect()
    }
}

/// Follows what only grows. Several rises within one step of the horizontal axis are the last of them.
fn rise(line: &mut Vec<(u64, u64)>, at: Time, octet: u64, cell: u64) {
    let at = at.as_nanos();
    let before = line.last().copied();
    match before {
        // A program that comes back to its ports begins another connection.
        Some((_, high)) if octet <= high => {}
        Some((then, _)) if line.len() > 1 && then / cell == at / cell => {
            if let Some(last) = line.last_mut() {
                *last = (at, octet);
            }
        }
        _ => line.push((at, octet)),
    }
}

/// Keeps a mark, one a step of the horizontal axis and octet.
fn mark(marks: &mut Vec<(u64, u64)>, at: Time, octet: u64, cell: u64) {
    let at = at.as_nanos();
    if marks.last().is_none_or(|(then, o)| then / cell != at / cell || *o != octet) {
        marks.push((at, octet));
    }
}

/// Leaves out marks within a step of the vertical axis of the one before.
fn thinned(marks: &[(u64, u64)], height: u64) -> Vec<(u64, u64)> {
    let mut kept: Vec<(u64, u64)> = Vec::new();
    for (at, octet) in marks {
        let is_near = |(then, o): &(u64, u64)| o / height == octet / height && at - then < 100_000_000;
        if !kept.last().is_some_and(is_near) {
            kept.push((*at, *octet));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_rises_within_a_step_the_last_one_counts_with_its_own_time() {
        let mut line = Vec::new();
        for (at, octet) in [(0, 1), (10, 2), (25, 3), (39, 4), (38, 4), (41, 5)] {
            rise(&mut line, Time::from_nanos(at), octet, 20);
        }
        assert_eq!(line, [(0, 1), (10, 2), (39, 4), (41, 5)]);
    }

    #[test]
    fn lines_go_on_to_the_end_of_the_run_and_crosses_lie_above_triangles() {
        let s = Sequence {
            sent: vec![(0, 0), (2_000_000_000, 5000)],
            acked: vec![(40_000_000_000, 4000)],
            again: vec![(1, 0)],
            timeouts: vec![(1, 0)],
            again_before: 0,
        };
        let all = s.series(40.0, 1.0);
        assert_eq!(all[0].points, [[0.0, 0.0], [2.0, 5.0], [40.0, 5.0]]);
        assert_eq!(all[1].points, [[40.0, 4.0]], "no point twice");
        let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["sent", "acknowledged", "timeout", "sent again"]);
    }
}
