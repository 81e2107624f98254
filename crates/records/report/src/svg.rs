//! Drawing a plot as SVG.

use std::fmt::Write as _;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter as _;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use crate::escape::escape;
use crate::plot::{Axis, Mark, Plot, Series, Spread};
use crate::ruler::Ruler;
use crate::style::{self, Ink};

/// Widths and heights in pixels of the drawing; the page scales it.
pub(crate) const WIDTH: u32 = 760;
pub(crate) const HALF_WIDTH: u32 = 480;
/// From this width on an axis has room for many numbers.
const WIDE: u32 = 700;
const HEIGHT: u32 = 330;
const MARGIN: u32 = 10;
const X_LABELS: u32 = 46;
const Y_LABELS: u32 = 58;
/// The widest room for names at the vertical axis.
const WIDEST_NAMES: u32 = 190;
/// A letter's width at an axis, and the height of a row of things that have names.
const LETTER_WIDTH: f64 = 7.2;
const ROW: u32 = 20;
/// The height of one series' mark in such a row.
const ROW_MARK: u32 = 12;
/// Ticks of an axis, about.
const X_TICKS: usize = 10;
const Y_TICKS: usize = 6;

type Chart<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<Ruler, Ruler>>;
type DrawResult = Result<(), String>;

/// The plot as an `<svg>` element of this width that says `title` to those who cannot see it.
pub(crate) fn draw(plot: &Plot, title: &str, width: u32) -> Result<String, String> {
    let [x, y] = plot.ranges();
    let height = height(plot, width);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        paint(&area, plot, x, y, width).map_err(|e| format!("cannot draw \"{title}\": {e}"))?;
    }
    Ok(labelled(&powers(&text), title))
}

/// How high the drawing of this width is.
pub(crate) fn height(plot: &Plot, width: u32) -> u32 {
    if !plot.y.names.is_empty() {
        let series = plot.series.iter().filter(|s| !s.points.is_empty()).count() as u32;
        let rows = plot.y.names.len().min(100) as u32 * ROW.max(series * ROW_MARK);
        return rows + X_LABELS + 2 * MARGIN;
    }
    if !plot.same_scale {
        return HEIGHT;
    }
    let [x, y] = plot.ranges();
    let across = f64::from(width.saturating_sub(y_labels(plot) + 2 * MARGIN).max(1));
    let up = across * (y[1] - y[0]) / (x[1] - x[0]);
    (up.clamp(80.0, 900.0) as u32) + X_LABELS + 2 * MARGIN
}

/// Room for the words at the vertical axis.
fn y_labels(plot: &Plot) -> u32 {
    let longest = match plot.y.names.iter().map(|n| n.width()).max() {
        Some(longest) => longest,
        None => Ruler::new(&plot.y, plot.ranges()[1], Y_TICKS).widest(),
    };
    ((LETTER_WIDTH * longest as f64) as u32 + 30).clamp(Y_LABELS, WIDEST_NAMES)
}

fn paint(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    plot: &Plot,
    x: [f64; 2],
    y: [f64; 2],
    width: u32,
) -> DrawResult {
    let x_ticks = match plot.x.names.len() {
        0 if width >= WIDE => X_TICKS,
        0 => X_TICKS - 4,
        n => n + 1,
    };
    let rulers = [Ruler::new(&plot.x, x, x_ticks), Ruler::new(&plot.y, y, Y_TICKS)];
    let [across, up] = rulers.clone();
    let mut chart = ChartBuilder::on(area)
        .margin(MARGIN)
        .x_label_area_size(X_LABELS)
        .y_label_area_size(y_labels(plot))
        .build_cartesian_2d(across, up)
        .map_err(text_of)?;
    let label = |size: u32| ("sans-serif", size).into_font().color(&style::TEXT.rgb);
    chart
        .configure_mesh()
        .x_labels(x_ticks)
        .y_labels(Y_TICKS.max(plot.y.names.len()))
        .bold_line_style(style::GRID.rgb)
        .axis_style(style::RULE.rgb)
        .label_style(label(13))
        .axis_desc_style(label(14))
        .x_desc(plot.x.label.as_str())
        .y_desc(plot.y.label.as_str())
        .x_label_formatter(&|v| rulers[0].format_ext(v))
        .y_label_formatter(&|v| rulers[1].format_ext(v))
        .draw()
        .map_err(text_of)?;
    let most = |axis: &Axis, ends: [f64; 2]| [ends[0].max(axis.limits[0]), ends[1].min(axis.limits[1])];
    let bars = [most(&plot.x, x), most(&plot.y, y)];
    plot.series
        .iter()
        .filter(|s| s.spread == Spread::Band)
        .try_for_each(|s| band(&mut chart, s, x, bars[1]))?;
    for (i, s) in plot.series.iter().enumerate() {
        series(&mut chart, s, [x, y], bars)?;
        if s.mark == Mark::Line {
            // No line leads to a point without neighbours.
            let alone = s.points.iter().enumerate().filter(|(k, p)| {
                is_alone(&s.points, *k) && rulers.iter().zip(*p).all(|(r, v)| r.place(*v).is_some())
            });
            let alone = alone.map(|(_, p)| (p[0], p[1]));
            marks(&mut chart, s.beads.unwrap_or(Mark::Disc), alone, colour(s.colour).rgb)?;
        }
        if let Some(mark) = s.beads {
            let places = beads(s, i, plot.series.len(), &rulers);
            marks(&mut chart, mark, places, colour(s.colour).rgb)?;
        }
    }
    for (at, words) in plot.labels.iter().filter(|(at, _)| inside(at[0], x) && inside(at[1], y)) {
        let text = Text::new(words.clone(), (at[0], at[1]), label(13));
        chart.draw_series(std::iter::once(text)).map_err(text_of)?;
    }
    area.present().map_err(text_of)
}

/// One series on axes with these ends. `bars` is how far intervals go.
fn series(chart: &mut Chart<'_, '_>, s: &Series, [x, y]: [[f64; 2]; 2], bars: [[f64; 2]; 2]) -> DrawResult {
    let rgb = colour(s.colour).rgb;
    // Marks outside of the axes are left out; lines and bars end there.
    let shown = || {
        let inner = s.places().filter(move |p| inside(p[0], x) && inside(p[1], y));
        inner.map(|p| (p[0], p[1]))
    };
    if s.is_joined {
        let points = shown().collect::<Vec<_>>();
        draw_all(chart, std::iter::once(PathElement::new(points, rgb.stroke_width(1))))?;
    }
    match s.spread {
        Spread::Bars => error_bars(chart, s, x, bars[1])?,
        Spread::Across => lying_bars(chart, s, bars[0], y)?,
        Spread::Band => {}
    }
    let held = |p: [f64; 2]| [p[0].clamp(x[0], x[1]), p[1].clamp(y[0], y[1])];
    match s.mark {
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
        mark => marks(chart, mark, shown(), rgb),
    }
}

fn marks(
    chart: &mut Chart<'_, '_>,
    mark: Mark,
    places: impl IntoIterator<Item = (f64, f64)>,
    rgb: RGBColor,
) -> DrawResult {
    let places = places.into_iter();
    match mark {
        Mark::Dot => draw_all(chart, places.map(|at| Circle::new(at, 2, rgb.filled()))),
        Mark::Square => filled(chart, places, &[(-4, -4), (4, -4), (4, 4), (-4, 4)], rgb),
        Mark::Triangle => filled(chart, places, &[(0, -6), (5, 4), (-5, 4)], rgb),
        Mark::Diamond => filled(chart, places, &[(0, -6), (5, 0), (0, 6), (-5, 0)], rgb),
        Mark::Cross => draw_all(chart, places.map(|at| Cross::new(at, 4, rgb.stroke_width(2)))),
        Mark::Plus => {
            let plus = |at| {
                let line = |a, b| PathElement::new(vec![a, b], rgb.stroke_width(2));
                EmptyElement::at(at) + line((-5, 0), (5, 0)) + line((0, -5), (0, 5))
            };
            draw_all(chart, places.map(plus))
        }
        // The others are no marks of a place.
        _ => draw_all(chart, places.map(|at| Circle::new(at, 4, rgb.filled()))),
    }
}

/// How many marks a line bears.
const BEADS: usize = 6;

/// Positions of marks on the line of series `i` of `of`: at equal lengths of the drawn line, alternating with other series.
fn beads(s: &Series, i: usize, of: usize, rulers: &[Ruler; 2]) -> Vec<(f64, f64)> {
    let place = |p: &[f64; 2]| Some([rulers[0].place(p[0])?, rulers[1].place(p[1])?]);
    // What stands alone has a mark of its own.
    let is_on_line = |(k, _): &(usize, &[f64; 2])| s.mark != Mark::Line || !is_alone(&s.points, *k);
    let points: Vec<_> =
        s.points.iter().enumerate().filter(is_on_line).filter_map(|(k, p)| Some((k, p, place(p)?))).collect();
    let length = |w: &[(usize, &[f64; 2], [f64; 2])]| {
        let (a, b) = (w[0].2, w[1].2);
        // There is no line across a gap.
        if w[1].0 == w[0].0 + 1 { (b[0] - a[0]).abs() + (b[1] - a[1]).abs() } else { 0.0 }
    };
    let lengths: Vec<f64> = points.windows(2).map(length).collect();
    let all: f64 = lengths.iter().sum();
    let phase = (i as f64 + 0.5) / of.max(1) as f64;
    let mut wanted = (0..BEADS).map(|k| all * (k as f64 + phase) / BEADS as f64).peekable();
    let mut found = Vec::new();
    let mut gone = 0.0;
    for ((_, p, _), own) in points.iter().zip(std::iter::once(0.0).chain(lengths)) {
        gone += own;
        if wanted.next_if(|w| gone >= *w).is_some() {
            found.push((p[0], p[1]));
            while wanted.next_if(|w| gone >= *w).is_some() {}
        }
    }
    found
}

/// Whether a point is defined, and neither of its neighbours is.
fn is_alone(points: &[[f64; 2]], k: usize) -> bool {
    let is_defined = |k: usize| points.get(k).is_some_and(|p| p.iter().all(|v| v.is_finite()));
    is_defined(k) && !k.checked_sub(1).is_some_and(is_defined) && !is_defined(k + 1)
}

/// The intervals of a series as an area, interrupted where a point has none, and a bar at a point that stands alone.
fn band(chart: &mut Chart<'_, '_>, s: &Series, x: [f64; 2], y: [f64; 2]) -> DrawResult {
    let mut pieces: Vec<Vec<(f64, [f64; 2])>> = vec![vec![]];
    for (i, p) in s.points.iter().enumerate() {
        match s.intervals.get(i).copied().flatten() {
            Some(ends) if p[0].is_finite() && ends.iter().all(|v| v.is_finite()) => {
                let held = ends.map(|v| v.clamp(y[0], y[1]));
                pieces.last_mut().expect("one from the start").push((p[0], held));
            }
            _ => pieces.push(vec![]),
        }
    }
    let area = |piece: Vec<(f64, [f64; 2])>| {
        let low = piece.iter().map(|(x, ends)| (*x, ends[0]));
        let high = piece.iter().rev().map(|(x, ends)| (*x, ends[1]));
        Polygon::new(low.chain(high).collect::<Vec<_>>(), colour(s.colour).rgb.mix(0.2))
    };
    let single =
        pieces.iter().filter(|p| p.len() == 1 && inside(p[0].0, x)).map(|p| p[0]).collect::<Vec<_>>();
    let bar = |(at, ends): (f64, [f64; 2])| {
        let stroke = colour(s.colour).rgb.stroke_width(1);
        PathElement::new(ends.map(|v| (at, v)).to_vec(), stroke)
    };
    draw_all(chart, single.into_iter().map(bar))?;
    draw_all(chart, pieces.into_iter().filter(|p| p.len() > 1).map(area))
}

/// The intervals of x, and a line from zero to each mark.
fn lying_bars(chart: &mut Chart<'_, '_>, s: &Series, x: [f64; 2], y: [f64; 2]) -> DrawResult {
    let rgb = colour(s.colour).rgb;
    let stems = s.points.iter().filter(|p| p[0].is_finite() && inside(p[1], y));
    let stem = |p: &[f64; 2]| {
        let ends = [0.0, p[0]].map(|v| (v.clamp(x[0], x[1]), p[1]));
        PathElement::new(ends.to_vec(), style::GRID.rgb.stroke_width(2))
    };
    draw_all(chart, stems.map(stem))?;
    let bars = || s.bars().filter(|(at, ends)| inside(*at, y) && ends[0] <= x[1] && ends[1] >= x[0]);
    let line = |(at, ends): (f64, [f64; 2])| {
        PathElement::new(ends.map(|v| (v.clamp(x[0], x[1]), at)).to_vec(), rgb.stroke_width(1))
    };
    draw_all(chart, bars().map(line))?;
    let ends = bars().flat_map(|(at, ends)| ends.map(|v| (v, at))).filter(|(v, _)| inside(*v, x));
    let cap = |at| EmptyElement::at(at) + PathElement::new(vec![(0, -4), (0, 4)], rgb.stroke_width(1));
    draw_all(chart, ends.map(cap))
}

/// A shape at each point, its corners in pixels from there.
fn filled(
    chart: &mut Chart<'_, '_>,
    points: impl Iterator<Item = (f64, f64)>,
    corners: &[(i32, i32)],
    rgb: RGBColor,
) -> DrawResult {
    draw_all(chart, points.map(|at| EmptyElement::at(at) + Polygon::new(corners.to_vec(), rgb.filled())))
}

/// The intervals of a series' points, from end to end, as far as the axes go. Ends within them have a cap.
fn error_bars(chart: &mut Chart<'_, '_>, s: &Series, x: [f64; 2], y: [f64; 2]) -> DrawResult {
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
) -> DrawResult {
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

fn draw_all<'a, E>(chart: &mut Chart<'a, '_>, elements: impl Iterator<Item = E>) -> DrawResult
where
    for<'b> &'b E: PointCollection<'b, (f64, f64)>,
    E: Drawable<SVGBackend<'a>> + 'a,
{
    chart.draw_series(elements).map(|_| ()).map_err(text_of)
}

fn inside(v: f64, [low, high]: [f64; 2]) -> bool {
    (low..=high).contains(&v)
}

pub(crate) fn colour(index: usize) -> &'static Ink {
    style::SERIES.get(index).unwrap_or(&style::RULE)
}

fn text_of(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// With the exponents of labels such as `10^7` raised.
fn powers(svg: &str) -> String {
    let mut parts = svg.split("10^");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(part.len());
        let (exponent, rest) = part.split_at(end);
        let exponent = exponent.replace('-', "\u{2212}");
        _ = write!(text, "10<tspan dy=\"-5\" font-size=\"9\">{exponent}</tspan>{rest}");
    }
    text
}

/// For readers who hear the page: what the picture is.
fn labelled(svg: &str, title: &str) -> String {
    let svg = svg.trim();
    let role = format!("<svg role=\"img\" aria-label=\"{}\"", escape(title));
    svg.find("<svg").map_or_else(|| svg.to_owned(), |at| format!("{role}{}", &svg[at + 4..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNDEFINED: f64 = f64::NAN;

    fn latency(names: &[&str], points: &[[f64; 2]]) -> String {
        let plot = Plot::new(Axis::new("s").from_to(0.0, 10.0), Axis::new("ms").log());
        let series = |(i, name): (usize, &&str)| {
            let (mark, colour) = Mark::nth(i);
            let line = Series::new(name, Mark::Line, colour, points.to_vec());
            if names.len() > 1 { line.beads(mark) } else { line }
        };
        let plot = names.iter().enumerate().map(series).fold(plot, Plot::with);
        draw(&plot, "", HALF_WIDTH).unwrap()
    }

    fn discs(svg: &str) -> Vec<f64> {
        let all = svg.split("<circle").skip(1).map(|c| c.split("cy=\"").nth(1).unwrap());
        all.map(|c| c.split('"').next().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn what_is_undefined_has_no_mark_and_what_stands_alone_has_one() {
        let points = [
            [0.5, 1.0],
            [1.5, 20.0],
            [2.5, UNDEFINED],
            [3.5, 5.0],
            [4.5, UNDEFINED],
            [5.5, 20.0],
            [6.5, UNDEFINED],
            [7.5, 20.0],
            [8.5, 1.0],
            [9.5, UNDEFINED],
        ];
        // Alone: at 5 and at 20.
        let one = discs(&latency(&["a"], &points));
        assert_eq!(one.len(), 2, "{one:?}");
        let several = discs(&latency(&["a", "b"], &points));
        // At 1, 5 and 20 only, whose heights are those of lines' ends and of the two.
        let mut heights = several.clone();
        heights.sort_by(f64::total_cmp);
        heights.dedup();
        assert!(one.iter().all(|y| several.contains(y)), "{one:?} {several:?}");
        assert_eq!(heights.len(), 3, "{several:?}");
        assert_eq!(several.iter().filter(|y| **y == one[0]).count(), 1, "once at 5");
    }

    #[test]
    fn long_labels_have_room_and_high_powers_an_exponent() {
        let plot = |axis: Axis| Plot::new(Axis::new("s").from_to(0.0, 1.0), axis);
        assert_eq!(y_labels(&plot(Axis::new("%").from_to(0.0, 100.0))), Y_LABELS);
        let wide = y_labels(&plot(Axis::new("octets").from_to(0.0, 5e6)));
        assert!(f64::from(wide) >= 7.0 * LETTER_WIDTH + 20.0, "{wide}");
        let svg = draw(&plot(Axis::new("n").log().from_to(1e6, 1e10)), "", HALF_WIDTH).unwrap();
        assert!(svg.contains("10<tspan dy=\"-5\" font-size=\"9\">10</tspan>"), "{svg}");
        assert!(svg.contains("1000000") && !svg.contains("10^") && !svg.contains("10000000"), "{svg}");
    }
}
