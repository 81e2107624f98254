//! Drawing a plot as SVG.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;

use crate::escape::escape;
use crate::numbers::tick;
use crate::plot::{Axis, Mark, Plot, Series};
use crate::style::{self, Ink};

/// Widths and heights in pixels of the drawing; the page scales it.
const WIDTH: u32 = 760;
pub(crate) const HALF_WIDTH: u32 = 480;
const HEIGHT: u32 = 330;
const MARGIN: u32 = 10;
const X_LABELS: u32 = 46;
const Y_LABELS: u32 = 58;
/// Ticks of an axis, about.
const X_TICKS: usize = 10;
const Y_TICKS: usize = 6;

type Chart<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), String>;

/// The plot as an `<svg>` element that says `title` to those who cannot see it. `half`: it shares its line with another.
pub(crate) fn draw(plot: &Plot, title: &str, half: bool) -> Result<String, String> {
    let [x, y] = plot.ranges();
    let (width, height) = (width(half), height(plot, half));
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        paint(&area, plot, x, y, half).map_err(|e| format!("cannot draw \"{title}\": {e}"))?;
    }
    Ok(labelled(&text, title))
}

fn width(half: bool) -> u32 {
    if half { HALF_WIDTH } else { WIDTH }
}

/// How high the drawing is.
pub(crate) fn height(plot: &Plot, half: bool) -> u32 {
    if !plot.same_scale {
        return HEIGHT;
    }
    let [x, y] = plot.ranges();
    let across = f64::from(width(half) - Y_LABELS - 2 * MARGIN);
    let up = across * (y[1] - y[0]) / (x[1] - x[0]);
    (up.clamp(80.0, 900.0) as u32) + X_LABELS + 2 * MARGIN
}

fn paint(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    plot: &Plot,
    x: [f64; 2],
    y: [f64; 2],
    half: bool,
) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .x_label_area_size(X_LABELS)
        .y_label_area_size(Y_LABELS)
        .build_cartesian_2d(x[0]..x[1], y[0]..y[1])
        .map_err(text_of)?;
    let x_ticks = match plot.x.names.len() {
        0 if half => X_TICKS - 4,
        0 => X_TICKS,
        // As many as there can be with one at every whole number.
        n => n + 1,
    };
    let step = |r: [f64; 2], n: usize| (r[1] - r[0]) / n as f64;
    let (x_step, y_step) = (step(x, x_ticks), step(y, Y_TICKS));
    let label = |size: u32| ("sans-serif", size).into_font().color(&style::TEXT.rgb);
    chart
        .configure_mesh()
        .x_labels(x_ticks)
        .y_labels(Y_TICKS)
        .max_light_lines(0)
        .bold_line_style(style::GRID.rgb)
        .axis_style(style::RULE.rgb)
        .label_style(label(13))
        .axis_desc_style(label(14))
        .x_desc(plot.x.label.as_str())
        .y_desc(plot.y.label.as_str())
        .x_label_formatter(&|v| label_of(&plot.x, *v, x_step))
        .y_label_formatter(&|v| label_of(&plot.y, *v, y_step))
        .draw()
        .map_err(text_of)?;
    plot.series.iter().try_for_each(|s| series(&mut chart, s, x, y))?;
    for (at, words) in plot.labels.iter().filter(|(at, _)| inside(at[0], x) && inside(at[1], y)) {
        let text = Text::new(words.clone(), (at[0], at[1]), label(13));
        chart.draw_series(std::iter::once(text)).map_err(text_of)?;
    }
    area.present().map_err(text_of)
}

/// What stands at a tick: a number, or the name of what is there.
fn label_of(axis: &Axis, at: f64, step: f64) -> String {
    if axis.names.is_empty() {
        return tick(at, step);
    }
    let nearest = at.round();
    let name =
        if (at - nearest).abs() < 1e-6 && nearest >= 0.0 { axis.names.get(nearest as usize) } else { None };
    name.cloned().unwrap_or_default()
}

fn series(chart: &mut Chart<'_, '_>, s: &Series, x: [f64; 2], y: [f64; 2]) -> Drawn {
    let rgb = colour(s.colour).rgb;
    // Marks outside of the axes are left out; lines and bars end there.
    let shown = || {
        let inner = s.points.iter().filter(move |p| inside(p[0], x) && inside(p[1], y));
        inner.map(|p| (p[0], p[1]))
    };
    if s.is_joined {
        let points = shown().collect::<Vec<_>>();
        draw_all(chart, std::iter::once(PathElement::new(points, rgb.stroke_width(1))))?;
    }
    error_bars(chart, s, x, y)?;
    let held = |p: [f64; 2]| [p[0].clamp(x[0], x[1]), p[1].clamp(y[0], y[1])];
    match s.mark {
        Mark::Dot => draw_all(chart, shown().map(|at| Circle::new(at, 2, rgb.filled()))),
        Mark::Disc => draw_all(chart, shown().map(|at| Circle::new(at, 4, rgb.filled()))),
        Mark::Square => filled(chart, shown(), &[(-4, -4), (4, -4), (4, 4), (-4, 4)], rgb),
        Mark::Triangle => filled(chart, shown(), &[(0, -6), (5, 4), (-5, 4)], rgb),
        Mark::Diamond => filled(chart, shown(), &[(0, -6), (5, 0), (0, 6), (-5, 0)], rgb),
        Mark::Cross => draw_all(chart, shown().map(|at| Cross::new(at, 4, rgb.stroke_width(2)))),
        Mark::Plus => {
            let plus = |at| {
                let line = |a, b| PathElement::new(vec![a, b], rgb.stroke_width(2));
                EmptyElement::at(at) + line((-5, 0), (5, 0)) + line((0, -5), (0, 5))
            };
            draw_all(chart, shown().map(plus))
        }
        Mark::Line => lines(chart, s.points.iter().map(|p| [held(*p)]), rgb),
        Mark::Steps => {
            let steps = s.points.windows(2).map(|w| [held(w[0]), held([w[1][0], w[0][1]])]);
            let last = s.points.last().map(|p| [held(*p), held(*p)]);
            lines(chart, steps.chain(last), rgb)
        }
        Mark::Bars(width) => {
            let bar = |p: &[f64; 2]| {
                let ends = [[p[0] - 0.46 * width, 0.0], [p[0] + 0.46 * width, p[1]]];
                Rectangle::new(ends.map(held).map(|p| (p[0], p[1])), rgb.filled())
            };
            let shown = s.points.iter().filter(|p| inside(p[0], x) && p[1].is_finite());
            draw_all(chart, shown.map(bar))
        }
        Mark::Rule => s.points.iter().map(|p| p[1]).filter(|v| inside(*v, y)).try_for_each(|y| {
            let ends = [(x[0], y), (x[1], y)];
            draw_all(chart, DashedLineSeries::new(ends, 6, 4, rgb.into()).into_iter())
        }),
    }
}

/// A shape at each point, its corners in pixels from there.
fn filled(
    chart: &mut Chart<'_, '_>,
    points: impl Iterator<Item = (f64, f64)>,
    corners: &[(i32, i32)],
    rgb: RGBColor,
) -> Drawn {
    draw_all(chart, points.map(|at| EmptyElement::at(at) + Polygon::new(corners.to_vec(), rgb.filled())))
}

/// The intervals of a series' points, from end to end, as far as the axes go. Ends within them have a cap.
fn error_bars(chart: &mut Chart<'_, '_>, s: &Series, x: [f64; 2], y: [f64; 2]) -> Drawn {
    let stroke = colour(s.colour).rgb.stroke_width(1);
    let bars = || s.bars().filter(|(at, ends)| inside(*at, x) && ends[0] <= y[1] && ends[1] >= y[0]);
    let line = |(at, ends): (f64, [f64; 2])| {
        PathElement::new(ends.map(|v| (at, v.clamp(y[0], y[1]))).to_vec(), stroke)
    };
    draw_all(chart, bars().map(line))?;
    let ends = bars().flat_map(|(at, ends)| ends.map(|v| (at, v))).filter(|(_, v)| inside(*v, y));
    draw_all(chart, ends.map(|at| EmptyElement::at(at) + PathElement::new(vec![(-4, 0), (4, 0)], stroke)))
}

/// Lines through the points, interrupted where one is not finite.
fn lines<const N: usize>(
    chart: &mut Chart<'_, '_>,
    points: impl Iterator<Item = [[f64; 2]; N]>,
    rgb: RGBColor,
) -> Drawn {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![vec![]];
    for p in points.flatten() {
        if p[0].is_finite() && p[1].is_finite() {
            pieces.last_mut().expect("one from the start").push((p[0], p[1]));
        } else {
            pieces.push(vec![]);
        }
    }
    let lines = pieces.into_iter().filter(|p| p.len() > 1).map(|p| PathElement::new(p, rgb.stroke_width(2)));
    draw_all(chart, lines)
}

fn draw_all<'a, E>(chart: &mut Chart<'a, '_>, elements: impl Iterator<Item = E>) -> Drawn
where
    for<'b> &'b E: PointCollection<'b, (f64, f64)>,
    E: Drawable<SVGBackend<'a>> + 'a,
{
    chart.draw_series(elements).map(|_| ()).map_err(text_of)
}

fn inside(v: f64, [low, high]: [f64; 2]) -> bool {
    (low..=high).contains(&v)
}

/// The colour of a series.
pub(crate) fn colour(index: usize) -> &'static Ink {
    style::SERIES.get(index).unwrap_or(&style::RULE)
}

fn text_of(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// For readers who hear the page: what the picture is.
fn labelled(svg: &str, title: &str) -> String {
    let svg = svg.trim();
    let role = format!("<svg role=\"img\" aria-label=\"{}\"", escape(title));
    svg.find("<svg").map_or_else(|| svg.to_owned(), |at| format!("{role}{}", &svg[at + 4..]))
}
