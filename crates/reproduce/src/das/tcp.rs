//! Figures 3 and 4: FTP over one to four hops.

use wayhop_report::{Axis, Figure, Mark, Plot, Row, Section, Series};
use wayhop_trace::{Observer, Summary, TcpEvent};

use super::paper;

/// One transfer: what arrived, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ftp {
    /// Seconds, and the octets acknowledged until then; a few hundred of them.
    progress: Vec<[f64; 2]>,
    kbytes_per_s: Option<f64>,
}

/// How far apart the points of the progress are at least, seconds.
const STEP_S: f64 = 1.0;

impl Ftp {
    /// With what the run's summary has.
    #[must_use]
    pub(crate) fn closed(mut self, summary: &Summary) -> Self {
        self.kbytes_per_s = summary.flows.first().map(|f| f.goodput_bps / 8e3);
        self
    }
}

impl Observer for Ftp {
    fn tcp(&mut self, e: &TcpEvent) {
        let at_s = e.time.as_secs_f64();
        if self.progress.last().is_none_or(|[last, _]| at_s >= last + STEP_S) {
            self.progress.push([at_s, e.acked as f64]);
        }
    }
}

/// The section of 4.3; `by_hops[h - 1]` are the transfers over h hops.
pub(crate) fn section(by_hops: &[Vec<Ftp>; 4]) -> Section {
    let mut rows = Vec::new();
    for (line, runs) in paper::FTP.lines().skip(1).zip(by_hops) {
        let Some((hops, printed)) = line.split_once(',') else { continue };
        let who = if hops == "1" { "1 hop".to_owned() } else { format!("{hops} hops") };
        let row = Row::new("Figure 3", &who, "received_kbytes_per_s", printed.parse::<f64>().ok());
        let note = match hops {
            "1" => "The cards acknowledge nothing: a frame that collides waits for TCP to be sent again.",
            "4" => {
                "The paper's transfer lost packets all the time; how near to each other its nodes were is not given."
            }
            _ => "",
        };
        rows.push(row.with(runs.iter().map(|f| f.kbytes_per_s)).note(note));
    }
    let mut plot = Plot::new(Axis::new("time (s)"), Axis::new("received (MB)").from_to(0.0, 14.0));
    for (h, runs) in (1..).zip(by_hops) {
        let Some(first) = runs.first() else { continue };
        let name = if h == 1 { "1 hop".to_owned() } else { format!("{h} hops") };
        let points = first.progress.iter().map(|[t, octets]| [*t, octets / 1e6]).collect();
        plot = plot.with(Series::new(&name, Mark::Line, h - 1, points));
    }
    let caption = "A file of 14 MB, by the number of hops. One run each.";
    let figures = if plot.series.is_empty() { vec![] } else { vec![Figure::of("Figure 3", caption, plot)] };
    Section {
        heading: "Figures 3 and 4: FTP".to_owned(),
        text: vec![
            "As in the paper, and unlike in its other sections, nodes two hops away sense each other. TCP is that of Linux then: Reno \
             with selective acknowledgements, 32 kB of window, a timeout of 0.2 s at least. Nothing was calibrated."
                .to_owned(),
        ],
        rows,
        figures,
    }
}
