//! The settings of a TCP connection, as keys.

use toml::Value;
use wayhop_core::Span;
use wayhop_document::Origin;
use wayhop_transport::tcp::{App, Failure, TcpConfig};

use super::schema::{Tcp, TcpProfile};
use crate::traffic::kind::OpenKey;

/// The value of each key that applies to this connection, and its origin if the entry does not set it.
pub(crate) fn values(f: &Tcp, c: &TcpConfig) -> Vec<OpenKey> {
    let name = match f.profile {
        TcpProfile::Rfc => "rfc",
        TcpProfile::Ns2 => "ns2",
    };
    let of_profile = |key, value: Value| (key, value, Origin::Profile(name.to_owned()));
    let mut rows = vec![
        of_profile("payload_bytes", i64::from(c.segment_bytes).into()),
        of_profile("window", i64::from(c.window_segments).into()),
        of_profile("initial_window", i64::from(c.initial_window).into()),
        of_profile("delayed_ack", c.delayed_ack.is_some().into()),
        of_profile("limited_transmit", c.limited_transmit.into()),
        of_profile("handshake", c.handshake.into()),
        of_profile("tick_s", c.rto.tick.unwrap_or(Span::ZERO).as_secs_f64().into()),
        of_profile("initial_rto_s", c.rto.initial.as_secs_f64().into()),
        of_profile("min_rto_s", c.rto.min.as_secs_f64().into()),
        of_profile("max_rto_s", c.rto.max.as_secs_f64().into()),
        (
            "padding_bytes",
            i64::from(c.padding).into(),
            Origin::derived("the profiles of the flow and the protocol"),
        ),
    ];
    rows.extend(c.delayed_ack.map(|s| of_profile("delayed_ack_s", s.as_secs_f64().into())));
    let default = |key, value: Value| (key, value, Origin::Default);
    match c.app {
        App::Bulk { .. } => {}
        App::Requests { request_bytes, response_bytes, think } => rows.extend([
            default("request_bytes", i64::from(request_bytes).into()),
            default("response_bytes", i64::from(response_bytes).into()),
            default("think_s", think.as_secs_f64().into()),
        ]),
        App::OnOff { bytes_per_s, on, off } => rows.extend([
            default("rate_bps", (8.0 * bytes_per_s).into()),
            default("on_s", on.as_secs_f64().into()),
            default("off_s", off.as_secs_f64().into()),
        ]),
    }
    match c.failure {
        Failure::Elfn { probe, .. } => rows.push(default("probe_interval_s", probe.as_secs_f64().into())),
        Failure::Freeze { longest } => {
            rows.push(default("route_failure_timer_s", longest.as_secs_f64().into()));
        }
        Failure::Ignore | Failure::Revert => {}
    }
    rows
}
