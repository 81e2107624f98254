//! `check`: whether a host is ready.

use std::time::{Duration, Instant};

use wayhop_control::gpsd::{GpsReport, Reader};

use crate::answer::Facts;
use crate::config::Host;
use crate::error::{Trouble, harmless};
use crate::pool::Context;
use crate::report::{CheckResult, HostReport};
use crate::script::Script;
use crate::{clock, start};

/// Queries the host. `flags` of an interface: bit 0 is IFF_UP.
const SCRIPT: &str = r#"
say machine "$(uname -m)"
if [ -e "$dir" ] && [ ! -O "$dir" ]; then say folder foreign; fi
if [ ! -x "$wayhop" ] && [ "$own" = yes ]; then wayhop=wayhop; say own no; fi
if command -v "$wayhop" >/dev/null 2>&1; then say version "$("$wayhop" --version 2>&1 | head -n 1)"; fi
at=$dir
while [ ! -d "$at" ]; do up=$(dirname -- "$at"); [ "$up" = "$at" ] && break; at=$up; done
say free_kib "$(df -Pk -- "$at" | awk 'END { print $4 }')"
if [ "$(root id -u 2>/dev/null)" = 0 ]; then say root yes; else say root no; fi
n=a
for name in $interfaces; do
    if [ -r "/sys/class/net/$name/flags" ]; then
        flags=$(cat "/sys/class/net/$name/flags")
        if [ $((flags & 1)) = 1 ]; then say "interface_$n" up; else say "interface_$n" down; fi
    else
        say "interface_$n" missing
    fi
    n=a$n
done
"#;

pub(crate) fn check(cx: &Context<'_>, host: &Host) -> HostReport {
    cx.progress.at(host, "querying", None);
    let mut report = HostReport::of(host);
    let mut found = CheckResult::default();
    match ask(cx, host) {
        Err(trouble) => report.note(&trouble),
        Ok(facts) => {
            judge(cx, host, &facts, &mut found, &mut report);
            // A reported problem would cause further ones.
            if report.ok
                && !found.runs
                && let Err(trouble) = start::fits(cx, host)
            {
                report.note(&trouble);
            }
            if !is_lost(&report) {
                measure(cx, host, &mut found, &mut report);
            }
            if !is_lost(&report) {
                position(cx, host, &mut found, &mut report);
            }
        }
    }
    let said = report.first_problem_or("ready");
    cx.progress.done(host, report.ok, said);
    report.check = Some(found);
    report
}

/// Whether the host stopped answering; then it is not queried further.
fn is_lost(report: &HostReport) -> bool {
    ["lost", "refused"].contains(&report.state.as_str())
}

fn ask(cx: &Context<'_>, host: &Host) -> Result<Facts, Trouble> {
    let mut script = Script::new(host);
    // Names of interfaces contain no blanks or shell wildcards: they follow the kernel's rule, and are quoted where needed.
    script.var("interfaces", &host.interfaces.join(" "));
    script.var("own", if host.wayhop.is_none() { "yes" } else { "no" });
    script
        .then("set -f\n")
        .then(SCRIPT)
        .then(start::IS_RUNNING)
        .then("if is_running; then say runs yes; else say runs no; fi\n");
    script.ask(cx, host)
}

fn judge(cx: &Context<'_>, host: &Host, facts: &Facts, found: &mut CheckResult, report: &mut HostReport) {
    let fact = |key: &str| facts.get(key).map(|v| harmless(v)).filter(|v| !v.is_empty());
    found.machine = fact("machine");
    found.version = fact("version");
    let own = format!("wayhop {}", wayhop_core::version::full());
    match &found.version {
        Some(v) if *v == own => {}
        Some(v) => report.wrong(format!("it has {v:?}, this host has {own:?}"), "run wayhop fleet push"),
        None => report.wrong("wayhop is not installed", "run wayhop fleet push"),
    }
    if facts.contains_key("folder") {
        report.wrong(format!("{} belongs to another user", host.directory), "choose another `directory`");
    }
    found.free_mib = fact("free_kib").and_then(|v| v.parse::<u64>().ok()).map(|kib| kib / 1024);
    match found.free_mib {
        Some(free) if free >= cx.fleet.min_free_mib => {}
        Some(free) => report.wrong(
            format!("only {free} MiB of disk space are free"),
            format!("free {} MiB, or change `min_free_mib`", cx.fleet.min_free_mib),
        ),
        None => report.wrong("cannot determine the free disk space", "check the output of `df` there"),
    }
    found.root = fact("root").as_deref() == Some("yes");
    if !found.root {
        let remedy = if host.sudo {
            "allow the user to run sudo without a password"
        } else {
            "log in as root, or set `sudo = true`"
        };
        report.wrong("a node requires root there", remedy);
    }
    let mut key = "interface_a".to_owned();
    for name in &host.interfaces {
        let state = fact(&key)
            .filter(|s| ["up", "down"].contains(&s.as_str()))
            .unwrap_or_else(|| "missing".to_owned());
        match state.as_str() {
            "up" => {}
            "down" => {
                report.wrong(format!("{name} is down"), format!("bring it up with: ip link set {name} up"));
            }
            _ => {
                report.wrong(format!("no interface {name}"), "correct `interface`; list them with `ip link`");
            }
        }
        found.interfaces.push((name.clone(), state));
        key.insert("interface_".len(), 'a');
    }
    found.runs = fact("runs").as_deref() == Some("yes");
}

fn measure(cx: &Context<'_>, host: &Host, found: &mut CheckResult, report: &mut HostReport) {
    cx.progress.at(host, "comparing clocks", None);
    match clock::measure(cx, host) {
        Err(trouble) => report.note(&trouble),
        Ok(c) => {
            found.clock = Some(c);
            if c.offset_s.abs() > cx.fleet.max_clock_offset_s + c.error_s {
                let way = if c.offset_s > 0.0 { "ahead" } else { "behind" };
                report.wrong(
                    format!("its clock is {:.3} s {way}", c.offset_s.abs()),
                    "set it (chrony or `date`), or change `max_clock_offset_s`",
                );
            }
        }
    }
}

fn position(cx: &Context<'_>, host: &Host, found: &mut CheckResult, report: &mut HostReport) {
    let Some(gpsd) = &host.gpsd else { return };
    cx.progress.at(host, "querying gpsd", None);
    match look(cx, host, gpsd) {
        Err(trouble) => report.note(&trouble),
        Ok(None) => {
            found.gps = Some("none".to_owned());
            report.wrong("its GPS receiver has no position", "give it a view of the sky and wait a minute");
        }
        Ok(Some(r)) => {
            found.gps = Some(r.quality.status.name().to_owned());
            found.gps_accuracy_m = r.quality.accuracy_m;
        }
    }
}

/// How long to wait for a report; receivers send one per second.
const PATIENCE: Duration = Duration::from_secs(10);
/// After the first position, GST and SKY for the same time follow.
const REST: Duration = Duration::from_millis(1_200);
/// The longest line, bytes; gpsd's own limit is about 10,000.
const LONGEST: usize = 64 * 1024;

/// The position; `None` if the receiver has none.
fn look(cx: &Context<'_>, host: &Host, gpsd: &str) -> Result<Option<GpsReport>, Trouble> {
    let mut session = cx.ssh(host, &["-W", gpsd], &[])?;
    session.say(b"?WATCH={\"enable\":true,\"json\":true};\n");
    let mut reader = Reader::default();
    let mut until = Instant::now() + PATIENCE.min(cx.fleet.patience);
    let mut known = false;
    while Instant::now() < until {
        let Some(line) = session.line(LONGEST)? else {
            session.end().map_err(|e| of_forwarding(gpsd, e))?;
            return Err(no_answer(gpsd));
        };
        reader.take(&line, Instant::now());
        if !known && reader.latest().is_some() {
            known = true;
            until = until.min(Instant::now() + REST);
        }
        if reader.latest().is_some_and(|r| r.quality.satellites.is_some() && r.quality.accuracy_m.is_some()) {
            break;
        }
    }
    Ok(reader.latest())
}

fn no_answer(gpsd: &str) -> Trouble {
    Trouble::wrong(format!("gpsd does not answer at {gpsd} there"), "start gpsd, or correct `gpsd`")
}

/// Distinguishes a failing gpsd from a failing host, for which ssh exits alike.
fn of_forwarding(gpsd: &str, e: Trouble) -> Trouble {
    if e.what.contains("administratively prohibited") {
        return Trouble::wrong(
            "its sshd does not forward connections, so gpsd cannot be queried",
            "set AllowTcpForwarding yes in its sshd_config",
        );
    }
    if e.what.contains("open failed") || e.what.contains("stdio forwarding failed") {
        return no_answer(gpsd);
    }
    e
}
