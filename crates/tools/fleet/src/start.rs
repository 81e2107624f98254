//! `start`: the same scenario at all hosts, at a common time.
//!
//! First each host's clock is compared and its node checked ([`prepare`]). Only if all are ready, the nodes are started ([`launch`]): each
//! waits for the common time by its own clock, corrected by the measured offset. Then they are checked ([`look`]).

use std::thread;
use std::time::{Duration, Instant};

use crate::clock;
use crate::config::Host;
use crate::error::{Trouble, TroubleKind, harmless};
use crate::pool::Context;
use crate::programs::{self, ANY_RUNS};
use crate::push::scenario_there;
use crate::quote::quote;
use crate::report::{Clock, HostReport, StartResult};
use crate::script::{Script, WAIT};

/// Whether the fleet's node or a program is running: its process has the recorded start time and boot, and is not a zombie.
pub(crate) const IS_RUNNING: &str = r#"
began() { awk '{ sub(/^.*\) /, ""); if ($1 != "Z" && $1 != "X") print $20 }' "/proc/$1/stat" 2>/dev/null; }
is_process() {
    [ -r "$1" ] && read -r pid since boot < "$1" || return 1
    case $pid in '' | *[!0-9]*) return 1 ;; esac
    [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] && [ "$since" = "$(began "$pid")" ]
}
is_running() { is_process "$dir/node.pid"; }
"#;

/// Checks the configuration that follows. The last line of its output says what is wrong.
const PREPARE: &str = r#"
if is_running; then say runs yes; exit 0; fi
if running_program; then say runs "$program"; exit 0; fi
command -v "$wayhop" >/dev/null 2>&1 || { say wrong "$wayhop is missing; run wayhop fleet push"; exit 0; }
say version "$("$wayhop" --version 2>&1 | head -n 1)"
[ -r "$dir/$scenario" ] || { say wrong "the scenario is missing; run wayhop fleet push"; exit 0; }
cd "$dir/files" || exit 1
if said=$(node --check 2>&1 >/dev/null); then say fit yes; else say wrong "$(printf '%s\n' "$said" | tail -n 1)"; fi
tun=$(node --check 2>/dev/null | sed -n 's/^tun = "\(.*\)"$/\1/p' | head -n 1)
if [ -n "$tun" ] && [ -e "/sys/class/net/$tun" ]; then
    say wrong "interface $tun already exists; stop the other node, or set another \`tun\` for this one"
fi
"#;

/// Starts the node in its own session, so that it survives this connection. `exec` keeps the process.
const LAUNCH: &str = r#"
if is_running; then say runs yes; exit 0; fi
umask 022
mkdir -p -- "$dir/runs/$run" || exit 1
log=$dir/runs/$run/$name.log
cd "$dir/files" || exit 1
setsid sh -c '
at=$1; shift
WAITexec "$@"' sh "$at" node_command </dev/null >"$log" 2>&1 &
pid=$!
printf '%s %s %s\n' "$pid" "$(began "$pid")" "$(cat /proc/sys/kernel/random/boot_id)" > "$dir/node.pid" || exit 1
say pid "$pid"
"#;

const LOOK: &str = r#"
log=$dir/runs/$run/$name.log
if is_running; then say runs yes; else say runs no; fi
if [ -r "$log" ]; then
    if grep -q 'programs use' "$log"; then say ready yes; fi
    say last "$(tail -n 1 "$log")"
fi
"#;

/// How long a node may take to become ready after the common time.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How often it is checked.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is started, and when.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) run: String,
    /// When, by this machine's clock: nanoseconds since 1970.
    pub(crate) at_unix_ns: u64,
}

/// The command of a host's node, as words for its shell. Paths in settings are relative to the folder of the pushed files.
fn node_command(cx: &Context<'_>, host: &Host, run: &str) -> String {
    let mut words = vec!["--as".to_owned(), host.node.clone()];
    for name in &host.interfaces {
        words.extend(["--interface".to_owned(), name.clone()]);
    }
    let gpsd = host.gpsd.as_ref().map(|at| format!("gpsd=\"{at}\""));
    for set in gpsd.iter().chain(&host.sets) {
        words.extend(["--set".to_owned(), set.clone()]);
    }
    let words: Vec<String> = words.iter().map(|w| quote(w)).collect();
    let out = quote(&format!("runs/{run}/{}", host.name));
    format!(
        "\"$wayhop\" node \"$dir\"/{} --out \"$dir\"/{out} {}",
        quote(&scenario_there(cx.fleet)),
        words.join(" ")
    )
}

fn script(cx: &Context<'_>, host: &Host, run: &str) -> Script {
    let mut script = Script::new(host);
    script
        .var("run", run)
        .var("name", &host.name)
        .var("scenario", &scenario_there(cx.fleet))
        .then(IS_RUNNING);
    script
}

/// Compares the clock, and checks whether the node can run.
pub(crate) fn prepare(cx: &Context<'_>, host: &Host) -> HostReport {
    cx.progress.at(host, "checking", None);
    let outcome = fits(cx, host)
        .and_then(|()| clock::measure(cx, host))
        .map(|clock| StartResult { clock: Some(clock), ..StartResult::default() });
    let report = HostReport::with(host, outcome, |r, started| r.start = Some(started));
    if !report.ok {
        cx.progress.done(host, false, report.first_problem_or(""));
    }
    report
}

fn runs_already() -> Trouble {
    Trouble::wrong("a node of the fleet is already running there", "stop it with: wayhop fleet stop")
}

/// Whether the node and its programs can run: everything that the node itself checks before it changes anything.
pub(crate) fn fits(cx: &Context<'_>, host: &Host) -> Result<(), Trouble> {
    let mut script = script(cx, host, "");
    // A check creates no run directory, but some settings require one.
    script
        .then(ANY_RUNS)
        .then(&format!("node() {{ root {} \"$@\"; }}\n", node_command(cx, host, "check")))
        .then(PREPARE);
    for program in &host.programs {
        script.then(&programs::check(program, host));
    }
    let facts = script.ask(cx, host)?;
    match facts.get("runs").map(String::as_str) {
        None => {}
        Some("yes") => return Err(runs_already()),
        Some(program) => {
            let what = format!("its program {} of an earlier run is still running", harmless(program));
            return Err(Trouble::wrong(what, "stop it with: wayhop fleet stop"));
        }
    }
    if let Some(said) = facts.get("wrong") {
        // Messages about missing files already say how to push them.
        let remedy = if said.ends_with("wayhop fleet push") {
            "then start again"
        } else {
            "correct it, then start again"
        };
        return Err(Trouble::wrong(harmless(said), remedy));
    }
    let own = format!("wayhop {}", wayhop_core::version::full());
    match facts.get("version") {
        Some(v) if *v == own => {}
        v => {
            let what = format!("it has {:?}, this host has {own:?}", v.map_or("", String::as_str));
            return Err(Trouble::wrong(what, "run wayhop fleet push"));
        }
    }
    if !facts.contains_key("fit") {
        return Err(Trouble::wrong("no answer whether the node can run", "check what its login shell does"));
    }
    Ok(())
}

pub(crate) fn launch(cx: &Context<'_>, host: &Host, plan: &Plan, clock: Clock) -> HostReport {
    cx.progress.at(host, "starting", None);
    let outcome = try_launch(cx, host, plan, clock);
    let report = HostReport::with(host, outcome, |r, pid| {
        r.start = Some(StartResult { pid: Some(pid), clock: Some(clock), ready: false });
    });
    if !report.ok {
        cx.progress.done(host, false, report.first_problem_or(""));
    }
    report
}

fn try_launch(cx: &Context<'_>, host: &Host, plan: &Plan, clock: Clock) -> Result<u32, Trouble> {
    let at = i128::from(plan.at_unix_ns) + (clock.offset_s * 1e9) as i128;
    let mut script = script(cx, host, &plan.run);
    let root = if host.sudo { "sudo -n -- " } else { "" };
    let command = format!("{root}{}", node_command(cx, host, &plan.run));
    script.var("at", &at.to_string()).then(&LAUNCH.replace("WAIT", WAIT).replace("node_command", &command));
    // Other programs may be installed beside wayhop.
    script.then("case $wayhop in */*) PATH=$(dirname -- \"$wayhop\"):$PATH ;; esac\nexport PATH\n");
    for program in &host.programs {
        script.then(&programs::begin(program, host, at));
    }
    let facts = script.ask(cx, host)?;
    if facts.contains_key("runs") {
        return Err(runs_already());
    }
    let pid = facts.get("pid").and_then(|p| p.parse().ok());
    pid.ok_or_else(|| {
        Trouble::wrong("no answer whether the node was started", "run wayhop fleet stop, then start again")
    })
}

/// Waits for a started node to become ready after the common time.
pub(crate) fn look(cx: &Context<'_>, host: &Host, plan: &Plan, started: StartResult) -> HostReport {
    cx.progress.at(host, "waiting until ready", None);
    let outcome = try_look(cx, host, plan).map(|()| StartResult { ready: true, ..started.clone() });
    let failed = outcome.is_err();
    let mut report = HostReport::with(host, outcome, |r, started| r.start = Some(started));
    if failed {
        report.start = Some(started);
    }
    let said = report.first_problem_or("running");
    cx.progress.done(host, report.ok, said);
    report
}

fn try_look(cx: &Context<'_>, host: &Host, plan: &Plan) -> Result<(), Trouble> {
    let until = Instant::now() + READY_WITHIN;
    loop {
        let facts = script(cx, host, &plan.run).then(LOOK).ask(cx, host)?;
        let is = |key: &str| facts.get(key).is_some_and(|v| v == "yes");
        let last = facts.get("last").map_or("nothing", String::as_str);
        if !is("runs") {
            let what = format!("its node exited; last message: {}", harmless(last));
            let remedy = format!("the complete log is in {}/runs/{} there", host.directory, plan.run);
            return Err(Trouble::wrong(what, remedy));
        }
        if is("ready") {
            return Ok(());
        }
        if Instant::now() > until {
            let what = format!(
                "its node is not ready after {} s; last message: {}",
                READY_WITHIN.as_secs(),
                harmless(last)
            );
            return Err(Trouble::wrong(what, "check its log there, and run wayhop fleet stop"));
        }
        if cx.is_stopped() {
            let what = "interrupted, but its node keeps starting or running";
            return Err(Trouble::new(TroubleKind::Stopped, what, "stop it with: wayhop fleet stop"));
        }
        thread::sleep(LOOK_EVERY);
    }
}
