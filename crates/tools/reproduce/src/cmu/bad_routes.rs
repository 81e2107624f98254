//! Figures 15 and 16: a good route of two hops, a bad one of one, and the benefit of remembering the bad one.

use wayhop_core::NodeId;
use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Range, Row, Section, Series};
use wayhop_trace::{HopEvent, HopKind, Observer};

/// The paper's gain with perfect routing (section 9.2), per cent.
const PAPER_GAIN_PCT: f64 = 30.0;
/// A time without a packet that counts as a stall, seconds: twelve packets late. Without TCP's backing off none grows to a
/// plateau.
const STALL_S: f64 = 0.2;

const PERFECT: &str = "perfect routing";

/// How node A learns which route is bad: a name, and the setting that makes it so.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteTrouble {
    pub(crate) name: &'static str,
    pub(crate) setting: Option<&'static str>,
}

const fn way(name: &'static str, setting: Option<&'static str>) -> RouteTrouble {
    RouteTrouble { name, setting }
}

/// What the paper had, the three mechanisms of section 9.2 that it considered, and perfect routing.
pub(crate) const WAYS: [RouteTrouble; 6] = [
    way("nothing remembered", None),
    way("timed", Some("protocol.bad_links=timed")),
    way("until moved", Some("protocol.bad_links=until-moved")),
    way("probability", Some("protocol.bad_links=probability")),
    way("expected transmissions", Some("protocol.metric=etx")),
    // The direct link loses 5 dB more, and is never there.
    way(PERFECT, Some("radio.site.pair=[{nodes=[0,2],loss_db=5}]")),
];

/// When each packet reached C.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    to: NodeId,
    /// Seconds, and octets of data until then.
    pub(crate) arrived: Vec<(f64, f64)>,
}

impl Transfer {
    pub(crate) fn new(to: NodeId) -> Self {
        Self { to, arrived: Vec::new() }
    }

    fn octets(&self) -> f64 {
        self.arrived.last().map_or(0.0, |(_, n)| *n)
    }
    fn stalls(&self) -> usize {
        self.arrived.windows(2).filter(|w| w[1].0 - w[0].0 >= STALL_S).count()
    }
    fn longest_s(&self) -> Option<f64> {
        self.arrived.windows(2).map(|w| w[1].0 - w[0].0).reduce(f64::max)
    }
}

impl Observer for Transfer {
    fn hop(&mut self, e: &HopEvent) {
        if e.kind == HopKind::Deliver && e.node == self.to && e.flow.is_some() {
            let octets = self.octets() + f64::from(e.bytes);
            self.arrived.push((e.time.as_secs_f64(), octets));
        }
    }
}

/// The section of Figures 15 and 16, from the transfers by each of [`WAYS`]; the first of each list has `seed`.
pub(crate) fn section(transfers: &[Vec<Transfer>; WAYS.len()], seed: u64) -> Section {
    type Value = fn(&Transfer) -> Option<f64>;
    let none = &transfers[0];
    let mut rows = Vec::new();
    for (way, runs) in WAYS.iter().zip(transfers).filter(|(w, _)| w.setting.is_some()) {
        let perfect = way.name == PERFECT;
        let gain = none
            .iter()
            .zip(runs)
            .map(|(a, b)| (a.octets() > 0.0).then(|| 100.0 * (b.octets() / a.octets() - 1.0)));
        let note = if perfect {
            "Ours is limited by the load, which is steady where the paper had TCP: variants that deliver every packet have \
             the same gain."
        } else {
            "The paper has no number for it; equal gains mean that every packet arrived."
        };
        let printed = perfect.then_some(PAPER_GAIN_PCT);
        let row = Row::new("Figure 16", way.name, "throughput_gain_pct", printed).within(Range::All);
        rows.push(row.with(gain).note(note));
    }
    let note = "The paper's plateaus of 7 to 13 s are such stalls, stretched by TCP's backing off.";
    let quantities: [(&str, Value); 2] = [
        ("stalls_of_a_fifth_of_a_second", |t| Some(t.stalls() as f64)),
        ("longest_stall_s", Transfer::longest_s),
    ];
    for (quantity, value) in quantities {
        for (way, runs) in WAYS.iter().zip(transfers) {
            let row = Row::new("Figure 15", way.name, quantity, None).with(runs.iter().map(value));
            rows.push(row.note(note));
        }
    }
    let panel = |way: usize, title| Some(Panel::new(title, plot(transfers[way].first()?)));
    let panels =
        [panel(0, "Figure 15: nothing remembered"), panel(WAYS.len() - 1, "Figure 16: perfect routing")];
    let caption = format!("Data received by C over time. One run, seed {seed}.");
    let figure = Figure::new("Figures 15 and 16", &caption, panels.into_iter().flatten());
    Section::new(
        "Figures 15 and 16: a bad route, found again and again",
        "A reaches C well through B and badly directly. Each time the direct route fails, Route Discovery finds it \
         again. The paper separated A and C with its macfilter (perfect routing) and proposed the three ways to \
         remember bad routes; expected transmission counts are more recent. A steady stream of packets replaces the \
         paper's TCP.",
    )
    .rows(rows)
    .figures((!figure.panels.is_empty()).then_some(figure))
}

fn plot(t: &Transfer) -> Plot {
    let points = t.arrived.iter().map(|(at, octets)| [*at, octets * 1e-6]).collect();
    Plot::new(Axis::new("time (s)").from_to(10.0, 62.0), Axis::new("data received (MB)").from_to(0.0, 3.5))
        .with(Series::new("", Mark::Steps, 0, points))
}
