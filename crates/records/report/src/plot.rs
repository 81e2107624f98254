//! What a figure shows: series over two axes.

use crate::stats::Estimate;

/// A horizontal or vertical axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with the unit: `time (s)`.
    pub label: String,
    /// From where to where; from the data where `None`.
    pub range: Option<[f64; 2]>,
    /// Names at 0, 1, 2, ... instead of numbers, if any.
    pub names: Vec<String>,
    /// Whether equal lengths are equal factors. Values of zero and less have no place there.
    pub is_log: bool,
    /// The least and the most that there can be of what it measures: intervals are cut there.
    pub limits: [f64; 2],
    /// Whether only whole numbers have a label.
    pub is_whole: bool,
}

impl Axis {
    /// An axis that spans its data.
    pub fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            range: None,
            names: Vec::new(),
            is_log: false,
            limits: [f64::NEG_INFINITY, f64::INFINITY],
            is_whole: false,
        }
    }
    /// With ends of its own.
    #[must_use]
    pub fn from_to(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }
    /// With equal lengths for equal factors.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.is_log = true;
        self
    }
    /// Of what cannot be less or more than this: a share is within 0 and 100 %, a count is 0 or more.
    #[must_use]
    pub fn within(mut self, least: f64, most: f64) -> Self {
        self.limits = [least, most];
        self
    }
    /// Of what comes in whole numbers.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }
    /// `v`, or the limit that it is beyond.
    fn held(&self, v: f64) -> f64 {
        v.max(self.limits[0]).min(self.limits[1])
    }
    /// An axis of things that have names and no order; the first is at 0.
    pub fn of(names: &[&str]) -> Self {
        let range = Some([-0.6, names.len() as f64 - 0.4]);
        Self { range, names: names.iter().map(|&n| n.to_owned()).collect(), ..Self::new("") }
    }
}

/// How the points of a series are drawn.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Mark {
    /// A small disc at each.
    Dot,
    /// A large disc at each.
    Disc,
    /// A square at each.
    Square,
    /// A triangle at each.
    Triangle,
    /// A square on its corner at each.
    Diamond,
    /// An x at each.
    Cross,
    /// A + at each.
    Plus,
    /// A line from one to the next.
    Line,
    /// A line that keeps each value until the next point.
    Steps,
    /// A bar from zero up to each, this wide in units of the horizontal axis, the point in the middle of its foot.
    Bars(f64),
    /// A broken horizontal line across the plot at each point's height.
    Rule,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What they are; an empty name is not in the legend.
    pub name: String,
    /// How they are drawn.
    pub mark: Mark,
    /// Which of the six colours; 6 is the colour of rules and outlines.
    pub colour: usize,
    /// x and y of each. Points that are not finite are left out, and interrupt a line.
    pub points: Vec<[f64; 2]>,
    /// The ends of each point's interval; shorter if the last points have none.
    pub intervals: Vec<Option<[f64; 2]>>,
    /// How intervals are drawn.
    pub spread: Spread,
    /// Whether a thin line joins the marks.
    pub is_joined: bool,
    /// How far to the right of their places points are drawn, so that those of several series do not hide each other.
    pub shift: f64,
    /// Marks here and there on a line, which tell it from others without its colour.
    pub beads: Option<Mark>,
}

/// How the intervals of a series are drawn.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// An upright bar at each point.
    #[default]
    Bars,
    /// A band behind the line, for points that stand close together.
    Band,
    /// A bar that lies: the interval is of x, not of y. A thin line leads from zero to the mark.
    Across,
}

/// One mark a series; after as many series as there are colours, the next mark comes with each colour.
const MARKS: [Mark; 6] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross, Mark::Plus];

impl Mark {
    /// The mark of the series number `i`, counted from 0, and its colour: no two of the first 36 share both.
    pub fn nth(i: usize) -> (Self, usize) {
        (MARKS[(i + i / MARKS.len()) % MARKS.len()], i % MARKS.len())
    }
}

impl Series {
    /// A series of this name.
    pub fn new(name: &str, mark: Mark, colour: usize, points: Vec<[f64; 2]>) -> Self {
        Self {
            name: name.to_owned(),
            mark,
            colour,
            points,
            intervals: Vec::new(),
            spread: Spread::Bars,
            is_joined: false,
            shift: 0.0,
            beads: None,
        }
    }

    /// A series of means with their intervals, each at its place on the horizontal axis.
    pub fn of_estimates(
        name: &str,
        (mark, colour): (Mark, usize),
        estimates: impl IntoIterator<Item = (f64, Estimate)>,
    ) -> Self {
        let (points, intervals) = estimates.into_iter().map(|(x, e)| ([x, e.mean], e.ci95)).unzip();
        Self::new(name, mark, colour, points).with_intervals(intervals)
    }

    /// With an interval for each point that has one.
    #[must_use]
    pub fn with_intervals(mut self, intervals: Vec<Option<[f64; 2]>>) -> Self {
        self.intervals = intervals;
        self
    }

    /// With a thin line from mark to mark.
    #[must_use]
    pub fn joined(mut self) -> Self {
        self.is_joined = true;
        self
    }

    /// With its intervals drawn so.
    #[must_use]
    pub fn spread(mut self, spread: Spread) -> Self {
        self.spread = spread;
        self
    }

    /// With marks here and there on its line.
    #[must_use]
    pub fn beads(mut self, mark: Mark) -> Self {
        self.beads = Some(mark);
        self
    }

    /// Drawn so far to the right.
    #[must_use]
    pub fn shifted(mut self, shift: f64) -> Self {
        self.shift = shift;
        self
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = [f64; 2]> {
        self.points.iter().map(|p| [p[0] + self.shift, p[1]])
    }

    /// The error bars: where, from and to.
    pub(crate) fn bars(&self) -> impl Iterator<Item = (f64, [f64; 2])> {
        let at = usize::from(self.spread == Spread::Across);
        let bar = move |(p, i): ([f64; 2], &Option<[f64; 2]>)| i.map(|ends| (p[at], ends));
        let is_drawable =
            |(x, [low, high]): &(f64, [f64; 2])| x.is_finite() && low.is_finite() && high.is_finite();
        self.places().zip(&self.intervals).filter_map(bar).filter(is_drawable)
    }
}

/// Series over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is shown, the hindmost first.
    pub series: Vec<Series>,
    /// A map: a metre is as long upwards as it is to the right.
    pub same_scale: bool,
    /// What the series differ in: the legend begins with it.
    pub heading: String,
    /// Words on the plot, with the place of their left end.
    pub labels: Vec<([f64; 2], String)>,
}

impl Plot {
    /// An empty plot over these axes.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, series: Vec::new(), same_scale: false, heading: String::new(), labels: Vec::new() }
    }

    /// With one more series in front.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The ends of both axes: as given, or around the data with some room.
    pub(crate) fn ranges(&self) -> [[f64; 2]; 2] {
        let range = |axis: &Axis, which: usize| {
            let is_range =
                |[a, b]: &[f64; 2]| a.is_finite() && b.is_finite() && a < b && (*a > 0.0 || !axis.is_log);
            let given = axis.range.filter(is_range);
            drawable(given.unwrap_or_else(|| {
                let mut data = self.extent(which, axis);
                if axis.is_log {
                    // A tenth of a decade of room at both ends.
                    return [data[0] / 1.26, data[1] * 1.26];
                }
                if which == 0 && self.series.iter().any(|s| s.spread == Spread::Across) {
                    data = [data[0].min(0.0), data[1].max(0.0)];
                }
                if which == 1 && self.series.iter().any(|s| matches!(s.mark, Mark::Bars(_))) {
                    data[0] = data[0].min(0.0);
                }
                // A single value tells no scale: that is what there can be of it.
                if data[0] == data[1] && axis.limits.iter().all(|v| v.is_finite()) {
                    data = axis.limits;
                }
                let room = 0.04 * (data[1] - data[0]);
                // What begins at zero stays there.
                let low = if data[0] == 0.0 { 0.0 } else { data[0] - room };
                [low.max(axis.limits[0]), data[1] + room]
            }))
        };
        [range(&self.x, 0), range(&self.y, 1)]
    }

    /// From the least to the largest point, and on to the ends of intervals as far as [`Plot::reach`] goes.
    fn extent(&self, which: usize, axis: &Axis) -> [f64; 2] {
        let has_place = |v: &f64| v.is_finite() && (*v > 0.0 || !axis.is_log);
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
        for s in self.series.iter().filter(|s| which == 1 || s.mark != Mark::Rule) {
            let half_a_bar = match s.mark {
                Mark::Bars(width) if which == 0 => 0.5 * width,
                _ => 0.0,
            };
            for v in s.places().map(|p| p[which]).filter(has_place) {
                ends = [ends[0].min(v - half_a_bar), ends[1].max(v + half_a_bar)];
            }
        }
        if ends[0] > ends[1] {
            return if axis.is_log { [1.0, 10.0] } else { [0.0, 1.0] };
        }
        let [low, high] = self.reach(which, ends, axis.is_log);
        for v in self.bars_along(which).flatten().map(|v| axis.held(v)) {
            // An end at zero among factors is beyond the reach.
            let v = v.clamp(low, high);
            ends = [ends[0].min(v), ends[1].max(v)];
        }
        ends
    }

    /// The ends of the intervals that lie along an axis.
    fn bars_along(&self, which: usize) -> impl Iterator<Item = [f64; 2]> {
        let lies_so = move |s: &&Series| which == usize::from(s.spread != Spread::Across);
        self.series.iter().filter(lies_so).flat_map(Series::bars).map(|(_, ends)| ends)
    }

    /// How far an axis goes for the sake of intervals, around points from `low` to `high`. Those of two or three runs may be many
    /// times as long as all values are apart, and would leave no room to tell these from each other: they are cut at the frame.
    fn reach(&self, which: usize, [low, high]: [f64; 2], is_log: bool) -> [f64; 2] {
        if is_log {
            return [low / 10.0, high * 10.0];
        }
        let mut halves: Vec<f64> =
            self.bars_along(which).map(|ends| 0.5 * (ends[1] - ends[0]).abs()).collect();
        halves.sort_by(f64::total_cmp);
        // Where all are long, most are seen as a whole.
        let typical = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
        let longest = halves.last().copied().unwrap_or(0.0);
        let room = Some((high - low).max(1.5 * typical)).filter(|room| *room > 0.0).unwrap_or(longest);
        [low - room, high + room]
    }
}

/// Ends far enough apart for ticks to be told from each other.
fn drawable([low, high]: [f64; 2]) -> [f64; 2] {
    let size = low.abs().max(high.abs());
    if high - low > (1e-9 * size).max(1e-9) {
        [low, high]
    } else {
        [low - 0.5 - 1e-6 * size, high + 0.5 + 1e-6 * size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points at 0, 1, 2, ... with their intervals.
    fn plot(y: Axis, points: &[(f64, [f64; 2])]) -> Plot {
        let at = points.iter().enumerate().map(|(k, (v, _))| [k as f64, *v]).collect();
        let intervals = points.iter().map(|(_, ends)| Some(*ends)).collect();
        Plot::new(Axis::new("x"), y).with(Series::new("", Mark::Disc, 0, at).with_intervals(intervals))
    }

    #[test]
    fn intervals_of_two_runs_do_not_take_the_axis() {
        let factors = [(10.0, [1e-6, 1e13]), (20.0, [0.0, 40.0]), (30.0, [29.0, 31.0])];
        let [low, high] = plot(Axis::new("ms").log(), &factors).ranges()[1];
        assert!((low - 1.0 / 1.26).abs() < 1e-9 && (high - 300.0 * 1.26).abs() < 1e-9, "{low} {high}");
        let share = [(98.0, [-29.0, 225.0]), (90.0, [85.0, 95.0])];
        let [low, high] = plot(Axis::new("%").within(0.0, 100.0), &share).ranges()[1];
        assert!((0.0..=85.0).contains(&low) && (100.0..=105.0).contains(&high), "{low} {high}");
        let count = [(20.0, [-35.0, 75.0]), (2.0, [-10.0, 14.0])];
        let [low, high] = plot(Axis::new("transmissions").within(0.0, f64::INFINITY), &count).ranges()[1];
        assert_eq!(low, 0.0);
        assert!(high > 75.0, "a few long ones are seen as a whole: {high}");
        let one = [(10.0, [9.0, 11.0]), (11.0, [10.0, 12.0]), (12.0, [-800.0, 824.0])];
        let [low, high] = plot(Axis::new("ms"), &one).ranges()[1];
        assert!((5.0..9.0).contains(&low) && (12.0..16.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn ordinary_intervals_are_within_the_axis() {
        let points = [(0.01, [-0.2, 0.22]), (-0.02, [-0.3, 0.26]), (0.0, [-0.25, 0.25])];
        let [low, high] = plot(Axis::new("difference"), &points).ranges()[1];
        assert!(low < -0.3 && high > 0.26, "{low} {high}");
        let [low, high] = plot(Axis::new("%").within(0.0, 100.0), &[(100.0, [100.0; 2])]).ranges()[1];
        assert!(low == 0.0 && high >= 100.0, "a single share has the scale of shares: {low} {high}");
    }
}
