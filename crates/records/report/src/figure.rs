//! Figures of a page.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::legend::sample;
use crate::plot::{Axis, Plot};
use crate::rows::quoted;
use crate::svg::{self, HALF_WIDTH, WIDTH};
use crate::ties::tied;

/// One or several plots under one caption.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What the paper calls it: `Figure 8`.
    pub name: String,
    /// What it shows, in sentences.
    pub caption: String,
    /// The plots; two share a line.
    pub panels: Vec<Panel>,
}

/// A plot of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its own heading; may be empty.
    pub title: String,
    /// What it shows.
    pub plot: Plot,
}

impl Panel {
    /// A plot under this heading, which may be empty.
    pub fn new(title: &str, plot: Plot) -> Self {
        Self { title: title.to_owned(), plot }
    }
}

impl Figure {
    /// A figure of these plots.
    pub fn new(name: &str, caption: &str, panels: impl IntoIterator<Item = Panel>) -> Self {
        Self { name: name.to_owned(), caption: caption.to_owned(), panels: panels.into_iter().collect() }
    }

    /// A figure of one plot.
    pub fn of(name: &str, caption: &str, plot: Plot) -> Self {
        Self::new(name, caption, [Panel::new("", plot)])
    }

    /// The numbers that it shows, as CSV, one line a point: panel, series, both coordinates, and the ends of the interval, empty where there is none (RFC 4180, with
    /// `\n` line ends). Axes with names have names instead of numbers.
    pub fn csv(&self) -> String {
        let mut text = "panel,series,x_axis,x,y_axis,y,ci95_low,ci95_high\n".to_owned();
        for panel in &self.panels {
            let (x, y) = (&panel.plot.x, &panel.plot.y);
            for s in &panel.plot.series {
                for (i, p) in s.points.iter().enumerate() {
                    let ends = s.intervals.get(i).copied().flatten();
                    let [low, high] = [0, 1].map(|k| ends.map_or_else(String::new, |e| number(e[k])));
                    let cells = [
                        quoted(&panel.title),
                        quoted(&s.name),
                        quoted(&x.label),
                        coordinate(x, p[0]),
                        quoted(&y.label),
                        coordinate(y, p[1]),
                        low,
                        high,
                    ];
                    let _ = writeln!(text, "{}", cells.join(","));
                }
            }
        }
        text
    }

    pub(crate) fn html(&self) -> Result<String, String> {
        let half = self.panels.len() > 1;
        let mut panels = String::new();
        for p in &self.panels {
            let title =
                if p.title.is_empty() { self.name.clone() } else { format!("{} {}", self.name, p.title) };
            let heading =
                if p.title.is_empty() { String::new() } else { format!("<h3>{}</h3>", escape(&p.title)) };
            // Letters of the wide drawing could not be read on a narrow screen, which has one of half the width.
            let (drawing, legend) =
                (svg::draw(&p.plot, &title, if half { HALF_WIDTH } else { WIDTH })?, legend(&p.plot));
            let drawings = if half {
                format!("<div class=\"plot\">{drawing}</div>")
            } else {
                let narrow = svg::draw(&p.plot, &title, HALF_WIDTH)?;
                format!("<div class=\"plot wider\">{drawing}</div><div class=\"plot narrow\">{narrow}</div>")
            };
            let _ = writeln!(panels, "<div class=\"panel\">{heading}{legend}{drawings}</div>");
        }
        let (name, caption) = (escape(&self.name), escape(&tied(&self.caption)));
        Ok(format!(
            "<figure>\n<div class=\"panels\">\n{panels}</div>\n<figcaption><b>{name}.</b> {caption}</figcaption>\n</figure>\n"
        ))
    }
}

/// Outside of the drawing, so that it never hides data.
fn legend(plot: &Plot) -> String {
    let named: Vec<_> = plot.series.iter().filter(|s| !s.name.is_empty()).collect();
    if named.is_empty() {
        return String::new();
    }
    let mut items = String::new();
    if !plot.heading.is_empty() {
        let _ = write!(items, "<li>{}:</li>", escape(&plot.heading));
    }
    for s in named {
        let name = escape(&s.name);
        let _ = write!(
            items,
            "<li><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\">{}</svg>{name}</li>",
            sample(s)
        );
    }
    format!("<ul class=\"legend\">{items}</ul>")
}

/// A number, or the name of what is there. Marks of several series are drawn beside the name, not at it.
fn coordinate(axis: &Axis, v: f64) -> String {
    if axis.names.is_empty() {
        return number(v);
    }
    let nearest = v.round();
    let name = if nearest >= 0.0 { axis.names.get(nearest as usize) } else { None };
    name.map_or_else(|| number(v), |n| quoted(n))
}

/// Empty where there is none.
fn number(v: f64) -> String {
    if v.is_finite() { v.to_string() } else { String::new() }
}
