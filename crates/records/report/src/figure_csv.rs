//! The numbers of a figure as CSV.

use std::fmt::Write as _;

use crate::figure::Figure;
use crate::plot::Axis;
use crate::rows::quoted;

impl Figure {
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
