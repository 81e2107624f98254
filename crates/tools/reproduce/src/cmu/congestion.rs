//! Figure 8: the retransmission timer while the interface queue stalls, without and with the queue's length in it.

use std::collections::BTreeMap;

use wayhop_core::{Decision, NodeId, PacketId};
use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Row, Section, Series};
use wayhop_trace::{HopEvent, HopKind, Observer, SendEvent};

use super::paper;

/// What node A shows of one run.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    node: NodeId,
    requests: BTreeMap<PacketId, u32>,
    /// When A made each request, seconds, and its number.
    pub(crate) sent: Vec<(f64, u32)>,
    pub(crate) retransmitted: Vec<(f64, u32)>,
    pub(crate) replies: Vec<(f64, u32)>,
    pub(crate) timers_ms: Vec<(f64, f64)>,
}

impl Congestion {
    pub(crate) fn new(node: NodeId) -> Self {
        Self {
            node,
            requests: BTreeMap::new(),
            sent: Vec::new(),
            retransmitted: Vec::new(),
            replies: Vec::new(),
            timers_ms: Vec::new(),
        }
    }

    fn timer_max_ms(&self) -> Option<f64> {
        self.timers_ms.iter().map(|(_, ms)| *ms).reduce(f64::max)
    }
}

impl Observer for Congestion {
    fn hop(&mut self, e: &HopEvent) {
        let (Some(tag), true) = (e.flow, e.node == self.node) else { return };
        let at = e.time.as_secs_f64();
        match e.kind {
            HopKind::Originate => {
                self.requests.insert(e.packet, tag.seq);
                self.sent.push((at, tag.seq));
            }
            HopKind::Deliver => self.replies.push((at, tag.seq)),
            _ => {}
        }
    }
    fn sent(&mut self, e: &SendEvent) {
        if e.node != self.node {
            return;
        }
        let Some(seq) = self.requests.get(&e.state.packet) else { return };
        let (at, timer_ms) = (e.time.as_secs_f64(), e.state.timer.as_secs_f64() * 1e3);
        if e.state.decision == Decision::Retransmitted {
            self.retransmitted.push((at, *seq));
        }
        if timer_ms > 0.0 {
            self.timers_ms.push((at, timer_ms));
        }
    }
}

/// The section of Figure 8, from runs without and with the queue in the timer, and the same with packets of 64 octets.
pub(crate) fn section([without, with]: &[Vec<Congestion>; 2], short: &[Vec<Congestion>; 2]) -> Section {
    type Draw = fn(&Congestion) -> Plot;
    let printed = |variant, column| paper::cell(paper::CONGESTION, variant, column);
    let row = |who, quantity, printed, runs: &[Congestion], value: fn(&Congestion) -> Option<f64>| {
        Row::new("Figure 8", who, quantity, printed).with(runs.iter().map(value))
    };
    let retransmissions = |c: &Congestion| Some(c.retransmitted.len() as f64);
    let (none, queue) = ("no_heuristic", "queue_length_heuristic");
    let fewer = |a: f64, b: f64| a / b.max(1.0);
    let times_fewer =
        printed(none, "retransmissions").zip(printed(queue, "retransmissions")).map(|(a, b)| fewer(a, b));
    let rows = vec![
        row("without", "retransmissions", printed(none, "retransmissions"), without, retransmissions),
        row("with queue length", "retransmissions", printed(queue, "retransmissions"), with, retransmissions),
        Row::new("Figure 8", "without over with", "times_fewer_retransmissions", times_fewer)
            .with(
                without
                    .iter()
                    .zip(with)
                    .map(|(a, b)| Some(fewer(a.retransmitted.len() as f64, b.retransmitted.len() as f64))),
            )
            .note("The paper's value is from its two counts; ours is computed per seed, with none counted as one. The \
                   paper does not give its packet length; ours have 1024 bytes, as in its other tests of links."),
        row("without", "timer_max_ms", printed(none, "max_timer_ms"), without, Congestion::timer_max_ms),
        row(
            "with queue length",
            "timer_max_ms",
            printed(queue, "max_timer_ms"),
            with,
            Congestion::timer_max_ms,
        ),
        row("without, 64 octets", "retransmissions", None, &short[0], retransmissions),
        row("with queue length, 64 octets", "retransmissions", None, &short[1], retransmissions)
            .note("A burst of short packets has left the queue before most timers run out."),
    ];
    let mut panels = Vec::new();
    let plots: [(&[Congestion], &str, Draw); 4] = [
        (without, "(a) no heuristics", sequence_plot),
        (with, "(b) queue length heuristic", sequence_plot),
        (without, "(c) timer, no heuristics", timer_plot),
        (with, "(d) timer, queue length heuristic", timer_plot),
    ];
    for (runs, title, plot) in plots {
        panels.extend(runs.first().map(|r| Panel::new(title, plot(r))));
    }
    let caption = "ICMP sequence numbers over time, with retransmissions shifted by 1 s and replies by 2 s for clarity, \
                   and each packet's retransmission timer when DSR sent it. One run, the first seed.";
    Section::new(
        "Figure 8: retransmissions under congestion",
        "A pings B ten times a second while its interface queue is alternately blocked for 3 s and served for 10 s. \
         The same scenario runs without and with 20 ms added to the timer for each packet in the queue once it holds \
         more than 5.",
    )
    .rows(rows)
    .figures((!panels.is_empty()).then(|| Figure::new("Figure 8", caption, panels)))
}

fn sequence_plot(r: &Congestion) -> Plot {
    let shifted = |list: &[(f64, u32)], by: f64| list.iter().map(|(t, n)| [t + by, f64::from(*n)]).collect();
    Plot::new(Axis::new("time (s)").from_to(0.0, 36.0), Axis::new("ICMP sequence number").from_to(0.0, 300.0))
        .with(Series::new("request sent", Mark::Dot, 0, shifted(&r.sent, 0.0)))
        .with(Series::new("retransmission, + 1 s", Mark::Cross, 1, shifted(&r.retransmitted, 1.0)))
        .with(Series::new("reply received, + 2 s", Mark::Dot, 2, shifted(&r.replies, 2.0)))
}

fn timer_plot(r: &Congestion) -> Plot {
    let points = r.timers_ms.iter().map(|(t, ms)| [*t, *ms]).collect();
    Plot::new(Axis::new("time (s)").from_to(0.0, 36.0), Axis::new("timer (ms)").from_to(0.0, 1000.0))
        .with(Series::new("", Mark::Dot, 0, points))
}
