//! Figures 3 and 4: FTP over one to four hops.

use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Row, Section, Series};

use super::ftp::{BLOWUP, Ftp};
use super::paper;
use crate::table::hops_in_words;

/// When the transfer begins (scenarios/das/ftp.toml), seconds.
const START_S: f64 = 10.0;

/// The section of 4.3; `by_hops[h - 1]` are the transfers over h hops, whose first one ran with `seed`.
pub(crate) fn section(by_hops: &[Vec<Ftp>; 4], seed: u64) -> Section {
    let mut rows = Vec::new();
    for (line, runs) in paper::FTP.lines().skip(1).zip(by_hops) {
        let Some((hops, printed)) = line.split_once(',') else { continue };
        let who = hops.parse().map_or_else(|_| hops.to_owned(), hops_in_words);
        let row = Row::new("Figure 3", &who, "received_kbytes_per_s", printed.parse::<f64>().ok());
        let note = match hops {
            "1" => "The cards send no acknowledgements: TCP has to retransmit frames that collide.",
            "4" => {
                "The paper's transfer lost packets throughout; ours loses only those that collide. A frame loss of 1.5 \
                 to 2.5 % on each link would explain all three figures (docs/concepts/reproductions.md), but Tables 4 and \
                 5 show no such losses on their last links."
            }
            _ => {
                "The paper's links also lost frames without collisions, and nothing is acknowledged below TCP \
                 (docs/concepts/reproductions.md)."
            }
        };
        rows.push(row.with(runs.iter().map(|f| f.kbytes_per_s)).note(note));
    }
    let figures = if by_hops.iter().all(Vec::is_empty) {
        vec![]
    } else {
        vec![progress(by_hops, seed), blowup(by_hops, seed)]
    };
    Section::new(
        "Figures 3 and 4: FTP",
        "As in the paper, and unlike in its other sections, nodes two hops apart sense each other. TCP is that of \
         Linux at the time: Reno with selective acknowledgements, 32 kB window, and a timeout of at least 0.2 s. \
         Nothing was calibrated.",
    )
    .rows(rows)
    .figures(figures)
}

/// Time since the begin of the transfer in seconds, and the stream in MB.
fn scaled(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    points.iter().map(|[t, octets]| [t - START_S, octets / 1e6]).collect()
}

fn progress(by_hops: &[Vec<Ftp>; 4], seed: u64) -> Figure {
    let mut plot = Plot::new(Axis::new("time (s)"), Axis::new("received in order (MB)").from_to(0.0, 14.0));
    for (h, runs) in (1..).zip(by_hops) {
        let Some(first) = runs.first() else { continue };
        plot = plot.with(Series::new(&hops_in_words(h), Mark::Line, h - 1, scaled(&first.progress)));
    }
    let caption = format!(
        "Transfer of a 14 MB file: bytes received in order by the destination, by number of hops. One run each, seed \
         {seed}."
    );
    Figure::of("Figure 3", &caption, plot)
}

fn blowup(by_hops: &[Vec<Ftp>; 4], seed: u64) -> Figure {
    let panel = |(h, runs): (usize, &Vec<Ftp>)| {
        let f = runs.first()?;
        let y = Axis::new("sequence number (MB)")
            .from_to(*BLOWUP.start() as f64 / 1e6, *BLOWUP.end() as f64 / 1e6);
        let duplicates =
            Series::new("duplicate acknowledgement received", Mark::Cross, 3, scaled(&f.duplicate_acks));
        let plot = Plot::new(Axis::new("time (s)"), y)
            .with(Series::new("data sent", Mark::Dot, 0, scaled(&f.sent)))
            .with(Series::new("data sent again", Mark::Cross, 1, scaled(&f.sent_again)))
            .with(Series::new("acknowledgement received", Mark::Plus, 2, scaled(&f.acks)))
            .with(duplicates);
        Some(Panel::new(&hops_in_words(h), plot))
    };
    Figure::new(
        "Figure 4",
        &format!(
            "The same transfers between 2 MB and 2.025 MB, at the source: data segments sent, by their first byte, and \
             acknowledgements received, by the next expected byte. Seed {seed}."
        ),
        (1..).zip(by_hops).filter_map(panel),
    )
}
