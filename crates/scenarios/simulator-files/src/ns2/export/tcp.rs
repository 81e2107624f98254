//! TCP in an exported traffic file: an agent, a sink and an FTP application for each flow.

use std::fmt::Write as _;

use wayhop_document::{Error, Result};
use wayhop_transport::FlowConfig;
use wayhop_transport::tcp::{App, Failure, Profile, TcpConfig, Variant};

use crate::ns2::tcp::DELAYED_ACK;
use crate::ns2::value::shown_seconds;

/// Writes the lines of flow `k`. Fails on what no agent of ns-2.35 supports; `warnings` gets the differences of its
/// agents.
pub(super) fn write(
    k: usize,
    flow: &FlowConfig,
    c: &TcpConfig,
    of_protocol: &[wayhop_core::Profile],
    out: &mut String,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let (agent, sink) = classes(k, c)?;
    let begin = order(k, flow, c)?;
    warnings.extend(differences(k, c, of_protocol));
    let FlowConfig { src, dst, start, stop, .. } = flow;
    _ = writeln!(out, "#\n# {src} connecting to {dst} at time {}\n#", shown_seconds(*start));
    _ = writeln!(out, "set tcp_({k}) [new {agent}]");
    for (key, value) in settings(c) {
        _ = writeln!(out, "$tcp_({k}) set {key} {value}");
    }
    _ = writeln!(out, "$ns_ attach-agent $node_({src}) $tcp_({k})");
    _ = writeln!(out, "set sink_({k}) [new {sink}]");
    if let Some(delay) = c.delayed_ack.filter(|d| *d != DELAYED_ACK) {
        _ = writeln!(out, "$sink_({k}) set interval_ {}", delay.as_secs_f64());
    }
    _ = writeln!(out, "$ns_ attach-agent $node_({dst}) $sink_({k})\n$ns_ connect $tcp_({k}) $sink_({k})");
    _ = writeln!(out, "set ftp_({k}) [new Application/FTP]\n$ftp_({k}) attach-agent $tcp_({k})");
    _ = writeln!(out, "$ns_ at {} \"$ftp_({k}) {begin}\"", shown_seconds(*start));
    if let Some(stop) = stop {
        _ = writeln!(out, "$ns_ at {} \"$ftp_({k}) stop\"", shown_seconds(*stop));
    }
    Ok(())
}

fn refuse(k: usize, what: &str, remedy: &str) -> Error {
    Error::new(format!("flow {k} {what}, which ns-2.35's TCP does not support"), remedy)
}

fn classes(k: usize, c: &TcpConfig) -> Result<(&'static str, &'static str)> {
    let agent = match c.variant {
        Variant::Tahoe => "Agent/TCP",
        Variant::Reno => "Agent/TCP/Reno",
        Variant::NewReno => "Agent/TCP/Newreno",
        Variant::Sack => "Agent/TCP/Sack1",
        Variant::Vegas => "Agent/TCP/Vegas",
        Variant::Westwood => {
            return Err(refuse(k, "has the variant westwood", "give another variant to export the scenario"));
        }
    };
    let takes_out = |key| format!("remove {key} to export the scenario");
    if c.failure != Failure::Ignore {
        return Err(refuse(k, "reacts to lost routes", &takes_out("route_failure")));
    }
    if c.window_per_hop.is_some() {
        return Err(refuse(k, "has a window that depends on hops", &takes_out("window_per_hop")));
    }
    if c.pacing.is_some() {
        return Err(refuse(k, "has pacing", &takes_out("pacing_bps")));
    }
    if c.rto.fixed {
        return Err(refuse(k, "has a fixed timeout", &takes_out("fixed_rto")));
    }
    let sink = match (c.variant == Variant::Sack, c.delayed_ack.is_some()) {
        (false, false) => "Agent/TCPSink",
        (false, true) => "Agent/TCPSink/DelAck",
        (true, false) => "Agent/TCPSink/Sack1",
        (true, true) => "Agent/TCPSink/Sack1/DelAck",
    };
    Ok((agent, sink))
}

/// What the application is told at its start.
fn order(k: usize, flow: &FlowConfig, c: &TcpConfig) -> Result<String> {
    let App::Bulk { bytes } = c.app else {
        let what = "has an application other than ftp";
        return Err(refuse(k, what, "set application = \"ftp\" to export the scenario"));
    };
    match bytes {
        None => Ok("start".to_owned()),
        Some(_) if flow.stop.is_some() => {
            Err(refuse(k, "has both a size and an end time", "remove bytes or stop_s"))
        }
        Some(n) if i32::try_from(n).is_err() => {
            Err(refuse(k, &format!("sends {n} bytes"), &format!("send at most {} bytes", i32::MAX)))
        }
        Some(n) => Ok(format!("send {n}")),
    }
}

/// The agent's variables, where they are not ns-2's own.
fn settings(c: &TcpConfig) -> Vec<(&'static str, String)> {
    let ns2 = TcpConfig::ns2();
    let mut out =
        vec![("packetSize_", c.segment_bytes.to_string()), ("window_", c.window_segments.to_string())];
    let mut unless = |same: bool, key, value: String| {
        if !same {
            out.push((key, value));
        }
    };
    let on = |flag: bool| u8::from(flag).to_string();
    let s = |span: wayhop_core::Span| span.as_secs_f64().to_string();
    unless(c.initial_window == ns2.initial_window, "windowInit_", c.initial_window.to_string());
    unless(c.limited_transmit == ns2.limited_transmit, "singledup_", on(c.limited_transmit));
    unless(c.handshake == ns2.handshake, "syn_", on(c.handshake));
    if let Some(tick) = c.rto.tick {
        unless(Some(tick) == ns2.rto.tick, "tcpTick_", s(tick));
    }
    unless(c.rto.initial == ns2.rto.initial, "rtxcur_init_", s(c.rto.initial));
    unless(c.rto.min == ns2.rto.min, "minrto_", s(c.rto.min));
    unless(c.rto.max == ns2.rto.max, "maxrto_", s(c.rto.max));
    out
}

/// The differences between ns-2 and this flow. `of_protocol` are the routing protocol's profiles: padding that one of
/// them requires represents bytes that ns-2 counts, too.
fn differences(k: usize, c: &TcpConfig, of_protocol: &[wayhop_core::Profile]) -> Vec<String> {
    let mut out = Vec::new();
    if c.profile == Profile::Rfc {
        let rules = "ns-2's agents have their own rules (use profile = \"ns2\" for them)";
        out.push(format!("flow {k} follows the RFCs, but {rules}"));
    }
    if c.rto.tick.is_none() {
        let ticks = "ns-2's agents count ticks of 10 ms (tick_s = 0.01)";
        out.push(format!("flow {k} has an exact clock, but {ticks}"));
    }
    if c.padding != 0 && !of_protocol.iter().any(|p| p.tcp_padding() == c.padding) {
        let padding = c.padding;
        out.push(format!(
            "flow {k} has {padding} bytes of padding in its headers, but ns-2's agents have none"
        ));
    }
    if let App::Bulk { bytes: Some(n) } = c.app
        && !n.is_multiple_of(u64::from(c.segment_bytes))
    {
        let size = c.segment_bytes;
        out.push(format!("flow {k} sends {n} bytes, but ns-2's agents send whole segments of {size}"));
    }
    out
}
