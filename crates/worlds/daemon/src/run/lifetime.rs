//! A node's life, from its first log line to its last.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wayhop_application_host::signals;
use wayhop_core::LinkChange;
use wayhop_linux::{Error, interface};
use wayhop_trace::Summary;

use crate::config::settings::Settings;
use crate::kernel::random::random_seed;
use crate::node::clock::NodeClock;
use crate::position::fix_time::FixClock;
use crate::record::capture::Capture;
use crate::run::event_loop::EventLoop;
use crate::run::rooms::Rooms;
use crate::run::setup::set_up;

/// How a node ended.
#[derive(Debug)]
pub struct NodeOutcome {
    /// What it counted.
    pub summary: Summary,
    /// Why it ended by itself, or that the host is not as before.
    pub failure: Option<Error>,
}

/// Runs a node until a signal ends it or, if it is `tied`, its standard input does.
pub fn run(settings: &Settings, tied: bool) -> Result<NodeOutcome, Error> {
    let signals = signals().map_err(Error::system("wait for signals"))?;
    let begun = Instant::now();
    let time_zero = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let seed = match settings.config.seed {
        Some(seed) => seed,
        None => random_seed().map_err(Error::system("get a random seed"))?,
    };
    let (mut rooms, watch) = set_up(settings, seed)?;
    rooms.host.whereabouts.clock = Some(FixClock::new(begun, time_zero));
    greet(settings, &mut rooms);
    let mut node =
        EventLoop::new(settings.clone(), seed, (NodeClock::from(begun), time_zero), tied, rooms, watch);
    let ended = node.run(&signals);
    if let Some(e) = &ended {
        node.say_why_it_leaves(e);
    }
    let summary = end_record(&mut node, settings);
    let set_back = node.rooms.end();
    let failure = match (ended, set_back) {
        (Some(why), Err(e)) => Some(Error::System(format!("{why}; {e}"))),
        (why, set_back) => why.or(set_back.err()),
    };
    Ok(NodeOutcome { summary, failure })
}

/// Says what runs where, and which interfaces are down.
fn greet(settings: &Settings, rooms: &mut Rooms) {
    let Rooms { host, interfaces, log, .. } = rooms;
    for remark in &settings.remarks {
        log.info(remark);
    }
    if let Some(open) = settings.unauthenticated() {
        log.warning(open);
    }
    let names: Vec<String> = interfaces.all.iter().map(|a| format!("{} ({})", a.name, a.facts.mac)).collect();
    let Settings { protocol, address, prefix_len, config, .. } = settings;
    let (protocol, names, tun) = (protocol.name(), names.join(" and "), &config.tun);
    log.info(format_args!("{protocol} at {address}/{prefix_len} on {names}, programs use {tun}"));
    for (iface, a) in interfaces.numbered().filter(|(_, a)| !interface::is_up(&a.name)) {
        let name = &a.name;
        let remedy = format_args!("bring it up with: ip link set {name} up");
        log.warning(format_args!("{name} is down and will not be used; {remedy}"));
        a.is_up = false;
        host.link(iface, LinkChange::Down);
    }
}

/// Has files get the rest of what was recorded, as far as they can.
fn end_record(node: &mut EventLoop, settings: &Settings) -> Summary {
    let Rooms { host, interfaces, record, log, .. } = &mut node.rooms;
    log.info("ends");
    interfaces.count(host);
    record.telemetry.end(host);
    if let Some(wrong) = record.captures.file.take().and_then(Capture::end) {
        log.warning(wrong);
    }
    if let Some(Err(e)) = host.around.inputs.take().map(|logs| logs.finish()) {
        log.warning(format_args!("the log of inputs is incomplete: {e}"));
    }
    let mut summary = node.summary(settings);
    let Rooms { host, log, .. } = &mut node.rooms;
    let run = host.around.run.take();
    if let Some(Err(e)) = run.map(|run| run.end(&mut summary, &host.around.counters)) {
        log.warning(e);
    }
    summary
}
