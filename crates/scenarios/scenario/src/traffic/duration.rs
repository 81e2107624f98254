//! The length of a run that does not set it.

use wayhop_core::Time;
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_transport::tcp::App;
use wayhop_transport::{FlowConfig, FlowKind};

use super::kind::Times;
use crate::file::Scenario;

/// Time for packets that are under way when the last flow stops to arrive, seconds.
const GRACE_S: f64 = 10.0;
/// The run's length where nothing ever moves or stops, seconds; that of Broch and others (1998).
const USUAL_S: f64 = 900.0;
/// Time for a flow that would begin after the end of the run, seconds.
const LATE_START_S: f64 = 100.0;

/// The length of a run. `last_move` is the time of the last move of ns-2 files, and `from_files` are their flows.
pub(crate) fn default_duration(
    scenario: &Scenario,
    last_move: Option<Time>,
    from_files: &[FlowConfig],
) -> Time {
    let written = scenario.traffic.iter().filter_map(|t| t.kind().times());
    let read = from_files.iter().map(|f| (f.start.as_secs_f64(), f.stop.map(Time::as_secs_f64)));
    let flows: Vec<Times> = written.chain(read).collect();
    let ends = !flows.is_empty() && flows.iter().all(|f| f.1.is_some()) && scenario.programs.is_empty();
    let moves = last_move.map(rounded_up).filter(|s| *s > 0.0);
    let mut seconds = moves.unwrap_or(if ends { 0.0 } else { USUAL_S });
    let last = |times: &mut dyn Iterator<Item = f64>| times.filter(|s| s.is_finite()).fold(0.0, f64::max);
    let last_stop = last(&mut flows.iter().filter_map(|f| f.1));
    if last_stop > seconds {
        seconds = last_stop + GRACE_S;
    }
    let last_start = last(&mut flows.iter().filter(|f| f.1.is_none()).map(|f| f.0));
    if last_start >= seconds {
        seconds = last_start + LATE_START_S;
    }
    // Times out of range have messages of their own.
    Time::from_secs_f64(seconds.clamp(1e-9, MAX_DURATION_S))
}

/// To two digits: 1763 s to 1800 s.
fn rounded_up(moment: Time) -> f64 {
    let seconds = moment.as_secs_f64();
    let mut unit = 1.0;
    while seconds > 100.0 * unit {
        unit *= 10.0;
    }
    (seconds / unit).ceil() * unit
}

/// A warning that the default duration cuts off traffic.
pub(crate) fn cut_off(flows: &[FlowConfig], end: Time) -> Option<String> {
    let goes_on = |f: &FlowConfig| match (f.stop, f.max_packets, &f.kind) {
        (Some(stop), _, _) => stop > end,
        (None, Some(n), FlowKind::Cbr { interval, .. } | FlowKind::Ping { interval }) => {
            f.start.as_secs_f64() + interval.as_secs_f64() * n as f64 > end.as_secs_f64()
        }
        (None, None, FlowKind::Trace(s)) => s.packets().last().is_some_and(|p| f.start + p.after > end),
        (None, _, FlowKind::Tcp(c)) => !matches!(c.app, App::Bulk { bytes: Some(_) }),
        _ => true,
    };
    let first = flows.iter().position(goes_on)?;
    let count = flows.iter().filter(|f| goes_on(f)).count();
    Some(format!(
        "stopping at {} s with {count} of {} flows still active, for example flow {first}; set --duration or \
         duration_s",
        end.as_secs_f64(),
        flows.len()
    ))
}
