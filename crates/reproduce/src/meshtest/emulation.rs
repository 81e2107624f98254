//! A walk-away of each kind on the real clock, with real iperf3 in the nodes, beside the simulated ones.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::Time;
use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Row, Section, Series, Spread, mean, percentile};
use wayhop_runs::{Emulation, Error, Tasks, interruption, run_dir};
use wayhop_scenario::Scenario;

use super::levels::Levels;
use super::plan::{Experiment, FILES, Motion, Transport};
use super::shape::Shape;
use crate::Runs;

/// What iperf3's receiver said of one walk-away.
struct Heard {
    /// Of each second, Mb/s.
    mbps: Vec<f64>,
    verdict: String,
    complaints: Vec<String>,
}

/// Both walk-aways with this seed beside the simulated ones; `None` if they were stopped.
pub(crate) fn section(
    runs: &Runs<'_>,
    levels: &Levels,
    seed: u64,
    dir: &Path,
    stop: &AtomicBool,
    simulated: [&Shape; 2],
) -> Result<Option<Section>, String> {
    let mut section = Section {
        heading: "A walk-away in emulation".to_owned(),
        text: vec![
            "The same radios on the real clock: iperf3 in network namespaces, the kernel's UDP and TCP. Intervals are the middle 95 % of the \
             simulated runs, where a single run ought to lie. The emulated runs have the error of the settings of the simulated ones with \
             the same seed."
                .to_owned(),
        ],
        ..Section::default()
    };
    let mut panels = Vec::new();
    for (transport, shape) in Transport::BOTH.into_iter().zip(simulated) {
        let experiment = Experiment { motion: Motion::WalkAway, transport };
        let Some(heard) = walk(runs, experiment, levels, seed, dir, stop)? else { return Ok(None) };
        section.rows.extend(rows(transport, &heard, shape));
        panels.push(panel(transport, &heard, shape));
    }
    section.figures.push(Figure {
        name: "A walk-away of each kind".to_owned(),
        caption: "Throughput by iperf3's receiver in emulation, and the middle 95 % of the simulated runs around their mean.".to_owned(),
        panels,
    });
    Ok(Some(section))
}

/// The programs of a walk-away. The sender's ping has the addresses resolved before iperf3 begins, at 10 s.
fn programs(transport: Transport) -> String {
    let kind = match transport {
        Transport::Udp => r#""-u", "-b", "29M", "-l", "1470""#,
        Transport::Tcp => r#""-M", "1450", "-w", "16K""#,
    };
    format!(
        r#"programs=[{{ node = "receiver", output = "server.txt", command = ["iperf3", "-s", "-1", "-i", "1", "-f", "k", "--forceflush"] }}, {{ node = "sender", output = "ping.txt", command = ["ping", "-n", "-c", "8", "mesh-0"] }}, {{ node = "sender", start_s = 10, output = "client.txt", command = ["iperf3", "-c", "mesh-0", "-t", "300", {kind}] }}]"#
    )
}

/// One walk-away; its run directory is in `dir/runs`.
fn walk(
    runs: &Runs<'_>,
    experiment: Experiment,
    levels: &Levels,
    seed: u64,
    dir: &Path,
    stop: &AtomicBool,
) -> Result<Option<Heard>, String> {
    let mut sets = experiment.sets(levels, seed);
    sets.extend(["traffic=[]".to_owned(), programs(experiment.transport)]);
    let file = runs.path(FILES[experiment.number()].0);
    let scenario = Scenario::load(&file, &sets).map_err(|e| e.to_string())?;
    let resolved = scenario.resolve().map_err(|e| e.to_string())?;
    let text = |e: Error| e.to_string();
    let emulation = Emulation::new(&resolved, || false).map_err(text)?;
    let folder = dir.join(format!("runs/emulated-{}-{seed}", experiment.transport.name().to_lowercase()));
    let run = run_dir::create(Some(&folder), Some(&file), run_dir::World::Emulation, &scenario, &resolved)
        .map_err(text)?
        .dir;
    let recorder = run_dir::tables(&run, &resolved).map_err(text)?;
    let mut watch = |_: Time| interruption::unless(stop);
    let tasks = Tasks {
        recorder,
        dir: Some(&folder),
        trust: false,
        command: None,
        collector: None,
        inputs: None,
        watch: &mut watch,
    };
    let mut outcome = emulation.run(tasks).map_err(text)?;
    outcome.save().map_err(text)?;
    outcome.check().map_err(|e| format!("{}: {e}", resolved.name))?;
    if !outcome.complete {
        return Ok(None);
    }
    let said = fs::read_to_string(folder.join("programs/server.txt"))
        .map_err(|e| format!("iperf3's receiver left nothing in {}: {e}", folder.display()))?;
    let mbps = intervals(&said, Motion::WalkAway.seconds());
    if mbps.iter().all(|v| *v == 0.0) {
        return Err(format!("iperf3 in {} carried nothing: {}", folder.display(), said.trim()));
    }
    let lateness = outcome.summary.lateness_us.unwrap_or_default();
    Ok(Some(Heard { mbps, verdict: lateness.verdict, complaints: outcome.complaints }))
}

/// The throughput of each second that iperf3's receiver reports, Mb/s; what it does not report is 0.
fn intervals(said: &str, seconds: usize) -> Vec<f64> {
    let mut mbps = vec![0.0; seconds];
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(at) = words.iter().position(|w| *w == "Kbits/sec") else { continue };
        let span = words.iter().find_map(|w| {
            let (from, until) = w.split_once('-')?;
            Some((from.parse::<f64>().ok()?, until.parse::<f64>().ok()?))
        });
        let kbps = at.checked_sub(1).and_then(|i| words[i].parse::<f64>().ok());
        // Longer ones are sums.
        if let (Some((from, until)), Some(kbps)) = (span, kbps)
            && until - from < 1.5
            && let Some(second) = mbps.get_mut(from.round() as usize)
        {
            *second = kbps / 1e3;
        }
    }
    mbps
}

fn rows(transport: Transport, heard: &Heard, simulated: &Shape) -> Vec<Row> {
    let row = |quantity: &str, ours: f64, of_runs: &[f64]| {
        let mut row = Row::new("emulation", transport.name(), quantity, None);
        let ends = middle95(of_runs);
        (row.ours, row.ci95, row.seeds) = (Some(ours), ends, 1);
        let lies = ends.map(|[low, high]| (low..=high).contains(&ours));
        let mut note = match lies {
            Some(true) => "Lies within the middle 95 % of the simulated runs.".to_owned(),
            Some(false) => "Lies outside of the middle 95 % of the simulated runs.".to_owned(),
            None => String::new(),
        };
        if heard.verdict != "ok" {
            note.push_str(" The machine did not keep up: the run is degraded.");
        }
        for complaint in &heard.complaints {
            note.push(' ');
            note.push_str(complaint);
            note.push('.');
        }
        row.note(note)
    };
    let last = |mbps: &[f64]| mbps.iter().rposition(|v| *v > 0.0).map_or(0.0, |s| s as f64 + 1.0);
    let near = |mbps: &[f64]| mean(&mbps[5..45.min(mbps.len())]).unwrap_or(0.0);
    let of = |f: &dyn Fn(&[f64]) -> f64| simulated.runs.iter().map(|r| f(&r.mbps)).collect::<Vec<_>>();
    let whole = |mbps: &[f64]| mean(mbps).unwrap_or(0.0);
    vec![
        row("mean_mbps", whole(&heard.mbps), &of(&whole)),
        row("mean_5_to_45_s_mbps", near(&heard.mbps), &of(&near)),
        row("last_throughput_s", last(&heard.mbps), &of(&last)),
    ]
}

fn panel(transport: Transport, heard: &Heard, simulated: &Shape) -> Panel {
    let x = |s: usize| s as f64 + 0.5;
    let at = |s: usize| {
        let values = simulated.means(s, s + 1);
        Some(([x(s), mean(&values)?], middle95(&values)))
    };
    let all: Vec<_> = (0..Motion::WalkAway.seconds()).filter_map(at).collect();
    let band = Series::new("simulated", Mark::Line, 0, all.iter().map(|a| a.0).collect())
        .with_intervals(all.iter().map(|a| a.1).collect())
        .spread(Spread::Band);
    let points = heard.mbps.iter().enumerate().map(|(s, v)| [x(s), *v]).collect();
    let plot = Plot::new(Axis::new("time (s)"), Axis::new("throughput (Mb/s)").from_to(0.0, 32.0))
        .with(band)
        .with(Series::new("iperf3", Mark::Dot, 1, points));
    Panel { title: transport.name().to_owned(), plot }
}

/// The middle 95 % of single runs.
fn middle95(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some([percentile(&sorted, 0.025)?, percentile(&sorted, 0.975)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iperf3_s_seconds_are_read_and_its_sums_are_not() {
        let said = "\
-----------------------------------------------------------
Server listening on 5201 (test #1)
Accepted connection from 10.0.0.2, port 40286
[  5] local 10.0.0.1 port 5201 connected to 10.0.0.2 port 49325
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  3.43 MBytes  28806 Kbits/sec  0.020 ms  0/2449 (0%)
[  5]   1.00-2.00   sec  3.46 MBytes  29001 Kbits/sec  0.020 ms  3/2466 (0.12%)
[  5]   3.00-4.00   sec  0.00 Bytes  0.00 Kbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-4.00   sec  6.89 MBytes  14451 Kbits/sec  0.020 ms  3/4915 (0.06%)  receiver
nonsense 1-2 Kbits/sec
";
        assert_eq!(intervals(said, 5), [28.806, 29.001, 0.0, 0.0, 0.0]);
        assert_eq!(intervals("", 2), [0.0, 0.0]);
    }
}
