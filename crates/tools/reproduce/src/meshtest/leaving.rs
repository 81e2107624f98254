//! How much hangs on the level at which a station leaves its access point.

use wayhop_report::{Row, Section};

use super::paper;
use super::plan::{Experiment, Motion, Transport};
use super::sections::share;
use super::shape::Shape;

const PRESET_DBM: i32 = -82;
pub(crate) const OTHERS_DBM: [i32; 4] = [-80, -81, -83, -84];
pub(crate) const EXPERIMENT: Experiment = Experiment { motion: Motion::WalkAway, transport: Transport::Udp };
/// The middles of the windows, seconds, with the paper's rows.
const WINDOWS: [(&str, usize); 2] = [("walk-away 198 s", 198), ("walk-away 248 s", 248)];

pub(crate) fn level(row: &str) -> Option<i32> {
    row.split_once("leave_dbm = ")?.1.split(',').next()?.parse().ok()
}

/// The section, from the runs as they are and those with [`OTHERS_DBM`].
pub(crate) fn section(as_it_is: &Shape, others: &[Shape; OTHERS_DBM.len()]) -> Section {
    let mut all: Vec<(i32, &Shape)> = OTHERS_DBM.into_iter().zip(others).collect();
    all.push((PRESET_DBM, as_it_is));
    all.sort_by_key(|(dbm, _)| -dbm);
    let mut rows: Vec<Row> = Vec::new();
    for (window, middle) in WINDOWS {
        for (dbm, shape) in &all {
            let who = format!("UDP, {window}, leave_dbm = {dbm}");
            let note = paper::probability(window, Transport::Udp).map_or_else(String::new, |p| {
                format!("The paper: {p}, compared only in the table of Figure 7.")
            });
            let row = share("Figure 7", &who, None, shape.share_alive(middle), shape.runs.len());
            rows.push(row.note(note));
        }
    }
    Section::new(
        "Effect of the level at which a station leaves",
        "A station leaves when it hears a beacon below radio.leave_dbm. Neither the paper nor any other source gives \
         the level of its cards: -82 dBm is the sensitivity that IEEE 802.11 requires at 6 Mb/s, and does not say when \
         a driver gives up. It is close to the signal at 792 m, -82.2 dBm, where half of the paper's runs had ended. \
         So that figure counts as fitted and is not evidence for the model. These are the same runs with the level 1 \
         and 2 dB higher and lower.",
    )
    .rows(rows)
}
