//! What a figure shows: series over two axes.

/// A horizontal or vertical axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with the unit: `time (s)`.
    pub label: String,
    /// From where to where; from the data where `None`.
    pub range: Option<[f64; 2]>,
    /// What stands at 0, 1, 2, ... in the place of numbers, if anything does.
    pub names: Vec<String>,
    /// Whether equal lengths are equal factors. Values of zero and less have no place there.
    pub is_log: bool,
}

impl Axis {
    /// An axis that spans its data.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), range: None, names: Vec::new(), is_log: false }
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
    /// Which of the six colours; 6 stands for that of rules and outlines.
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

    /// The points where they are drawn.
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
                let mut data = self.extent(which, axis.is_log);
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
                let room = 0.04 * (data[1] - data[0]);
                // What begins at zero stays there.
                let low = if data[0] == 0.0 { 0.0 } else { data[0] - room };
                [low, data[1] + room]
            }))
        };
        [range(&self.x, 0), range(&self.y, 1)]
    }

    fn extent(&self, which: usize, is_log: bool) -> [f64; 2] {
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
        for s in &self.series {
            let half_a_bar = match s.mark {
                Mark::Bars(width) if which == 0 => 0.5 * width,
                _ => 0.0,
            };
            if which == 0 && s.mark == Mark::Rule {
                continue;
            }
            let along = usize::from(s.spread != Spread::Across);
            let bars = s.bars().filter(|_| which == along).flat_map(|(_, ends)| ends);
            let has_place = |v: &f64| v.is_finite() && (*v > 0.0 || !is_log);
            for v in s.places().map(|p| p[which]).chain(bars).filter(has_place) {
                ends = [ends[0].min(v - half_a_bar), ends[1].max(v + half_a_bar)];
            }
        }
        match (ends[0] <= ends[1], is_log) {
            (true, _) => ends,
            (false, true) => [1.0, 10.0],
            (false, false) => [0.0, 1.0],
        }
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
