//! From the keys of a TCP flow to a connection's settings.

use wayhop_core::Span;
use wayhop_document::{Document, Error, in_range};
use wayhop_transport::tcp::{App, Failure, Pacing, TcpConfig, Variant};

use super::schema::{RouteFailure, Tcp, TcpApplication, TcpProfile, TcpVariant};

/// The settings of the entry whose key is `at`; `ns2_padding` is the padding of the profile `ns2` here unless the
/// entry sets it.
pub(crate) fn resolve(f: &Tcp, at: &str, doc: &Document, ns2_padding: u8) -> Result<TcpConfig, Error> {
    let span = |key: &str, given: Option<f64>, default: Span, least: f64| match given {
        None => Ok(default),
        Some(s) => {
            in_range(doc, &format!("{at}.{key}"), s, least, 1e6)?;
            Ok(Span::from_secs_f64(s))
        }
    };
    let (base, delay) = match f.profile {
        TcpProfile::Rfc => (TcpConfig::rfc(), Span::from_millis(200)),
        TcpProfile::Ns2 => (TcpConfig { padding: ns2_padding, ..TcpConfig::ns2() }, Span::from_millis(100)),
    };
    let delayed = f.delayed_ack.unwrap_or(base.delayed_ack.is_some() || f.delayed_ack_s.is_some());
    let delay = span("delayed_ack_s", f.delayed_ack_s, delay, 0.001)?;
    let second = Span::from_secs(1);
    let mut c = TcpConfig {
        variant: match f.variant {
            TcpVariant::Tahoe => Variant::Tahoe,
            TcpVariant::Reno => Variant::Reno,
            TcpVariant::Newreno => Variant::NewReno,
            TcpVariant::Sack => Variant::Sack,
            TcpVariant::Vegas => Variant::Vegas,
            TcpVariant::Westwood => Variant::Westwood,
        },
        segment_bytes: f.payload_bytes.unwrap_or(base.segment_bytes),
        padding: f.padding_bytes.unwrap_or(base.padding),
        window_segments: f.window.unwrap_or(base.window_segments),
        initial_window: f.initial_window.unwrap_or(base.initial_window),
        delayed_ack: delayed.then_some(delay),
        limited_transmit: f.limited_transmit.unwrap_or(base.limited_transmit),
        handshake: f.handshake.unwrap_or(base.handshake),
        app: match f.application {
            TcpApplication::Ftp => App::Bulk { bytes: f.bytes },
            TcpApplication::Requests => App::Requests {
                request_bytes: f.request_bytes.unwrap_or(200),
                response_bytes: f.response_bytes.unwrap_or(10_000),
                think: span("think_s", f.think_s, second, 0.0)?,
            },
            TcpApplication::OnOff => App::OnOff {
                bytes_per_s: f.rate_bps.unwrap_or(64_000.0) / 8.0,
                on: span("on_s", f.on_s, second, 0.001)?,
                off: span("off_s", f.off_s, second, 0.0)?,
            },
        },
        failure: match f.route_failure {
            RouteFailure::None => Failure::Ignore,
            RouteFailure::Elfn | RouteFailure::ElfnHalf => Failure::Elfn {
                probe: span("probe_interval_s", f.probe_interval_s, Span::from_secs(2), 0.001)?,
                halve: f.route_failure == RouteFailure::ElfnHalf,
            },
            RouteFailure::TcpF => Failure::Freeze {
                longest: span("route_failure_timer_s", f.route_failure_timer_s, Span::from_secs(30), 0.001)?,
            },
            RouteFailure::Rfc6069 => Failure::Revert,
        },
        window_per_hop: f.window_per_hop,
        ..base
    };
    let connect_every = |given| span("connect_every_s", Some(given), Span::ZERO, 0.001);
    c.connect_every = f.connect_every_s.map(connect_every).transpose()?.or(base.connect_every);
    c.rto.tick = match f.tick_s {
        None => base.rto.tick,
        Some(0.0) => None,
        given => Some(span("tick_s", given, Span::ZERO, 1e-6)?),
    };
    c.rto.initial = span("initial_rto_s", f.initial_rto_s, base.rto.initial, 1e-3)?;
    c.rto.min = span("min_rto_s", f.min_rto_s, base.rto.min, 0.0)?;
    c.rto.max = span("max_rto_s", f.max_rto_s, base.rto.max, 1e-3)?;
    c.rto.fixed = f.fixed_rto;
    if let Some(bps) = f.pacing_bps {
        in_range(doc, &format!("{at}.pacing_bps"), bps, 1_000.0, 1e12)?;
        c.pacing = Some(Pacing { bandwidth_bps: bps });
    }
    unused(f, at, doc)?;
    c.check().map_err(|(key, why)| doc.error(&format!("{at}.{key}"), why, "give another value"))?;
    Ok(c)
}

/// Refuses a key that does not apply with the others.
fn unused(f: &Tcp, at: &str, doc: &Document) -> Result<(), Error> {
    let ftp = (f.application == TcpApplication::Ftp, "application = \"ftp\"");
    let requests = (f.application == TcpApplication::Requests, "application = \"requests\"");
    let on_off = (f.application == TcpApplication::OnOff, "application = \"on-off\"");
    let is_elfn = matches!(f.route_failure, RouteFailure::Elfn | RouteFailure::ElfnHalf);
    let elfn = (is_elfn, "route_failure = \"elfn\" or \"elfn-half\"");
    let tcp_f = (f.route_failure == RouteFailure::TcpF, "route_failure = \"tcp-f\"");
    let handshake = (f.handshake != Some(false), "handshake = true");
    let delayed = (f.delayed_ack != Some(false), "delayed_ack = true");
    let keys = [
        ("bytes", f.bytes.is_some(), ftp),
        ("request_bytes", f.request_bytes.is_some(), requests),
        ("response_bytes", f.response_bytes.is_some(), requests),
        ("think_s", f.think_s.is_some(), requests),
        ("rate_bps", f.rate_bps.is_some(), on_off),
        ("on_s", f.on_s.is_some(), on_off),
        ("off_s", f.off_s.is_some(), on_off),
        ("probe_interval_s", f.probe_interval_s.is_some(), elfn),
        ("route_failure_timer_s", f.route_failure_timer_s.is_some(), tcp_f),
        ("delayed_ack_s", f.delayed_ack_s.is_some(), delayed),
        ("connect_every_s", f.connect_every_s.is_some(), handshake),
    ];
    let Some((key, _, (_, of))) = keys.into_iter().find(|(_, given, (used, _))| *given && !used) else {
        return Ok(());
    };
    let reason = format!("this key requires {of}");
    Err(doc.error(&format!("{at}.{key}"), reason, "remove it, or set that"))
}
