//! The load that flows offer to the network.

use wayhop_core::Time;
use wayhop_scenario::{FlowConfig, FlowKind, Resolved};
use wayhop_transport::tcp::App;

/// What a TCP connection is taken to send while it may, as a share of the radio's rate: several hops share one channel.
const TCP_SHARE: f64 = 0.25;

/// How many packets a flow offers until a time, on average. TCP's number is a guess that only serves to weigh it.
pub(super) fn packets_until(flow: &FlowConfig, resolved: &Resolved, at: Time) -> f64 {
    let until = flow.stop.map_or(at, |stop| stop.min(at)).min(resolved.duration);
    if until <= flow.start {
        return 0.0;
    }
    let active = until.since(flow.start);
    let offered = match &flow.kind {
        FlowKind::Tcp(c) => {
            let segment_bits = 8.0 * f64::from(c.segment_bytes);
            let most_bps = TCP_SHARE * 1e6 * resolved.radio().data_rate_mbps;
            let rate_bps = match c.app {
                App::OnOff { bytes_per_s, on, off } => {
                    let share = on.as_secs_f64() / (on + off).as_secs_f64();
                    (8.0 * bytes_per_s * share).min(most_bps)
                }
                App::Bulk { .. } | App::Requests { .. } => most_bps,
            };
            let all = match c.app {
                App::Bulk { bytes: Some(n) } => n as f64 * 8.0 / segment_bits,
                _ => f64::INFINITY,
            };
            (active.as_secs_f64() * rate_bps / segment_bits).min(all)
        }
        FlowKind::Trace(schedule) => schedule.packets().partition_point(|p| p.after < active) as f64,
        kind => (active.as_secs_f64() / kind.mean_interval().as_secs_f64()).ceil(),
    };
    flow.max_packets.map_or(offered, |most| offered.min(most as f64))
}

/// How many packets all flows offer until a time.
pub(super) fn all_until(resolved: &Resolved, at: Time) -> f64 {
    resolved.flows.iter().map(|f| packets_until(f, resolved, at)).sum()
}

/// The packets that a flow offers in the whole run; `None` for TCP, which sends what it can.
pub fn packets(flow: &FlowConfig, resolved: &Resolved) -> Option<f64> {
    match flow.kind {
        FlowKind::Tcp(_) => None,
        _ => Some(packets_until(flow, resolved, resolved.duration)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_scenario::Scenario;

    fn resolved(flow: &str) -> Resolved {
        let text = format!(
            "duration_s = 100\nnodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 100 }}\n[[traffic]]\nsrc = 0\ndst = 1\n{flow}\n"
        );
        Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn flows_offer_packets_while_they_are_on() {
        for (flow, at_50, whole) in [
            ("kind = \"cbr\"\nrate_pps = 4", 200.0, Some(400.0)),
            ("kind = \"cbr\"\nrate_pps = 4\nstart_s = 40\nstop_s = 60", 40.0, Some(80.0)),
            ("kind = \"cbr\"\nrate_pps = 4\nstart_s = 60\nmax_packets = 3", 0.0, Some(3.0)),
            ("kind = \"ping\"", 50.0, Some(100.0)),
            // Half of the time at 64,000 bit/s in packets of 64 octets, but for an interval more after each burst.
            ("kind = \"on-off\"\non_s = 1\noff_s = 1", 3125.0, Some(6250.0)),
            // A quarter of 2 Mb/s in segments of 1,460 octets.
            ("kind = \"tcp\"", 2141.0, None),
            ("kind = \"tcp\"\nbytes = 14600", 10.0, None),
        ] {
            let r = resolved(flow);
            let until = packets_until(&r.flows[0], &r, Time::from_secs_f64(50.0));
            assert!((until - at_50).abs() <= 1.0, "{flow}: {until}");
            assert_eq!(packets(&r.flows[0], &r), whole, "{flow}");
        }
    }
}
