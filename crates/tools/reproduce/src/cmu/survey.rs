//! Figures 11 to 13: where and when packets between two cars are lost.

use wayhop_core::{NodeId, Position};
use wayhop_protocols::CLASSIFIER;
use wayhop_report::{Axis, Figure, Mark, Plot, Row, Section, Series};
use wayhop_scenario::{Map, Shape};
use wayhop_trace::diff::{Difference, Places, Sightings, Window, difference, windows};
use wayhop_trace::{Direction, FrameEvent, LINKTYPE_IEEE802_11, Observer, PositionEvent};

use super::packet::OverheardPacket;
use super::paper::number;

/// Length of a period of Figure 11, which the paper does not give.
const WINDOW_NS: u64 = 5_000_000_000;
/// The line in Figure 11, as a share of all losses.
const LINE: f64 = 0.01;
/// The trailing car's packets have 1024 octets; what is shorter is DSR's.
const DATA_BYTES: usize = 1_000;
/// Largest distance of a car from the road's line, metres.
const ROADSIDE_M: f64 = 15.0;
/// Around what a map shows, metres.
const BORDER_M: f64 = 25.0;

#[derive(Clone, Debug)]
pub(crate) struct SurveyWatch {
    trailing: NodeId,
    lead: NodeId,
    sent: Sightings,
    heard: Sightings,
    frames: u64,
    legs: Vec<PositionEvent>,
}

impl SurveyWatch {
    pub(crate) fn new(trailing: NodeId, lead: NodeId) -> Self {
        Self {
            trailing,
            lead,
            sent: Sightings::new(CLASSIFIER),
            heard: Sightings::new(CLASSIFIER),
            frames: 0,
            legs: Vec::new(),
        }
    }
}

impl Observer for SurveyWatch {
    fn wants_frames(&self) -> bool {
        true
    }
    fn frame(&mut self, e: &FrameEvent<'_>) {
        self.frames += 1;
        if OverheardPacket::read(e.bytes).is_none_or(|h| h.ip_bytes < DATA_BYTES) {
            return;
        }
        let to = match (e.direction, e.node) {
            (Direction::Tx, n) if n == self.trailing => &mut self.sent,
            (Direction::Rx, n) if n == self.lead => &mut self.heard,
            _ => return,
        };
        to.add(LINKTYPE_IEEE802_11, e.bytes, e.time.as_nanos(), self.frames);
    }
    fn position(&mut self, e: &PositionEvent) {
        self.legs.push(*e);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) difference: Difference,
    pub(crate) windows: Vec<Window>,
    /// Trailing and lead car in the middle of each window over the line.
    pub(crate) marks: Vec<[Position; 2]>,
}

impl From<SurveyWatch> for Survey {
    fn from(w: SurveyWatch) -> Self {
        let difference = difference(&w.sent, &w.heard);
        let windows = windows(&difference, WINDOW_NS);
        let line = LINE * difference.lost() as f64;
        let places = Places::of_legs(w.legs);
        let over = windows.iter().filter(|x| x.lost > 0 && x.lost as f64 > line);
        let middle = |x: &Window| {
            let at = x.start_ns + WINDOW_NS / 2;
            Some([places.at(w.trailing, at)?, places.at(w.lead, at)?])
        };
        Self { marks: over.filter_map(middle).collect(), difference, windows }
    }
}

impl Survey {
    fn loss_pct(&self) -> Option<f64> {
        let n = self.difference.sent.len();
        super::links::loss_pct(n - self.difference.lost(), n)
    }

    /// After how long losses come again, seconds: where the losses by time resemble themselves most, between half of the
    /// lap's length and one and a half.
    pub(crate) fn period_s(&self) -> Option<f64> {
        let step = WINDOW_NS as f64 * 1e-9;
        let lost: Vec<f64> = self.windows.iter().map(|w| w.lost as f64).collect();
        let mean = wayhop_report::mean(&lost).filter(|m| *m > 0.0)?;
        let lap = number("lap_s")?;
        let lags = (0.5 * lap / step) as usize..=(1.5 * lap / step) as usize;
        let resemblance = |lag: usize| {
            let pairs = lost.len().checked_sub(lag).filter(|n| *n > 1)?;
            let sum: f64 = lost.iter().zip(&lost[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum();
            Some((sum / pairs as f64, lag))
        };
        let best = lags.filter_map(resemblance).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(best.1 as f64 * step)
    }

    /// The share of the marks with both cars on the longest straight of the course, per cent.
    pub(crate) fn on_straight_pct(&self, map: &Map) -> Option<f64> {
        let [a, b] = longest_straight(map)?;
        let on = |p: &Position| distance_to(*p, a, b) <= ROADSIDE_M;
        let n = self.marks.iter().filter(|m| m.iter().all(on)).count();
        (!self.marks.is_empty()).then(|| 100.0 * n as f64 / self.marks.len() as f64)
    }
}

/// The section of Figures 11 to 13, from surveys with the cars so far apart; the first run of each list has `seed`.
pub(crate) fn section(
    [at_25_s, at_10_s, at_50_s]: &[Vec<Survey>; 3],
    map: Option<&Map>,
    seed: u64,
) -> Section {
    let share = |s: &Survey| map.and_then(|m| s.on_straight_pct(m));
    let no_number = "The paper gives no number.";
    let recurs = "Bursts are synchronized with the lap time of 220 s in all three experiments; ours is the lag with the \
                  highest autocorrelation of losses over time.";
    let on_straight = "Marks with both cars on the longest straight of the course; in the paper all of them.";
    let all_marks = number("bursts_on_straight_pct");
    let mut rows = Vec::new();
    for (artefact, with_marks, who, runs) in [
        ("Figure 11", Some("Figure 12"), "25 s apart", at_25_s),
        ("Figure 13", Some("Figure 13"), "10 s apart", at_10_s),
        ("Section 7.2", None, "50 s apart", at_50_s),
    ] {
        let row = |artefact, quantity, printed: Option<f64>, value: &dyn Fn(&Survey) -> Option<f64>| {
            Row::new(artefact, who, quantity, printed).with(runs.iter().map(value))
        };
        rows.push(row(artefact, "loss_pct", None, &Survey::loss_pct).note(no_number));
        let period = row(artefact, "losses_recur_after_s", number("lap_s"), &Survey::period_s);
        rows.push(period.note(recurs));
        let marks =
            |artefact| row(artefact, "marks_on_the_straight_pct", all_marks, &share).note(on_straight);
        rows.extend(with_marks.map(marks));
    }
    let mut figures = Vec::new();
    if let Some(s) = at_25_s.first() {
        let caption = format!(
            "Packets lost per 5 s during three laps, with the cars 25 s (about 220 m) apart, seed {seed}. The line marks 1 \
             % of the losses, as in the paper's text. (Its caption says 1 % of the packets, which is more than are sent in \
             5 s.)"
        );
        figures.push(Figure::of("Figure 11", &caption, time_plot(s)));
    }
    for (runs, name, apart) in [(at_25_s, "Figure 12", "25 s (220 m)"), (at_10_s, "Figure 13", "10 s (90 m)")]
    {
        if let (Some(s), Some(map)) = (runs.first(), map) {
            let caption = format!(
                "Positions at which the trailing car sent and the lead car did not receive, in each period above the line, \
                 with the cars {apart} apart, seed {seed}."
            );
            figures.push(Figure::of(name, &caption, map_plot(s, map)));
        }
    }
    Section::new(
        "Figures 11 to 13: the course survey",
        "Two cars drive three laps one behind the other; the trailing one sends ten packets of 1024 bytes per second. \
         The losses are the differences that wayhop diff finds between their captures.",
    )
    .rows(rows)
    .figures(figures)
}

fn time_plot(s: &Survey) -> Plot {
    let begin = s.difference.begins_ns();
    let width = WINDOW_NS as f64 * 1e-9;
    let bars =
        s.windows.iter().map(|w| [(w.start_ns - begin) as f64 * 1e-9 + width / 2.0, w.lost as f64]).collect();
    let line = LINE * s.difference.lost() as f64;
    Plot::new(Axis::new("time (s)").from_to(0.0, 660.0), Axis::new("packets lost in 5 s"))
        .with(Series::new("lost", Mark::Bars(width), 0, bars))
        .with(Series::new("1 % of the losses", Mark::Rule, 1, vec![[0.0, line]]))
}

fn map_plot(s: &Survey, map: &Map) -> Plot {
    let corners = map.features().iter().flat_map(|f| match &f.shape {
        Shape::Point(p) => std::slice::from_ref(p),
        Shape::Line(points) | Shape::Area(points) => points,
    });
    let mut ends = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
    for p in corners {
        for (e, v) in ends.iter_mut().zip([p.x, p.y]) {
            *e = [e[0].min(v - BORDER_M), e[1].max(v + BORDER_M)];
        }
    }
    let [x, y] = ends;
    let mut plot =
        Plot::new(Axis::new("east (m)").from_to(x[0], x[1]), Axis::new("north (m)").from_to(y[0], y[1]));
    plot.same_scale = true;
    for f in map.features() {
        match &f.shape {
            Shape::Area(corners) if f.kind == "building" => {
                let ring = corners.iter().chain(corners.first()).map(|p| [p.x, p.y]).collect();
                plot.series.push(Series::new("", Mark::Line, 5, ring));
                if let Some(p) = corners.iter().min_by(|a, b| (a.x - a.y).total_cmp(&(b.x - b.y))) {
                    plot.labels.push(([p.x, p.y + 16.0], f.name.clone()));
                }
            }
            Shape::Line(points) => {
                let course = points.iter().map(|p| [p.x, p.y]).collect();
                plot.series.push(Series::new("course", Mark::Line, 6, course));
            }
            Shape::Point(p) if f.kind == "node" => plot.labels.push(([p.x + 4.0, p.y - 4.0], f.name.clone())),
            _ => {}
        }
    }
    let end = |i: usize| s.marks.iter().map(|m| [m[i].x, m[i].y]).collect();
    let lead = Series::new("lead car, not receiving", Mark::Plus, 0, end(1));
    plot.with(Series::new("trailing car, sending", Mark::Cross, 1, end(0))).with(lead)
}

fn longest_straight(map: &Map) -> Option<[Position; 2]> {
    let line = map.features().iter().find_map(|f| match &f.shape {
        Shape::Line(points) => Some(points),
        _ => None,
    })?;
    let legs = line.windows(2).map(|w| [w[0], w[1]]);
    legs.max_by(|a, b| a[0].distance_squared(a[1]).total_cmp(&b[0].distance_squared(b[1])))
}

/// The distance in the plane from `p` to the line from `a` to `b`, metres.
fn distance_to(p: Position, a: Position, b: Position) -> f64 {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
    let along = along.clamp(0.0, 1.0);
    let (x, y) = (p.x - a.x - along * dx, p.y - a.y - along * dy);
    (x * x + y * y).sqrt()
}
