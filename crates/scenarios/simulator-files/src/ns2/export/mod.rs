//! Movement and traffic files that ns-2 itself runs.

mod tcp;

use std::fmt::Write as _;

use wayhop_core::{Position, Profile, Time};
use wayhop_document::{Error, Result};
use wayhop_transport::{FlowConfig, FlowKind, Lengths, OnOff};
use wayhop_world::links::{self, LinkChange, NS2_RANGE_M};
use wayhop_world::{HopTable, Leg, Track};

use crate::ns2::god::{MAX_NODES_IN_TABLE, ns2_hops};
use crate::ns2::value::shown_seconds;

/// ns-2's `Agent/UDP` cuts longer payloads unless told otherwise.
const UDP_PACKET_SIZE: u32 = 1000;

/// What to write.
#[derive(Clone, Copy, Debug)]
pub struct ExportOptions {
    /// `$god_ set-dist` lines: the shortest hop counts at the start and whenever they change, with links of 250 m. The work
    /// and the file grow with the square of the nodes and more; beyond 1,000 nodes none are written.
    pub god: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { god: true }
    }
}

/// Places in degrees leave a plane as the earth curves: by a metre on a way of 3.6 km.
const MAX_CLIMB_M: f64 = 1.0;

/// The two files.
#[derive(Clone, Debug, PartialEq)]
pub struct Ns2Files {
    /// As `setdest` writes it.
    pub movement: String,
    /// As `cbrgen` writes it, with TCP as its `-type tcp` has it.
    pub traffic: String,
    /// What the files cannot say.
    pub warnings: Vec<String>,
}

/// A scenario as files for ns-2, to be sourced after it has created `$ns_`, `$god_` and `$node_(0)` onwards.
#[derive(Clone, Copy, Debug)]
pub struct Exporter<'a> {
    /// Each node's motion.
    pub tracks: &'a [Track],
    /// Size of the area, metres.
    pub area: [f64; 3],
    /// The end of the run.
    pub duration: Time,
    /// The flows.
    pub flows: &'a [FlowConfig],
    /// The profiles of the routing protocol.
    pub profiles: &'a [Profile],
}

impl Exporter<'_> {
    /// The file of the nodes' movement. `warnings` gets what it cannot say.
    pub fn movement(&self, options: ExportOptions, warnings: &mut Vec<String>) -> Result<String> {
        let tracks = self.tracks;
        let [x, y, _] = self.area;
        let mut out = format!(
            "#\n# nodes: {}, max time: {:.2}, max x: {x:.2}, max y: {y:.2}\n#\n",
            tracks.len(),
            self.duration.as_secs_f64()
        );
        for (i, track) in tracks.iter().enumerate() {
            let Position { x, y, z } = track.position(Time::ZERO);
            for (axis, v) in [("X", x), ("Y", y), ("Z", z)] {
                _ = writeln!(out, "$node_({i}) set {axis}_ {v:.12}");
            }
        }
        let mut lines: Vec<(Time, String)> = Vec::new();
        let mut climb_m = 0.0_f64;
        for (i, track) in tracks.iter().enumerate() {
            climb_m = climb_m.max(moves(i, track, self.duration, &mut lines)?);
        }
        if climb_m > 0.0 {
            warnings.push(format!(
                "heights change by up to {climb_m:.3} m during movement; ns-2 nodes keep their initial height"
            ));
        }
        if options.god && tracks.len() <= MAX_NODES_IN_TABLE {
            distances(tracks, self.duration, &mut out, &mut lines);
        } else if options.god {
            warnings.push(format!(
                "no $god_ set-dist lines: they are only written for up to {MAX_NODES_IN_TABLE} nodes"
            ));
        }
        lines.sort_by_key(|l| l.0);
        for (t, line) in lines {
            _ = writeln!(out, "$ns_ at {} \"{line}\"", shown_seconds(t));
        }
        Ok(out)
    }

    /// The file of the flows. `warnings` gets what it cannot say.
    pub fn traffic(&self, warnings: &mut Vec<String>) -> Result<String> {
        let mut out = format!("#\n# nodes: {}, connections: {}\n#\n", self.tracks.len(), self.flows.len());
        for (k, flow) in self.flows.iter().enumerate() {
            let refuse = |what: &str| {
                let reason = format!("flow {k} {what}, which ns-2's traffic files do not support");
                Error::new(reason, "export only unicast TCP, burst, and CBR flows with a jitter of 0 or 0.5")
            };
            if flow.is_to_all() {
                return Err(refuse("is sent to all nodes"));
            }
            match flow.kind {
                _ if flow.ip6 => return Err(refuse("uses IPv6")),
                FlowKind::Cbr { interval, jitter } if [0.0, 0.5].contains(&jitter) => {
                    let random = if jitter == 0.0 { 0.0 } else { 1.0 };
                    let settings = [("interval_", interval.as_secs_f64()), ("random_", random)];
                    generator(k, flow, "CBR", &settings, &mut out);
                }
                FlowKind::Cbr { jitter, .. } => return Err(refuse(&format!("has a jitter of {jitter}"))),
                FlowKind::OnOff(_) if flow.max_packets.is_some() => {
                    return Err(refuse("stops after a number of packets in bursts"));
                }
                FlowKind::OnOff(bursts) => on_off(k, flow, &bursts, &mut out),
                FlowKind::Tcp(ref config) => {
                    tcp::write(k, flow, config, self.profiles, &mut out, warnings)?;
                }
                _ => return Err(refuse("is neither CBR nor bursts nor TCP")),
            }
        }
        Ok(out)
    }
}

/// The scheduled lines of one node, and the largest difference of its height from the initial one, metres.
fn moves(i: usize, track: &Track, until: Time, lines: &mut Vec<(Time, String)>) -> Result<f64> {
    let mut last: Option<&Leg> = None;
    let mut climb_m = 0.0_f64;
    for leg in track.legs().iter().take_while(|l| l.from < until) {
        // A leg that never ends is one that ends with the run.
        let end = if leg.until == Time::NEVER { until } else { leg.until };
        let z = track.legs()[0].start.z;
        climb_m = climb_m.max((leg.start.z - z).abs()).max((leg.position(end).z - z).abs());
        if climb_m > MAX_CLIMB_M {
            let from_s = leg.from.as_secs_f64();
            let reason = format!(
                "node {i} changes its height while moving at {from_s} s, which ns-2 does not support"
            );
            let remedy =
                "give its positions the same height, or set area.z_m = 0 if its movement is generated";
            return Err(Error::new(reason, remedy));
        }
        let at = leg.start;
        let before = last.map(|l| l.position(leg.from));
        if let Some(before) = before.filter(|b| b.distance_squared(at) > 1e-12) {
            // ns-2 travels on after a jump unless a setdest has ended the move first, and another begins where it lands.
            for place in [before, at] {
                if place.distance_squared(at) == 0.0 {
                    for (axis, v) in [("X", at.x), ("Y", at.y), ("Z", at.z)] {
                        lines.push((leg.from, format!("$node_({i}) set {axis}_ {v:.12}")));
                    }
                }
                lines.push((leg.from, set_destination(i, place, 0.0)?));
            }
        }
        if !leg.is_rest() {
            lines.push((leg.from, set_destination(i, leg.position(end), leg.speed())?));
        }
        last = Some(leg);
    }
    Ok(climb_m)
}

fn set_destination(i: usize, to: Position, speed: f64) -> Result<String> {
    if to.x <= 0.0 || to.y <= 0.0 {
        return Err(Error::new(
            format!("node {i} moves to ({}, {}), but ns-2 accepts only destinations above 0", to.x, to.y),
            "move the scenario to the north-east",
        ));
    }
    Ok(format!("$node_({i}) setdest {:.12} {:.12} {speed:.12}", to.x, to.y))
}

/// `$god_ set-dist` for every pair at the start, and for every pair whose hop count changes when it does.
fn distances(tracks: &[Track], until: Time, out: &mut String, lines: &mut Vec<(Time, String)>) {
    let start: Vec<Position> = tracks.iter().map(|t| t.position(Time::ZERO)).collect();
    let mut table = HopTable::new(links::neighbours(&start, NS2_RANGE_M));
    for a in 0..tracks.len() {
        for b in a + 1..tracks.len() {
            _ = writeln!(out, "$god_ set-dist {a} {b} {}", ns2_hops(&table, a, b));
        }
    }
    let changes = links::changes(tracks, NS2_RANGE_M, until);
    for moment in changes.chunk_by(|x: &LinkChange, y| x.at == y.at) {
        for (a, b, _) in table.apply(moment) {
            let hops = ns2_hops(&table, a as usize, b as usize);
            lines.push((moment[0].at, format!("$god_ set-dist {a} {b} {hops}")));
        }
    }
}

fn on_off(k: usize, flow: &FlowConfig, bursts: &OnOff, out: &mut String) {
    let bits = 8.0 * f64::from(flow.payload_bytes);
    let (on, off) = (bursts.on.as_secs_f64(), bursts.off.as_secs_f64());
    let common = [("burst_time_", on), ("idle_time_", off), ("rate_", bits / bursts.interval.as_secs_f64())];
    match bursts.lengths {
        Lengths::Exponential => generator(k, flow, "Exponential", &common, out),
        Lengths::Pareto { shape } => {
            generator(k, flow, "Pareto", &[&common[..], &[("shape_", shape)]].concat(), out);
        }
    }
}

/// The lines of a flow of a class of `Application/Traffic` with these settings.
fn generator(k: usize, flow: &FlowConfig, class: &str, settings: &[(&str, f64)], out: &mut String) {
    let FlowConfig { src, dst, start, stop, payload_bytes, max_packets, .. } = flow;
    _ = writeln!(out, "#\n# {src} connecting to {dst} at time {}\n#", shown_seconds(*start));
    _ = writeln!(out, "set udp_({k}) [new Agent/UDP]");
    if *payload_bytes > UDP_PACKET_SIZE {
        _ = writeln!(out, "$udp_({k}) set packetSize_ {payload_bytes}");
    }
    _ = writeln!(out, "$ns_ attach-agent $node_({src}) $udp_({k})");
    _ = writeln!(out, "set null_({k}) [new Agent/Null]\n$ns_ attach-agent $node_({dst}) $null_({k})");
    _ = writeln!(
        out,
        "set cbr_({k}) [new Application/Traffic/{class}]\n$cbr_({k}) set packetSize_ {payload_bytes}"
    );
    for (key, value) in settings {
        _ = writeln!(out, "$cbr_({k}) set {key} {value}");
    }
    if let Some(n) = max_packets {
        _ = writeln!(out, "$cbr_({k}) set maxpkts_ {n}");
    }
    _ = writeln!(out, "$cbr_({k}) attach-agent $udp_({k})\n$ns_ connect $udp_({k}) $null_({k})");
    _ = writeln!(out, "$ns_ at {} \"$cbr_({k}) start\"", shown_seconds(*start));
    if let Some(stop) = stop {
        _ = writeln!(out, "$ns_ at {} \"$cbr_({k}) stop\"", shown_seconds(*stop));
    }
}
