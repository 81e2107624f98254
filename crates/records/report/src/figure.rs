//! Figures of a page, with their legends.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::plot::{Axis, Mark, Plot, Series};
use crate::rows::quoted;
use crate::svg::{self, HALF_WIDTH, WIDTH, colour};

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

pub(crate) const SAMPLE: (u32, u32) = (24, 12);

/// A sample of how a series is drawn, as SVG within [`SAMPLE`].
pub(crate) fn sample(s: &Series) -> String {
    let hex = colour(s.colour).hex();
    let stroke = format!("fill=\"none\" stroke=\"{hex}\" stroke-width=\"2\"");
    let fill = format!("fill=\"{hex}\"");
    let line = match s.mark {
        Mark::Line | Mark::Steps => format!("<path d=\"M1 6H23\" {stroke}/>"),
        Mark::Rule => format!("<path d=\"M1 6H23\" stroke-dasharray=\"6 4\" {stroke}/>"),
        Mark::Bars(_) => format!("<rect x=\"5\" y=\"0\" width=\"14\" height=\"12\" {fill}/>"),
        _ => String::new(),
    };
    let mark = match s.beads.unwrap_or(s.mark) {
        Mark::Dot => format!("<circle cx=\"12\" cy=\"6\" r=\"3\" {fill}/>"),
        Mark::Disc => format!("<circle cx=\"12\" cy=\"6\" r=\"4\" {fill}/>"),
        Mark::Square => format!("<path d=\"M8 2H16V10H8Z\" {fill}/>"),
        Mark::Triangle => format!("<path d=\"M12 1L17 10H7Z\" {fill}/>"),
        Mark::Diamond => format!("<path d=\"M12 0L17 6L12 12L7 6Z\" {fill}/>"),
        Mark::Cross => format!("<path d=\"M8 2L16 10M16 2L8 10\" {stroke}/>"),
        Mark::Plus => format!("<path d=\"M7 6H17M12 1V11\" {stroke}/>"),
        Mark::Line | Mark::Steps | Mark::Rule | Mark::Bars(_) => String::new(),
    };
    let mark = line + &mark;
    if s.is_joined { format!("<path d=\"M0 6H24\" stroke=\"{hex}\"/>{mark}") } else { mark }
}

/// What stays with the number before it.
const UNITS: [&str; 10] = ["%", "s", "ms", "m", "km", "octets", "packets", "runs", "hops", "dBm"];

/// `text` with no-break spaces between numbers and what they count or measure.
pub(crate) fn tied(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = "";
    for (i, word) in text.split(' ').enumerate() {
        let is_tied = before.ends_with(|c: char| c.is_ascii_digit())
            && UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        if i > 0 {
            out.push(if is_tied { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
        before = word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_units() {
        let text = "Values 0.14 % apart, with 95 % intervals, in each 2 s: of 5 runs. Flow 3 to s.";
        let expect = "Values 0.14_% apart, with 95_% intervals, in each 2_s: of 5_runs. Flow 3 to s.";
        assert_eq!(tied(text).replace('\u{a0}', "_"), expect);
        assert_eq!(tied(" a  3 "), " a  3 ");
    }
}
