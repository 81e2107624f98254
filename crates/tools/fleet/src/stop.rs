//! `stop`: stops the programs and then the node on a host cleanly.

use crate::config::Host;
use crate::error::{Trouble, harmless};
use crate::pool::Context;
use crate::programs::END;
use crate::report::{EndedProgram, HostReport, StopResult};
use crate::script::Script;
use crate::start::IS_RUNNING;

/// Sends SIGTERM and waits, with output each second to keep the connection alive. The node is not killed, so that it can restore the host.
const STOP: &str = r#"
if [ ! -e "$dir/node.pid" ]; then say outcome never; exit 0; fi
if ! is_running; then say outcome over; exit 0; fi
root kill -TERM "$pid" || exit 1
i=0
while is_running; do
    i=$((i + 1))
    if [ "$i" -gt 300 ]; then say outcome stays; exit 0; fi
    if [ $((i % 10)) = 0 ]; then echo .; fi
    sleep 0.1 2>/dev/null || sleep 1
done
say outcome ended
"#;

pub(crate) fn stop(cx: &Context<'_>, host: &Host) -> HostReport {
    cx.progress.at(host, "stopping", None);
    let report = HostReport::with(host, try_stop(cx, host), |r, stopped| r.stop = Some(stopped));
    let outcome = report.stop.as_ref().map_or("", |s| &s.outcome);
    cx.progress.done(host, report.ok, report.first_problem_or(outcome));
    report
}

fn try_stop(cx: &Context<'_>, host: &Host) -> Result<StopResult, Trouble> {
    let facts = Script::new(host).then(IS_RUNNING).then(END).then(STOP).ask(cx, host)?;
    let programs = facts.iter().filter(|(key, _)| key.starts_with("program_"));
    let programs = programs.filter_map(|(_, said)| said.split_once(' '));
    let programs: Vec<EndedProgram> = programs
        .map(|(name, outcome)| EndedProgram { name: harmless(name), outcome: words(outcome).to_owned() })
        .collect();
    if let Some(p) = programs.iter().find(|p| p.outcome == "stays") {
        let what = format!("its program {} does not stop", p.name);
        return Err(Trouble::wrong(what, "check what it does there"));
    }
    let outcome = match facts.get("outcome").map(String::as_str) {
        Some("ended") => "ended",
        Some("over") => "was over",
        Some("never") => "never ran",
        _ => {
            let remedy =
                "check its log there; after killing it, restore the host with `wayhop node --restore`";
            return Err(Trouble::wrong("its node does not stop", remedy));
        }
    };
    Ok(StopResult { outcome: outcome.to_owned(), programs })
}

fn words(outcome: &str) -> &'static str {
    match outcome {
        "over" => "was over",
        "ended" => "ended",
        "killed" => "killed",
        _ => "stays",
    }
}
