//! What a reader wants otherwise in a figure: its axes, and the names of its series.

use crate::figure::Figure;
use crate::plot::{Mark, Plot, Series};

/// Changes of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// From where to where the horizontal axes go.
    pub x_range: Option<[f64; 2]>,
    /// From where to where the vertical axes go, in the order of the plots; those behind the last one keep their own.
    pub y_ranges: Vec<[f64; 2]>,
    /// Whether equal lengths of the vertical axes are equal factors.
    pub log_y: bool,
    /// Series by their names, and what the legend calls them.
    pub labels: Vec<(String, String)>,
}

impl Figure {
    /// The figure with these changes; its caption says what they leave out. Fails where it has no such axis or series.
    pub fn viewed(mut self, view: &View) -> Result<Self, String> {
        for (name, label) in &view.labels {
            self.rename(name, label)?;
        }
        let count = self.panels.len();
        if view.y_ranges.len() > count {
            return Err(format!(
                "{} ranges for {count} vertical axes; give at most one per axis",
                view.y_ranges.len()
            ));
        }
        let (mut outside, mut no_place) = (0, 0);
        for (k, panel) in self.panels.iter_mut().enumerate() {
            let missing = seen(&mut panel.plot, view, view.y_ranges.get(k).copied())?;
            (outside, no_place) = (outside + missing.0, no_place + missing.1);
        }
        for (n, what) in [
            (no_place, "zero or negative and cannot be drawn on a logarithmic axis"),
            (outside, "outside the axes"),
        ] {
            if n > 0 {
                let points = if n == 1 { "point is" } else { "points are" };
                self.caption = format!("{} {n} {points} {what}.", self.caption);
            }
        }
        Ok(self)
    }

    fn rename(&mut self, name: &str, label: &str) -> Result<(), String> {
        let mut found = false;
        let mut names = Vec::new();
        for s in self.panels.iter_mut().flat_map(|p| &mut p.plot.series).filter(|s| !s.name.is_empty()) {
            if s.name == name {
                label.clone_into(&mut s.name);
                found = true;
            } else if !names.contains(&s.name) {
                names.push(s.name.clone());
            }
        }
        match (found, names.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(format!("{name}: the series of this figure have no names")),
            (false, false) => Err(format!("{name}: no such series; give one of: {}", names.join(", "))),
        }
    }

    /// Several figures as one: their plots below each other, and each sentence of their captions once.
    pub fn joined(figures: Vec<Self>) -> Self {
        let mut all = Self::default();
        let several = figures.len() > 1;
        for mut figure in figures {
            for sentence in sentences(&figure.caption) {
                if !sentences(&all.caption).any(|s| s == sentence) {
                    let gap = if all.caption.is_empty() { "" } else { " " };
                    all.caption = format!("{}{gap}{sentence}", all.caption);
                }
            }
            let gap = if all.name.is_empty() { "" } else { "; " };
            all.name = format!("{}{gap}{}", all.name, figure.name);
            // Axes of one sweep tell what they are; those of two kinds of figures may not.
            if several && figure.panels.iter().any(|p| !p.title.is_empty()) {
                for panel in &mut figure.panels {
                    panel.title = format!("{}, {}", figure.name, panel.title);
                }
            }
            all.panels.append(&mut figure.panels);
        }
        all
    }
}

/// Changes a plot. Returns how many of its points are then outside of it, and how many have no place on a logarithmic axis.
fn seen(plot: &mut Plot, view: &View, y_range: Option<[f64; 2]>) -> Result<(usize, usize), String> {
    let (mut outside, mut without_place) = (0, 0);
    let wants_y = view.log_y || y_range.is_some();
    let wanted = [(view.x_range.is_some(), "horizontal", &plot.x), (wants_y, "vertical", &plot.y)];
    if let Some((_, which, _)) = wanted.iter().find(|(wanted, _, axis)| *wanted && !axis.names.is_empty()) {
        return Err(format!("the {which} axis has names, not numbers, so it cannot have a range"));
    }
    let no_place = |low: f64| format!("{low} cannot be on a logarithmic axis; start above 0");
    if let Some([low, high]) = view.x_range {
        if plot.x.is_log && low <= 0.0 {
            return Err(no_place(low));
        }
        plot.x.range = Some([low, high]);
        outside = plot.series.iter_mut().map(|s| s.cut([low, high])).sum();
    }
    if view.log_y && !plot.y.is_log {
        plot.y.is_log = true;
        // Its ends were those of equal steps.
        plot.y.range = None;
    }
    let values = || plot.series.iter().filter(|s| s.mark != Mark::Rule).flat_map(|s| &s.points).map(|p| p[1]);
    if plot.y.is_log {
        without_place = values().filter(|v| *v <= 0.0).count();
    }
    if let Some([low, high]) = y_range {
        if plot.y.is_log && low <= 0.0 {
            return Err(no_place(low));
        }
        outside += values().filter(|v| v.is_finite() && !(low..=high).contains(v)).count();
        plot.y.range = Some([low, high]);
    }
    Ok((outside, without_place))
}

pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(". ").map_or(rest.len(), |at| at + 1);
        let (sentence, more) = rest.split_at(end);
        rest = more.trim_start();
        (!sentence.is_empty()).then_some(sentence)
    })
}

impl Series {
    /// Leaves out the points beyond these ends of the horizontal axis, and says how many; steps keep the value with which they come in.
    fn cut(&mut self, [low, high]: [f64; 2]) -> usize {
        let points = std::mem::take(&mut self.points);
        let mut intervals = std::mem::take(&mut self.intervals).into_iter();
        let all = points.len();
        let mut before = None;
        for p in points {
            let interval = intervals.next().flatten();
            if (low..=high).contains(&p[0]) {
                self.points.push(p);
                self.intervals.push(interval);
            } else if p[0] < low {
                before = Some(p[1]);
            }
        }
        let left_out = all - self.points.len();
        if self.mark == Mark::Steps {
            let comes_in = before.filter(|_| self.points.first().is_none_or(|p| p[0] > low));
            if let Some(y) = comes_in {
                self.points.insert(0, [low, y]);
                self.intervals.insert(0, None);
            }
            let goes_out = self.points.last().filter(|p| p[0] < high).map(|p| [high, p[1]]);
            self.points.extend(goes_out);
            // They go on beyond the ends: no point is missing.
            return 0;
        }
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Axis;

    fn figure(mark: Mark, points: &[[f64; 2]]) -> Figure {
        let plot = Plot::new(Axis::new("time (s)"), Axis::new("n").within(0.0, f64::INFINITY));
        Figure::of("F", "Means of 3 runs.", plot.with(Series::new("dsr", mark, 0, points.to_vec())))
    }

    #[test]
    fn a_window_keeps_what_is_in_it_and_says_what_is_not() {
        let points = [[0.0, 1.0], [10.0, 2.0], [20.0, 3.0], [30.0, 9.0]];
        let view = View { x_range: Some([5.0, 25.0]), ..View::default() };
        let seen = figure(Mark::Disc, &points).viewed(&view).unwrap();
        assert_eq!(seen.panels[0].plot.series[0].points, [[10.0, 2.0], [20.0, 3.0]]);
        assert_eq!(seen.caption, "Means of 3 runs. 2 points are outside the axes.");
        let [x, y] = seen.panels[0].plot.ranges();
        assert!(x == [5.0, 25.0] && y[1] < 4.0, "the vertical axis is that of the window: {y:?}");
        let steps = figure(Mark::Steps, &points).viewed(&view).unwrap();
        let expected = [[5.0, 1.0], [10.0, 2.0], [20.0, 3.0], [25.0, 3.0]];
        assert_eq!(steps.panels[0].plot.series[0].points, expected);
        assert_eq!(steps.caption, "Means of 3 runs.");
    }

    #[test]
    fn zeros_have_no_place_among_factors_and_the_caption_says_so() {
        let view = View { log_y: true, ..View::default() };
        let seen = figure(Mark::Disc, &[[0.0, 0.0], [1.0, 0.1], [2.0, 10.0]]).viewed(&view).unwrap();
        assert!(seen.panels[0].plot.y.is_log);
        assert_eq!(
            seen.caption,
            "Means of 3 runs. 1 point is zero or negative and cannot be drawn on a logarithmic axis."
        );
        let zero = View { log_y: true, y_ranges: vec![[0.0, 1.0]], ..View::default() };
        assert!(figure(Mark::Disc, &[]).viewed(&zero).unwrap_err().contains("start above 0"));
        let two = View { y_ranges: vec![[0.0, 1.0]; 2], ..View::default() };
        assert!(figure(Mark::Disc, &[]).viewed(&two).unwrap_err().starts_with("2 ranges"));
        let mut named = figure(Mark::Disc, &[]);
        named.panels[0].plot.x = Axis::of(&["dsr", "aodv"]);
        let e = named.viewed(&View { x_range: Some([0.0, 1.0]), ..View::default() }).unwrap_err();
        assert!(e.starts_with("the horizontal axis has names"), "{e}");
    }

    #[test]
    fn series_get_other_names() {
        let label =
            |name: &str| View { labels: vec![(name.to_owned(), "DSR".to_owned())], ..View::default() };
        let seen = figure(Mark::Disc, &[]).viewed(&label("dsr")).unwrap();
        assert_eq!(seen.panels[0].plot.series[0].name, "DSR");
        let e = figure(Mark::Disc, &[]).viewed(&label("aodv")).unwrap_err();
        assert_eq!(e, "aodv: no such series; give one of: dsr");
    }

    #[test]
    fn figures_joined_say_each_sentence_once() {
        let second = Figure {
            caption: "Means of 3 runs. 2 of 9 runs are left out.".to_owned(),
            name: "G".to_owned(),
            ..figure(Mark::Disc, &[])
        };
        let all = Figure::joined(vec![figure(Mark::Disc, &[]), second]);
        assert_eq!((all.panels.len(), all.name.as_str()), (2, "F; G"));
        assert_eq!(all.caption, "Means of 3 runs. 2 of 9 runs are left out.");
    }
}
