//! A walk-away and a drive-by of each kind on the real clock, with real iperf3 in the nodes, beside the simulated ones.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::Time;
use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Row, Section, Series, Spread, mean, percentile};
use wayhop_runs::interruption;
use wayhop_scenario::Scenario;

use super::levels::{FAR_S, Levels};
use super::plan::{Experiment, FILES, Motion, Transport, emulated};
use super::shape::Shape;
use super::watch::ReceiverWatch;
use crate::Runs;
use crate::simulate::emulate_run;

/// What iperf3's receiver said of one run.
struct ReceiverReport {
    /// Of each second, Mb/s.
    mbps: Vec<f64>,
    verdict: String,
    complaints: Vec<String>,
}

/// One run of each experiment with this seed beside the simulated ones, which are in the order of their numbers; `None` if they were
/// stopped.
pub(crate) fn section(
    runs: &Runs<'_>,
    levels: &Levels,
    seed: u64,
    dir: &Path,
    stop: &AtomicBool,
    simulated: &[Shape; 4],
) -> Result<Option<Section>, String> {
    let mut section = Section::new(
        "In emulation, with real iperf3",
        "The same radios in real time: iperf3 in network namespaces, with the kernel's UDP and TCP. Intervals are the \
         middle 95 % of the simulated runs, which should contain a single run. Emulated runs have the same setting \
         errors as simulated runs with the same seed.",
    );
    let mut panels = Vec::new();
    for (experiment, shape) in Experiment::ALL.into_iter().zip(simulated) {
        let Some(heard) = emulate(runs, experiment, levels, seed, dir, stop)? else { return Ok(None) };
        section.rows.extend(rows(experiment, &heard, shape));
        panels.push(panel(experiment, &heard, shape));
    }
    section.figures.push(Figure::new(
        "One run of each experiment",
        "Throughput at iperf3's receiver in emulation, and the middle 95 % of the simulated runs around their \
                  mean.",
        panels,
    ));
    Ok(Some(section))
}

/// The programs of a run. The receiver tells first what time it is when the run begins. In a walk-away the sender's ping has the
/// addresses resolved before iperf3 begins; in a drive-by iperf3 begins as soon as its connection is made, which the paper's did
/// too, by repeated attempts: the kernel alone would double its pauses between SYNs, up to 127 s.
fn programs(experiment: Experiment) -> String {
    let kind = match experiment.transport {
        Transport::Udp => "-u -b 29M -l 1470",
        Transport::Tcp => "-M 1450 -w 16K",
    };
    let serve = "date +%s.%N; exec iperf3 -s -i 1 -f k --forceflush --timestamps=%s";
    let (rest_s, seconds) = (experiment.motion.rest_s(), experiment.motion.seconds());
    let send = format!(
        "end=$(($(date +%s) + {seconds})); while left=$((end - $(date +%s))); [ $left -gt 0 ]; do \
         iperf3 -c mesh-0 --connect-timeout 1000 -t $left {kind} && break; sleep 0.2; done"
    );
    let ping = match experiment.motion {
        Motion::WalkAway => {
            r#"{ node = "sender", output = "ping.txt", command = ["ping", "-n", "-c", "8", "mesh-0"] }, "#
        }
        Motion::DriveBy => "",
    };
    format!(
        r#"programs=[{{ node = "receiver", output = "server.txt", command = ["sh", "-c", "{serve}"] }}, {ping}{{ node = "sender", start_s = {rest_s}, output = "client.txt", command = ["sh", "-c", "{send}"] }}]"#
    )
}

/// One run; its directory is in `dir/runs`.
fn emulate(
    runs: &Runs<'_>,
    experiment: Experiment,
    levels: &Levels,
    seed: u64,
    dir: &Path,
    stop: &AtomicBool,
) -> Result<Option<ReceiverReport>, String> {
    let mut sets = experiment.plan(levels, seed, None).sets;
    sets.extend([format!("seed={seed}"), "traffic=[]".to_owned(), programs(experiment)]);
    let file = runs.folder.join(FILES[experiment.number()].0);
    let scenario = Scenario::load(&file, &sets).map_err(|e| e.to_string())?;
    let folder = dir.join("runs").join(emulated(experiment, seed));
    let mut watch = |_: Time| interruption::unless(stop);
    let (outcome, _) = emulate_run(&scenario, [&file, &folder], None::<ReceiverWatch>, &mut watch)?;
    if !outcome.complete {
        return Ok(None);
    }
    let said = fs::read_to_string(folder.join("programs/server.txt"))
        .map_err(|e| format!("iperf3's receiver wrote nothing to {}: {e}", folder.display()))?;
    let mbps = intervals(&said, experiment.motion);
    if mbps.iter().all(|v| *v == 0.0) {
        return Err(format!("iperf3 in {} transferred nothing: {}", folder.display(), said.trim()));
    }
    let lateness = outcome.summary.lateness_us.unwrap_or_default();
    Ok(Some(ReceiverReport { mbps, verdict: lateness.verdict, complaints: outcome.complaints }))
}

/// The throughput of each second of the experiment by what iperf3's receiver reports, Mb/s; what it does not report is 0. The first line
/// is the time at which the run began; each of the others begins with the time at which it was written, in whole seconds.
fn intervals(said: &str, motion: Motion) -> Vec<f64> {
    let mut mbps = vec![0.0; motion.seconds()];
    let mut lines = said.lines();
    let Some(begun) = lines.next().and_then(|l| l.trim().parse::<f64>().ok()) else { return mbps };
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(unit) = words.iter().position(|w| *w == "Kbits/sec") else { continue };
        let span = words.iter().find_map(|w| {
            let (from, until) = w.split_once('-')?;
            Some((from.parse::<f64>().ok()?, until.parse::<f64>().ok()?))
        });
        let kbps = unit.checked_sub(1).and_then(|i| words[i].parse::<f64>().ok());
        let written = line.split(|c: char| !c.is_ascii_digit()).next().and_then(|t| t.parse::<f64>().ok());
        // Longer ones are sums.
        if let (Some((from, until)), Some(kbps), Some(written)) = (span, kbps, written)
            && until - from < 1.5
        {
            // The second that has just ended. Half a second is lost on average where the clock's whole seconds are cut off.
            let second = (written + 0.5 - begun).round() - 1.0 - motion.rest_s() as f64;
            if second >= 0.0
                && let Some(own) = mbps.get_mut(second as usize)
            {
                *own = kbps / 1e3;
            }
        }
    }
    mbps
}

fn rows(experiment: Experiment, heard: &ReceiverReport, simulated: &Shape) -> Vec<Row> {
    let name = experiment.in_words();
    let row = |quantity: &str, of: &dyn Fn(&[f64]) -> Option<f64>| {
        let mut row = Row::new("emulation", &name, quantity, None);
        let ours = of(&heard.mbps);
        let of_runs: Vec<f64> = simulated.runs.iter().filter_map(|r| of(&r.mbps)).collect();
        let ends = middle95(&of_runs);
        (row.ours, row.ci95, row.seeds) = (ours, ends, 1);
        let lies = ours.zip(ends).map(|(ours, [low, high])| (low..=high).contains(&ours));
        let mut note = match lies {
            Some(true) => "Within the middle 95 % of the simulated runs.".to_owned(),
            Some(false) => "Outside the middle 95 % of the simulated runs.".to_owned(),
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
    let carried = |v: &f64| *v > 0.0;
    let first = |mbps: &[f64]| Some(mbps.iter().position(carried)? as f64);
    let last = |mbps: &[f64]| Some(mbps.iter().rposition(carried)? as f64 + 1.0);
    // Where the radios are nearest: within 180 and 160 m, without the seconds in which a connection begins.
    let (from, until) = match experiment.motion {
        Motion::WalkAway => (5, 45),
        Motion::DriveBy => (FAR_S - 40, FAR_S + 40),
    };
    let near = |mbps: &[f64]| mean(&mbps[from.min(mbps.len())..until.min(mbps.len())]);
    let mut rows = vec![row("mean_mbps", &mean), row("mean_near_mbps", &near)];
    if experiment.motion == Motion::DriveBy {
        rows.push(row("first_throughput_s", &first));
    }
    rows.push(row("last_throughput_s", &last));
    rows
}

fn panel(experiment: Experiment, heard: &ReceiverReport, simulated: &Shape) -> Panel {
    let x = |s: usize| s as f64 + 0.5;
    let at = |s: usize| {
        let values = simulated.means(s, s + 1);
        Some(([x(s), mean(&values)?], middle95(&values)))
    };
    let (means, intervals) = (0..experiment.motion.seconds()).filter_map(at).unzip();
    let band = Series::new("simulated", Mark::Line, 0, means).with_intervals(intervals).spread(Spread::Band);
    let points = heard.mbps.iter().enumerate().map(|(s, v)| [x(s), *v]).collect();
    let plot = Plot::new(Axis::new("time (s)"), Axis::new("throughput (Mb/s)").from_to(0.0, 32.0))
        .with(band)
        .with(Series::new("iperf3", Mark::Dot, 1, points));
    Panel::new(&experiment.in_words(), plot)
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
1795000000.250000000
1795000000-----------------------------------------------------------
1795000000Server listening on 5201 (test #1)
1795000010Accepted connection from 10.0.0.2, port 40286
1795000010[  5] local 10.0.0.1 port 5201 connected to 10.0.0.2 port 49325
1795000010[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
1795000011[  5]   0.00-1.00   sec  3.43 MBytes  28806 Kbits/sec  0.020 ms  0/2449 (0%)
1795000012[  5]   1.00-2.00   sec  3.46 MBytes  29001 Kbits/sec  0.020 ms  3/2466 (0.12%)
1795000014[  5]   3.00-4.00   sec  0.00 Bytes  0.00 Kbits/sec
1795000014- - - - - - - - - - - - - - - - - - - - - - - - -
1795000014[  5]   0.00-4.00   sec  6.89 MBytes  14451 Kbits/sec  0.020 ms  3/4915 (0.06%)  receiver
nonsense 1-2 Kbits/sec
";
        // A walk-away begins after 10 s.
        let mbps = intervals(said, Motion::WalkAway);
        assert_eq!(mbps.len(), Motion::WalkAway.seconds());
        assert_eq!(mbps[..4], [28.806, 29.001, 0.0, 0.0]);
        assert!(intervals("", Motion::DriveBy).iter().all(|v| *v == 0.0));
        // In a drive-by the same lines are of the tenth second.
        assert_eq!(intervals(said, Motion::DriveBy)[9..13], [0.0, 28.806, 29.001, 0.0]);
    }
    #[test]
    fn a_run_that_carried_nothing_has_a_mean_of_0_and_no_first_second() {
        let experiment = Experiment { transport: Transport::Udp, motion: Motion::DriveBy };
        let silent = vec![0.0; Motion::DriveBy.seconds()];
        let mut one = silent.clone();
        one[200] = 7.0;
        let heard = ReceiverReport { mbps: silent.clone(), verdict: "ok".to_owned(), complaints: Vec::new() };
        let seen = |mbps| crate::meshtest::watch::LinkSeries { mbps, signal_dbm: Vec::new() };
        let rows = rows(experiment, &heard, &Shape { runs: vec![seen(silent), seen(one)] });
        let of = |quantity: &str| rows.iter().find(|r| r.quantity == quantity).unwrap();
        assert_eq!(of("mean_mbps").ours, Some(0.0));
        for (quantity, of_the_other) in [("first_throughput_s", 200.0), ("last_throughput_s", 201.0)] {
            assert_eq!((of(quantity).ours, of(quantity).ci95), (None, Some([of_the_other; 2])), "{quantity}");
        }
    }
}
