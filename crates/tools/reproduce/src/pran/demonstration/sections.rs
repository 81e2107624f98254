//! The report's sections, from the runs.

use wayhop_core::{NodeId, Time};
use wayhop_report::{Axis, Estimate, Figure, Mark, Panel, Plot, Range, Row, Section, Series, Spread};

use super::lap::{LapRun, ROBOT};
use super::traffic::{Count, OverheadKind, Share};
use crate::pran::Options;

const INTERVAL_S: f64 = 10.0;
/// When the paper's delivery ratio dips and its latency rises, seconds after the start ("around time 300 seconds").
const PAPER_DIP_S: f64 = 300.0;
const PAPER_HOPS: f64 = 5.0;
/// Half of what counts as the far part of the lap, as a share of it.
const FAR: f64 = 0.125;

const NO_NUMBER: &str = "The paper has a graph without numbers.";
const HOLDS: &str = "1 if true for a run, 0 if not; mean over runs.";

/// All of them. Each row says so if a run was late.
pub(super) fn all(runs: &[LapRun], names: &[String], complaints: &[String]) -> Vec<Section> {
    let mut sections = vec![
        network(runs, names),
        overhead(runs),
        delivery(runs),
        latency(runs),
        programs(runs, complaints),
        clock(runs),
    ];
    if runs.is_empty() {
        for row in sections.iter_mut().flat_map(|s| &mut s.rows) {
            "No lap was completed.".clone_into(&mut row.note);
        }
    }
    let late = runs.iter().filter(|r| r.lateness.verdict != "ok").count();
    if late > 0 {
        for row in sections.iter_mut().flat_map(|s| &mut s.rows) {
            let note =
                format!("Degraded: this machine was too slow in {late} of {} runs. {}", runs.len(), row.note);
            note.trim_end().clone_into(&mut row.note);
        }
    }
    sections
}

pub(super) fn row(
    artefact: &str,
    what: &str,
    quantity: &str,
    paper: Option<f64>,
    runs: &[LapRun],
    ours: impl Fn(&LapRun) -> Option<f64>,
) -> Row {
    let range = match quantity {
        "holds" => Range::Share,
        q if q.ends_with("_pct") => Range::Percent,
        _ => Range::NotNegative,
    };
    Row::new(artefact, what, quantity, paper).within(range).with(runs.iter().map(ours))
}

pub(super) fn whole(r: &LapRun) -> Share {
    r.traffic.born(|_| true)
}

fn far_and_near(r: &LapRun) -> Option<[Share; 2]> {
    let farthest = r.farthest_s()?;
    let is_far = |t: Time| (t.as_secs_f64() - farthest).abs() <= FAR * r.duration_s;
    Some([r.traffic.born(is_far), r.traffic.born(|t| !is_far(t))])
}

/// The interval for which `worse` is greatest, with the middle of its time, seconds. `None` if all are alike.
pub(super) fn worst(r: &LapRun, worse: impl Fn(&Share) -> Option<f64>) -> Option<(f64, Share)> {
    let all = r.traffic.by_interval(INTERVAL_S).into_iter().enumerate();
    let mut known: Vec<(f64, Share, f64)> =
        all.filter_map(|(i, s)| Some(((i as f64 + 0.5) * INTERVAL_S, s, worse(&s)?))).collect();
    known.sort_by(|a, b| a.2.total_cmp(&b.2));
    let (best, &(at_s, share, most)) = (known.first()?.2, known.last()?);
    (most > best).then_some((at_s, share))
}

fn yes(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

/// Whether there are more Requests than Replies, and more Replies than Errors, in rows of these names.
pub(super) fn order(figure: &str, names: [&str; 2], paper: Option<f64>, runs: &[LapRun]) -> [Row; 2] {
    let claim = |name, many, few| {
        let sent = |r: &LapRun, kind| r.traffic.overhead(kind).packets;
        row(figure, name, "holds", paper, runs, |r| Some(yes(sent(r, many) > sent(r, few)))).note(HOLDS)
    };
    [
        claim(names[0], OverheadKind::Request, OverheadKind::Reply),
        claim(names[1], OverheadKind::Reply, OverheadKind::Error),
    ]
}

fn network(runs: &[LapRun], names: &[String]) -> Section {
    let section = "Section 6.2.1";
    let rows = vec![
        row(section, "Longest route", "hops", None, runs, |r| Some(f64::from(whole(r).most_hops)))
            .note("Of a packet that arrived. Salvaged packets may take more hops than any route has."),
        row(section, "Longest route of 1 % or more", "hops", Some(PAPER_HOPS), runs, |r| {
            longest_in_use(r).map(f64::from)
        })
        .note("At least 1 % of the packets that arrived took this many hops."),
        row(section, "Packets over several hops", "arrived_pct", None, runs, |r| whole(r).several_hops_pct())
            .note("The paper: for substantial parts of the demonstration."),
        row("Section 6.3", "One lap", "duration_s", Some(Options::PAPER_DURATION_S), runs, |r| {
            Some(r.duration_s)
        })
        .note("Ours is set with --duration, and the robot's speed follows from it."),
    ];
    Section::new(
        "Figure 5: the network",
        "Four fixed nodes, S1 to S4, and two robots. M1 drives around the floor and back to the control station at S1; \
         M2 stands still, since the paper's run used one robot. All have IEEE 802.11b cards at 11 Mb/s and 20 mW, and \
         ns-2's DSR.\n\
         The paper's plan has no dimensions: lengths and positions are ours, chosen for up to five hops, with the far \
         wall at the edge of M2's range, since the paper reports weak signals there.",
    )
    .rows(rows)
    .figures(runs.first().into_iter().flat_map(|r| [plan(r, names), hops(r)]))
}

/// The most hops that at least 1 % of the packets made that arrived.
fn longest_in_use(r: &LapRun) -> Option<u32> {
    let by_hops = r.traffic.by_hops();
    let all: u64 = by_hops.values().sum();
    by_hops.into_iter().rev().find(|(_, n)| n * 100 >= all && all > 0).map(|(hops, _)| hops)
}

fn plan(r: &LapRun, names: &[String]) -> Figure {
    let way: Vec<[f64; 2]> = r.lap.way(ROBOT, r.duration_s).iter().map(|(_, p)| [p.x, p.y]).collect();
    let spot = |node: NodeId, at_s: f64| r.lap.place(node, at_s).map(|p| [p.x, p.y]);
    let standing = (0..names.len() as u32).map(NodeId).filter(|n| *n != ROBOT);
    let standing: Vec<(NodeId, [f64; 2])> = standing.filter_map(|n| Some((n, spot(n, 0.0)?))).collect();
    let far: Vec<[f64; 2]> = r.farthest_s().and_then(|at_s| spot(ROBOT, at_s)).into_iter().collect();
    let ends = |k: usize| {
        let all = || way.iter().chain(standing.iter().map(|(_, p)| p)).map(|p| p[k]);
        [all().fold(f64::INFINITY, f64::min) - 6.0, all().fold(f64::NEG_INFINITY, f64::max) + 6.0]
    };
    let ([left, right], [low, high]) = (ends(0), ends(1));
    let mut plot =
        Plot::new(Axis::new("east (m)").from_to(left, right), Axis::new("north (m)").from_to(low, high))
            .with(Series::new("M1's way", Mark::Line, 0, way))
            .with(Series::new("nodes that stand", Mark::Dot, 1, standing.iter().map(|(_, p)| *p).collect()))
            .with(Series::new("M1 when it is farthest from S1", Mark::Cross, 0, far));
    plot.same_scale = true;
    plot.labels =
        standing.iter().map(|(n, p)| ([p[0] + 1.5, p[1] + 1.0], names[n.index()].clone())).collect();
    Figure::of("Figure 5", "The floor, and the path of the robot.", plot)
}

fn hops(r: &LapRun) -> Figure {
    let shares = r.traffic.by_interval(INTERVAL_S);
    let most = shares.iter().map(|s| s.most_hops).max().unwrap_or(0);
    let y = Axis::new("hops").from_to(0.0, f64::from(most.max(5)) + 0.5);
    let longest = points(&shares, |s| (s.arrived > 0).then_some(f64::from(s.most_hops)));
    let plot = over_time(r, y)
        .with(Series::new("mean of 10 s", Mark::Line, 0, points(&shares, Share::hops_mean)))
        .with(Series::new("most", Mark::Dot, 1, longest));
    Figure::of("Hops", "Hop counts of delivered packets.", plot)
}

/// Means over runs at the middle of each interval, with 95 % intervals between `low` and `high`.
fn over_runs(
    name: &str,
    runs: &[LapRun],
    [low, high]: [f64; 2],
    value: impl Fn(&Share) -> Option<f64>,
) -> Series {
    let all: Vec<Vec<Share>> = runs.iter().map(|r| r.traffic.by_interval(INTERVAL_S)).collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let at = |i: usize| {
        let values: Vec<f64> = all.iter().filter_map(|shares| value(shares.get(i)?)).collect();
        let e = Estimate::of(&values)?;
        let ci95 = e.ci95.map(|ends| ends.map(|v| v.clamp(low, high)));
        Some(((i as f64 + 0.5) * INTERVAL_S, Estimate { ci95, ..e }))
    };
    Series::of_estimates(name, (Mark::Line, 0), (0..count).filter_map(at)).spread(Spread::Band)
}

fn mean_rule(runs: &[LapRun], value: impl Fn(&Share) -> Option<f64>) -> Series {
    let values: Vec<f64> = runs.iter().filter_map(|r| value(&whole(r))).collect();
    let height = wayhop_report::mean(&values).map(|v| [0.0, v]);
    Series::new("whole run", Mark::Rule, 1, height.into_iter().collect())
}

fn points(shares: &[Share], value: impl Fn(&Share) -> Option<f64>) -> Vec<[f64; 2]> {
    let at = |i: usize| (i as f64 + 0.5) * INTERVAL_S;
    shares.iter().enumerate().map(|(i, s)| [at(i), value(s).unwrap_or(f64::NAN)]).collect()
}

/// A plot over the time of a lap, with a line where the robot is farthest. `y` has ends.
fn over_time(r: &LapRun, y: Axis) -> Plot {
    let [low, high] = y.range.unwrap_or([0.0, 1.0]);
    let plot = Plot::new(Axis::new("time (s)").from_to(0.0, r.duration_s), y);
    match r.farthest_s() {
        Some(at) => plot.with(Series::new("robot farthest away", Mark::Line, 6, vec![[at, low], [at, high]])),
        None => plot,
    }
}

fn overhead(runs: &[LapRun]) -> Section {
    const NAMES: [(OverheadKind, &str); 5] = [
        (OverheadKind::Request, "Route Request"),
        (OverheadKind::Reply, "Route Reply"),
        (OverheadKind::Error, "Route Error"),
        (OverheadKind::SourceRoute, "Source route in data"),
        (OverheadKind::Other, "Other"),
    ];
    let figure = "Figure 7";
    let mut rows = Vec::new();
    // A protocol that sends nothing else needs no rows for it.
    let is_seen = |kind| {
        kind != OverheadKind::Other || runs.iter().any(|r| r.traffic.overhead(kind) != Count::default())
    };
    for (kind, name) in NAMES.into_iter().filter(|(kind, _)| is_seen(*kind)) {
        let row = |quantity, of: fn(Count) -> u64| {
            row(figure, name, quantity, None, runs, |r| Some(of(r.traffic.overhead(kind)) as f64))
        };
        rows.push(row("transmissions", |c| c.packets).note(NO_NUMBER));
        rows.push(row("bytes", |c| c.bytes).note(NO_NUMBER));
    }
    rows.push(
        row(figure, "Route Errors on Route Requests", "transmissions", None, runs, |r| {
            Some(r.traffic.errors_on_requests as f64)
        })
        .note("Included in the Route Errors: ns-2's DSR also reports a broken link in the next Route Request. Their bytes \
               count as the Request's."),
    );
    let claims = ["More Requests than Replies", "More Replies than Errors"];
    rows.extend(order(figure, claims, Some(1.0), runs));
    let panel = |title: &str, label: &str, names: &[&str], of: &dyn Fn(OverheadKind, &LapRun) -> f64| {
        let value = |(kind, _): &(OverheadKind, &str)| {
            let e = Estimate::of(&runs.iter().map(|r| of(*kind, r)).collect::<Vec<_>>())?;
            Some(Estimate { ci95: e.ci95.map(|ends| ends.map(|v| v.max(0.0))), ..e })
        };
        let bars = NAMES.iter().take(names.len()).filter_map(value).zip(0..).map(|(e, i)| (f64::from(i), e));
        let bars = Series::of_estimates("", (Mark::Bars(0.8), 0), bars);
        Panel::new(title, Plot::new(Axis::of(names), Axis::new(label)).with(bars))
    };
    let names = ["Request", "Reply", "Error", "Source route"];
    Section::new(
        "Figure 7: packets of the protocol, and overhead",
        "Each transmission counts, by the originator and by each forwarder, as in the paper; MAC retries do not. A \
         source route counts with the bytes that DSR adds to a program's packet.\n\
         In the paper Requests are most frequent, then Replies, then Errors; in every run that we examined Requests \
         are least frequent. Ours rarely spread: among six nodes the neighbours know a route and answer the first \
         Request, which goes one hop. And most of our Replies are from nodes that overhear a packet and offer its \
         source a shorter route. The simulated laps below also include variants without them. PRAN passes overheard \
         packets to its protocols; the paper does not say whether the cards of the demonstration delivered them.",
    )
    .rows(rows)
    .figures([Figure::new(
        figure,
        "Transmissions and bytes of overhead, means over runs with 95 % intervals.",
        [
            panel("Transmissions", "packets", &names[..3], &|k, r| r.traffic.overhead(k).packets as f64),
            panel("Overhead", "kB", &names, &|k, r| r.traffic.overhead(k).bytes as f64 / 1e3),
        ],
    )])
}

/// Rows that Figures 8 and 9 share: the value as a whole, in the worst interval and its time, far and near.
fn measured(
    figure: &str,
    quantity: &str,
    runs: &[LapRun],
    value: impl Fn(&Share) -> Option<f64> + Copy,
    worse: impl Fn(&Share) -> Option<f64> + Copy,
) -> Vec<Row> {
    let paper_dip_pct = 100.0 * PAPER_DIP_S / Options::PAPER_DURATION_S;
    let part = |r: &LapRun, k: usize| far_and_near(r).map(|both| both[k]);
    vec![
        row(figure, "Whole run", quantity, None, runs, |r| value(&whole(r))).note(NO_NUMBER),
        row(figure, "Worst 10 s", quantity, None, runs, |r| {
            worst(r, worse).map_or_else(|| value(&whole(r)), |(_, s)| value(&s))
        })
        .note(NO_NUMBER),
        row(figure, "Worst 10 s", "of_the_lap_pct", Some(paper_dip_pct), runs, |r| {
            worst(r, worse).map(|(at_s, _)| 100.0 * at_s / r.duration_s)
        })
        .note("The paper: around time 300 s of 780 s, about half way. Ours is missing where all intervals are equal."),
        row(figure, "Robot farthest from S1", "of_the_lap_pct", None, runs, |r| {
            r.farthest_s().map(|at_s| 100.0 * at_s / r.duration_s)
        })
        .note("The paper: at the same time."),
        row(figure, "Far quarter of the lap", quantity, None, runs, |r| value(&part(r, 0)?)).note(NO_NUMBER),
        row(figure, "Rest of the lap", quantity, None, runs, |r| value(&part(r, 1)?)).note(NO_NUMBER),
        row(figure, "Worse in the far quarter than in the rest", "holds", Some(1.0), runs, |r| {
            let [far, near] = far_and_near(r)?;
            Some(yes(worse(&far)? > worse(&near)?))
        })
        .note(HOLDS),
    ]
}

fn delivery(runs: &[LapRun]) -> Section {
    let figure = "Figure 8";
    let lost = |s: &Share| s.delivered_pct().map(|v| 100.0 - v);
    let mut rows = measured(figure, "delivered_pct", runs, Share::delivered_pct, lost);
    rows.push(
        row(figure, "Every 10 s at or above 50 %", "holds", Some(1.0), runs, |r| {
            let all = r.traffic.by_interval(INTERVAL_S);
            Some(yes(all.iter().filter_map(Share::delivered_pct).all(|v| v >= 50.0)))
        })
        .note("The axis of the paper's figure starts there."),
    );
    let figure_8 = runs.first().map(|r| {
        let y = Axis::new("packet delivery ratio").from_to(0.0, 1.02);
        let ratio = |s: &Share| s.delivered_pct().map(|v| v / 100.0);
        let plot = over_time(r, y)
            .with(over_runs("each 10 s", runs, [0.0, 1.0], ratio))
            .with(mean_rule(runs, ratio));
        Figure::of(
            figure,
            "Delivery ratio of the programs' packets by the time of sending, means over runs with 95 % intervals.",
            plot,
        )
    });
    Section::new(
        "Figure 8: packet delivery ratio",
        "All packets of programs count: video, commands, their acknowledgements, TCP. A packet is sent when Wayhop \
         reads it from its node's interface, and delivered when the simulated network writes it to the other node's \
         interface.\n\
         Where the robot is farthest, a single weak link leads to it. A lap faster than the paper's has a smaller dip: \
         DSR keeps packets for up to 30 s during a route discovery, and the robot is back in range before they expire. \
         So laps take 780 s as in the paper, unless --duration is given.",
    )
    .rows(rows)
    .figures(figure_8)
}

fn latency(runs: &[LapRun]) -> Section {
    let figure = "Figure 9";
    let figure_9 = runs.first().map(|r| {
        let shares = runs.iter().flat_map(|r| r.traffic.by_interval(INTERVAL_S));
        let most = shares.filter_map(|s| s.latency_ms()).fold(1.0, f64::max);
        let plot = over_time(r, Axis::new("latency (ms)").from_to(0.0, 1.05 * most))
            .with(over_runs("each 10 s", runs, [0.0, 1.05 * most], Share::latency_ms))
            .with(mean_rule(runs, Share::latency_ms));
        Figure::of(
            figure,
            "Mean latency of the programs' packets that arrived, by the time of sending, means over runs with 95 % \
             intervals.",
            plot,
        )
    });
    Section::new("Figure 9: packet delivery latency", "")
        .rows(measured(figure, "latency_ms", runs, Share::latency_ms, Share::latency_ms))
        .figures(figure_9)
}

fn programs(runs: &[LapRun], complaints: &[String]) -> Section {
    let section = "Section 6.3";
    let worked = "The paper: video display and robot control worked very well.";
    let mut found = Section::new(
        "Video and control",
        "From the programs' own records. The camera is ffmpeg: H.263 in QCIF at 15 frames per second over RTP, the format \
         of NetMeeting, about 200 kb/s; the screen is another ffmpeg that records what it receives. The call that starts \
         it is a TCP connection; the robot's commands are echoed UDP packets (socat).",
    )
    .rows(vec![
        row(section, "Calls answered", "holds", Some(1.0), runs, |r| Some(yes(r.seen.call_answered)))
            .note(HOLDS),
        row(section, "Video frames sent", "frames", None, runs, |r| r.seen.frames_sent.map(|n| n as f64)),
        row(section, "Video frames that decode", "sent_pct", None, runs, |r| r.seen.decoded_pct())
            .note(format!("{worked} Includes frames with missing parts, which the decoder conceals.")),
        row(section, "Remarks of the decoder", "lines", None, runs, |r| r.seen.complaints.map(|n| n as f64))
            .note("About damaged or missing parts of frames."),
        row(section, "Commands acknowledged", "sent_pct", None, runs, |r| r.seen.acknowledged_pct())
            .note(format!("{worked} Out of those sent up to the last acknowledged one.")),
    ]);
    found.text.extend_from_slice(complaints);
    found
}

fn clock(runs: &[LapRun]) -> Section {
    Section::new(
        "Was it on time?",
        "Each event of the emulated nodes, MAC and radio is due at a time of this machine's clock. A run is \"ok\" if \
         at most 1 % of them were handled more than 1 ms late; otherwise it is \"degraded\", and every row says so.",
    )
    .rows(vec![
        row("Emulation", "Runs on time", "holds", None, runs, |r| Some(yes(r.lateness.verdict == "ok"))).note(HOLDS),
        row("Emulation", "Events more than 1 ms late", "share_pct", None, runs, |r| Some(100.0 * r.lateness.late_share)),
        row("Emulation", "Lateness, 99th percentile", "lateness_ms", None, runs, |r| Some(r.lateness.p99 / 1e3)),
    ])
}
