//! Section 9: TCP over one hop and two, in the laboratory and in the field, and Figures 15 and 16: its time-sequence plots.

use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Section, Series};

use super::bad_routes::WAYS;
use super::goodput;
use super::transfer::{Case, Connection, Connections};

/// The section of 9; the first transfer of each case has `seed`.
pub(crate) fn section(transfers: &Connections, seed: u64) -> Section {
    let of = |case: Case| transfers.get(&case).map_or(&[][..], Vec::as_slice);
    let rows = goodput::rows(&of);
    let panel = |way, title| Some(Panel::new(title, plot(of(Case::Field { way }).first()?)));
    let panels =
        [panel(0, "Figure 15: nothing remembered"), panel(WAYS.len() - 1, "Figure 16: perfect routing")];
    let figure = Figure::new(
        "Figures 15 and 16, with TCP",
        &format!(
            "Sequence numbers sent by the source, through B or directly, and its route requests to neighbours or to the \
             whole network. One run, seed {seed}."
        ),
        panels.into_iter().flatten(),
    );
    Section::new(
        "Section 9: TCP",
        "Transfers with TCP Reno as in FreeBSD: delayed acknowledgements, 16 kB window. Outdoor transfers have 50 s (5 \
         MB: 100 s). Nothing was calibrated.",
    )
    .rows(rows)
    .figures((!figure.panels.is_empty()).then_some(figure))
}

fn plot(c: &Connection) -> Plot {
    let begin = c.sent.first().map_or(0.0, |s| s.at_s);
    let end = c.sent.last().map_or(1.0, |s| s.at_s - begin);
    let points = |direct| {
        let of = c.sent.iter().filter(|s| s.direct == direct);
        of.map(|s| [s.at_s - begin, s.octet as f64 / 1e6]).collect::<Vec<_>>()
    };
    let top = c.sent.iter().map(|s| s.octet).max().unwrap_or(1) as f64 / 1e6;
    let marks = |wide| {
        let of = c.requests.iter().filter(|r| r.1 == wide);
        of.flat_map(|(at, _)| [[at - begin, 0.0], [at - begin, top], [f64::NAN, f64::NAN]])
            .collect::<Vec<_>>()
    };
    // The first search is at the beginning: its mark is beside the axis.
    Plot::new(
        Axis::new("time (s)").from_to(-end / 50.0, end),
        Axis::new("sequence number (MB)").from_to(0.0, top),
    )
    .with(Series::new("asked its neighbours", Mark::Line, 3, marks(false)))
    .with(Series::new("asked the network", Mark::Line, 6, marks(true)))
    .with(Series::new("by B", Mark::Dot, 0, points(false)))
    .with(Series::new("directly", Mark::Cross, 1, points(true)))
}
