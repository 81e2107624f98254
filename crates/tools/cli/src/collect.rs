//! `wayhop collect`: the reports of nodes, as they come.

use std::io::{ErrorKind, Write as _, stdout};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::json;
use wayhop_confine::files;
use wayhop_confine::privileges::{self, Capability};
use wayhop_control::monitor::{CollectedReport, Collector, LONGEST_DATAGRAM, Rejection};
use wayhop_report::Document;
use wayhop_runs::interruption::stop_on_signal;

use crate::failure::{Failure, harmless, output, say};

pub(crate) const EXAMPLE: &str = "\
Nodes send reports if monitor.collector in their configuration is this collector. Stop with Ctrl-C.

Example:
  wayhop collect --out reports";

#[derive(Debug, clap::Args)]
pub(crate) struct CollectArgs {
    /// Address and UDP port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:9465")]
    listen: SocketAddr,
    /// Folder for one file per node, NODE_ADDRESS.jsonl; reports are appended
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
    /// Maximum size of DIR's files, in MiB; the files with the oldest reports are deleted first. One sender address gets at most
    /// 64 MiB and 64 files
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    limit_mib: u64,
    /// Print each report as one JSON object per line
    #[arg(long)]
    json: bool,
    /// Print nothing
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
}

pub(crate) fn collect(a: &CollectArgs) -> Result<(), Failure> {
    // Better now than when the first report comes, perhaps hours later.
    std::fs::create_dir_all(&a.out).map_err(|e| {
        Failure::Run(format!("cannot create {}: {e}; choose another folder with --out", a.out.display()))
    })?;
    give_up(a).map_err(|e| Failure::Run(format!("cannot drop privileges: {e}")))?;
    // A thread, which has the privileges that are left.
    let stop = stop_on_signal()?;
    let Some(socket) = listen(a, &stop)? else { return Ok(()) };
    // Now and then, to see whether the user wants to stop.
    socket.set_read_timeout(Some(Duration::from_millis(200))).map_err(Failure::run)?;
    if !a.quiet {
        say!("listening on {}, writing to {}", socket.local_addr().unwrap_or(a.listen), a.out.display());
    }
    let mut collector = Collector::new(&a.out, a.limit_mib << 20);
    let (mut rejected, mut gone): (u64, usize) = (0, 0);
    let mut buffer = [0; LONGEST_DATAGRAM + 1];
    while !stop.load(Ordering::Relaxed) {
        let (n, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(e) => {
                // The mesh may be down for a while (paper 000, section 6.5.4): wait, and try again.
                if !matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) {
                    std::thread::sleep(Duration::from_secs(1));
                }
                continue;
            }
        };
        match collector.receive(from.ip(), SystemTime::now(), &buffer[..n]) {
            Ok(r) => {
                tell_gone(&r, &mut gone, from);
                if a.quiet {
                    continue;
                }
                let line = if a.json {
                    Document::from(json!({"from": from.ip(), "lost": r.lost, "report": r.report})).to_string()
                } else {
                    human(&r, from)
                };
                match writeln!(stdout(), "{line}") {
                    Err(e) if e.kind() == ErrorKind::BrokenPipe => break,
                    written => output(written)?,
                }
            }
            Err(e) => {
                rejected += 1;
                // Printed once: a sender of one can send a million.
                if rejected == 1 || matches!(e, Rejection::NotWritten { .. }) && rejected.is_power_of_two() {
                    say!("wayhop: ignoring a datagram from {from}: {e}");
                }
            }
        }
    }
    if rejected > 0 {
        say!("wayhop: {rejected} datagrams were ignored");
    }
    Ok(())
}

/// Drops root's privileges except for creating files in this folder, before anything from the network is parsed.
fn give_up(a: &CollectArgs) -> std::io::Result<()> {
    files::only_below(&a.out)?;
    // Ports below 1024 need a capability.
    let port = a.listen.port();
    let kept: &[Capability] =
        if (1..1024).contains(&port) { &[Capability::CAP_NET_BIND_SERVICE] } else { &[] };
    privileges::become_owner(&a.out, kept)
}

/// Reports deleted files, but not each time, since a sender of one report can send a million.
fn tell_gone(r: &CollectedReport, gone: &mut usize, from: SocketAddr) {
    let Some(first) = r.gone.first() else { return };
    let before = *gone;
    *gone += r.gone.len();
    if before == 0 || before.ilog2() < gone.ilog2() {
        let name = Path::new(first.file_name().unwrap_or_default()).display();
        say!(
            "wayhop: {gone} old files deleted to make room, {name} for a report from {}; raise --limit-mib, or move files \
             elsewhere",
            from.ip()
        );
    }
}

/// Listens. Waits for an address that this host does not have yet, such as that of a node about to start.
fn listen(a: &CollectArgs, stop: &AtomicBool) -> Result<Option<UdpSocket>, Failure> {
    let mut told = a.quiet;
    while !stop.load(Ordering::Relaxed) {
        match UdpSocket::bind(a.listen) {
            Ok(socket) => return Ok(Some(socket)),
            Err(e) if e.kind() == ErrorKind::AddrNotAvailable => {
                if !told {
                    say!("waiting for this host to get the address {}", a.listen.ip());
                    told = true;
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            Err(e) => {
                let remedy = "choose another address with --listen";
                return Err(Failure::Run(format!("cannot listen on {}: {e}; {remedy}", a.listen)));
            }
        }
    }
    Ok(None)
}

fn human(r: &CollectedReport, from: SocketAddr) -> String {
    let place = match r.report.position {
        Some(wayhop_control::Place::Earth { latitude_deg, longitude_deg, .. }) => {
            format!("{latitude_deg:.6},{longitude_deg:.6}")
        }
        Some(wayhop_control::Place::Local { x, y, .. }) => format!("{x:.1}m,{y:.1}m"),
        None => "place unknown".to_owned(),
    };
    let (node, number) = (&r.report.node, r.report.number);
    let text = format!(
        "{node} ({}) report {number}, {} lost, {place}, {} counters",
        from.ip(),
        r.lost,
        r.report.counters.len()
    );
    harmless(&text)
}
