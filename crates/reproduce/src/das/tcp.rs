//! Figures 3 and 4: FTP. Its numbers wait for a model of TCP.

use wayhop_report::{Row, Section};

use super::paper;

/// The section of 4.3.
pub(crate) fn section() -> Section {
    let rows = paper::FTP.lines().skip(1).filter_map(|line| {
        let (hops, kilobytes) = line.split_once(',')?;
        let who = if hops == "1" { "1 hop".to_owned() } else { format!("{hops} hops") };
        let note = "Comes with TCP: there is no model of TCP yet.";
        Some(Row::new("Figure 3", &who, "received_kbytes_per_s", kilobytes.parse::<f64>().ok()).note(note))
    });
    Section {
        heading: "Figures 3 and 4: FTP".to_owned(),
        text: vec![],
        rows: rows.collect(),
        figures: vec![],
    }
}
