//! The paper's numbers and shapes next to ours.

use wayhop_report::{Range, Row, Section, mean, median};

use super::figures::{self, STRETCH_S};
use super::paper;
use super::plan::{Motion, Transport};
use super::shape::{Shape, wilson};

/// Distances of Figure 4's rows, metres.
const DISTANCES_M: [usize; 5] = [8, 40, 100, 400, 792];

/// A row of a share of the time with Wilson's interval over runs.
pub(crate) fn share(artefact: &str, row: &str, paper: Option<f64>, ours: Option<f64>, runs: usize) -> Row {
    let mut row = Row::new(artefact, row, "time_with_throughput_share", paper);
    if let Some(ours) = ours.filter(|_| runs > 0) {
        (row.ours, row.ci95, row.seeds) = (Some(ours), wilson(ours, runs), runs);
    }
    row
}

/// Figure 4; `by_settings` has the signal of each run in a second, whether packets arrived or not.
pub(crate) fn signal(shape: &Shape, by_settings: &dyn Fn(usize) -> Vec<f64>) -> Section {
    let rows = |m: &usize| {
        let row = |who: String, values: Vec<f64>| {
            Row::new("Figure 4", &who, "signal_dbm", None)
                .within(Range::All)
                .with(values.into_iter().map(Some))
        };
        let received = shape.signals(m / 4);
        let note = format!(
            "Mean over the {} of {} runs in which packets arrived, which excludes the weakest. The paper's figure has no \
             numbers.",
            received.len(),
            shape.runs.len()
        );
        [
            row(format!("received at {m} m"), received).note(note),
            row(format!("all runs at {m} m"), by_settings(m / 4))
                .note("From the settings of the attenuators and each run's error."),
        ]
    };
    Section::new(
        "Figure 4: signal and distance",
        "The signal follows free space beyond 2 m, where the insertion loss of the matrix no longer dominates. It \
         differs between runs by the error of the settings, about 1 dB at every distance: the larger variation at \
         short distances in the paper is not modelled. Signals are measured from received packets; where some runs \
         have ended, the mean is over the others, as it must be in the paper.",
    )
    .rows(DISTANCES_M.iter().flat_map(rows).collect())
    .figures([figures::signal(shape, by_settings)])
}

/// Of the stretches in which anything arrived on average, the share in which UDP carried more than TCP.
fn udp_above_tcp([udp, tcp]: [&Shape; 2], motion: Motion) -> Option<f64> {
    let means = |shape: &Shape, s| mean(&shape.means(s, s + STRETCH_S)).unwrap_or(0.0);
    let stretches = (0..motion.seconds()).step_by(STRETCH_S).map(|s| [means(udp, s), means(tcp, s)]);
    let used: Vec<[f64; 2]> = stretches.filter(|m| m[0].max(m[1]) > 0.0).collect();
    let above = used.iter().filter(|[u, t]| u > t).count();
    (!used.is_empty()).then(|| above as f64 / used.len() as f64)
}

/// Figures 5 and 6.
pub(crate) fn throughput(motion: Motion, shapes: [&Shape; 2]) -> Section {
    let name = if motion == Motion::WalkAway { "Figure 5" } else { "Figure 6" };
    let mut rows: Vec<Row> = Transport::ALL
        .into_iter()
        .zip(shapes)
        .map(|(t, shape)| {
            let note = match t {
                Transport::Udp => {
                    "Best 10 s. 29 are offered, and the timing of 802.11g allows 29.9; the paper's figure has no numbers."
                }
                Transport::Tcp => {
                    "Best 10 s. The timing of 802.11g allows 20 to 24; the paper's figure has no numbers."
                }
            };
            Row::new(name, t.name(), "plateau_mbps", None)
                .with(shape.plateau(STRETCH_S).into_iter().map(Some))
                .note(note)
        })
        .collect();
    let mut above = Row::new(name, "UDP above TCP", "stretches_of_10_s_share", Some(1.0));
    above.ours = udp_above_tcp(shapes, motion);
    above.seeds = shapes[0].runs.len().min(shapes[1].runs.len());
    rows.push(above.note(
        "\"UDP achieves greater mean throughput than TCP\". Over the intervals in which either carried anything.",
    ));
    if motion == Motion::DriveBy {
        rows.extend(Transport::ALL.into_iter().zip(shapes).flat_map(|(t, shape)| ranges(t, shape)));
    }
    Section::new(&format!("{name}: mean throughput, {}", motion.name()), "")
        .rows(rows)
        .figures([figures::throughput(name, motion, shapes)])
}

/// How far throughput reaches on both sides of the drive-by.
fn ranges(transport: Transport, shape: &Shape) -> Vec<Row> {
    let [coming, going] = shape.ranges_m(Motion::DriveBy);
    let more = going.iter().zip(&coming).map(|(g, c)| Some(g - c));
    let row = |quantity, paper: Option<f64>| Row::new("Figure 6", transport.name(), quantity, paper);
    let signed = |quantity, paper| row(quantity, paper).within(Range::All);
    vec![
        row("approaching_range_m", None).with(coming.iter().copied().map(Some)).note(
            "Mean over runs of the distance at which the first byte arrives. The paper: between 600 and 400.",
        ),
        row("parting_range_m", None)
            .with(going.iter().copied().map(Some))
            .note("Mean over runs of the distance at which the last byte arrives."),
        signed("parting_beyond_approaching_m", Some(192.0)).with(more).note(
            "The paper's is a lower bound: half of the walk-aways carry UDP at 792 m, and no drive-by does at 600 m before \
             it has passed.",
        ),
    ]
}

/// The windows of 5 s whose probabilities the text gives: (row, motion, middle).
const WINDOWS: [(&str, Motion, usize); 4] = [
    ("walk-away 198 s", Motion::WalkAway, 198),
    ("walk-away 248 s", Motion::WalkAway, 248),
    ("walk-away 254 s", Motion::WalkAway, 254),
    ("drive-by 150 s", Motion::DriveBy, 150),
];

/// Figures 7 and 8.
pub(crate) fn distributions(motion: Motion, shapes: [&Shape; 2]) -> Section {
    let name = if motion == Motion::WalkAway { "Figure 7" } else { "Figure 8" };
    let mut rows = Vec::new();
    for (window, _, middle) in WINDOWS.iter().filter(|w| w.1 == motion) {
        for (t, shape) in Transport::ALL.into_iter().zip(shapes) {
            let printed = paper::probability(window, t);
            let ours = shape.share_alive(*middle);
            let row = share(name, &format!("{}, {window}", t.name()), printed, ours, shape.runs.len());
            rows.push(row.note(verdict(printed, ours, window, t)));
        }
    }
    if motion == Motion::DriveBy {
        rows.extend(at_400_m(shapes));
    }
    Section::new(
        &format!("{name}: distribution of the throughput, {}", motion.name()),
        "A probability is the share of single seconds of all runs in which anything arrived; its interval is based on \
         the number of runs, since the seconds of a run are not independent.",
    )
    .rows(rows)
    .figures([figures::distributions(name, motion, shapes)])
}

/// Whether ours lies within the binomial interval of the paper's, and why not.
fn verdict(printed: Option<f64>, ours: Option<f64>, window: &str, transport: Transport) -> String {
    let (Some(printed), Some(ours)) = (printed, ours) else { return String::new() };
    let Some([low, high]) = wilson(printed, paper::RUNS as usize) else { return String::new() };
    let interval = format!("The paper's, of {} runs, is {low:.2} to {high:.2}", paper::RUNS);
    if (low..=high).contains(&ours) {
        return format!("{interval}; ours is within it.");
    }
    let why = match (transport, window.starts_with("walk-away")) {
        (Transport::Tcp, true) => {
            " The model's TCP lasts as long as the association, like its UDP; in the paper it ends about 50 s, or 2 dB, \
             earlier. A weaker reverse link would explain that, since only TCP needs replies. The paper does not say \
             whether its links were asymmetric."
        }
        _ => "",
    };
    format!("{interval}; ours is outside.{why}")
}

/// "The t = [198, 202] plot shows a roughly equivalent probability of throughput", and UDP carries more.
fn at_400_m(shapes: [&Shape; 2]) -> Vec<Row> {
    let runs = shapes[0].runs.len().min(shapes[1].runs.len());
    let [udp, tcp] = shapes.map(|s| s.share_alive(200));
    let mut rows: Vec<Row> = Transport::ALL
        .into_iter()
        .zip([udp, tcp])
        .map(|(t, ours)| {
            share("Figure 8", &format!("{}, drive-by 200 s", t.name()), None, ours, runs)
                .note("The paper: \"roughly equivalent\" for both.")
        })
        .collect();
    let carried = shapes.map(|s| mean(&s.means(198, 203)));
    let mut more = Row::new("Figure 8", "UDP less TCP, drive-by 200 s", "throughput_difference_mbps", None);
    (more.ours, more.seeds) = (carried[0].zip(carried[1]).map(|(u, t)| u - t), runs);
    rows.push(more.note("The paper: \"UDP ... achieves greater throughput\"."));
    rows
}

/// Figures 9 to 12.
pub(crate) fn variability(motion: Motion, shapes: [&Shape; 2]) -> Section {
    let names =
        if motion == Motion::WalkAway { ["Figure 9", "Figure 10"] } else { ["Figure 11", "Figure 12"] };
    let mut rows = Vec::new();
    let mut drawn = Vec::new();
    for ((t, shape), name) in Transport::ALL.into_iter().zip(shapes).zip(names) {
        let all = shape.deviations(STRETCH_S);
        let place = |s: usize| motion.place_m(s as f64 + STRETCH_S as f64 / 2.0).abs();
        let top = all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|top| top.1 > 0.0);
        let near: Vec<f64> = all.iter().filter(|(s, _)| place(*s) <= 40.0).map(|(_, sd)| *sd).collect();
        let row = |quantity, paper: Option<f64>, ours: Option<f64>| {
            let mut row = Row::new(name, t.name(), quantity, paper);
            (row.ours, row.seeds) = (ours, shape.runs.len());
            row
        };
        rows.push(row("most_variable_at_m", Some(0.0), top.map(|(s, _)| place(*s))).note(
            "The paper: greatest \"particularly at d = 0\". In the model nothing varies there, where the signal is \
             strongest; it varies where some runs have left the network and others have not. The paper does not say why \
             its radios varied at 0 to 40 m; possible causes are strong signals that overload a receiver, or paths of the \
             matrix that add coherently when all attenuators are open.",
        ));
        rows.push(row("highest_deviation_mbps", None, top.map(|(_, sd)| *sd)));
        rows.push(row("deviation_within_40_m_mbps", None, median(near)));
        drawn.push(figures::variability(name, motion, t, shape));
    }
    Section::new(
        &format!("{} and {}: variability, {}", names[0], &names[1]["Figure ".len()..], motion.name()),
        "",
    )
    .rows(rows)
    .figures(drawn)
}
