//! A node's periodic reports: its counters, its position, and its programs' connections.

use std::io::ErrorKind;
use std::time::Duration;

use wayhop_control::About;
use wayhop_control::answer::NodeCounters;
use wayhop_control::metrics::{Endpoint, Snapshot};
use wayhop_core::{FixQuality, Span, Time};
use wayhop_linux::Error;

use crate::config::monitor::Monitor;
use crate::config::number::NODE;
use crate::config::plan::{Addresses, TelemetryPlan};
use crate::log::Log;
use crate::node::host::Host;
use crate::position::receiver::GpsReceiver;
use crate::record::connections::Connections;
use crate::record::monitor::Reports;

/// How often the position is looked at, and metrics are renewed.
const EVERY: Span = Span::from_secs(1);

/// Receiver, metrics and monitor of a node, and looks at its programs' connections.
pub(crate) struct Telemetry {
    about: About,
    log: Log,
    metrics: Option<Endpoint>,
    gps: Option<GpsReceiver>,
    monitor: Option<(Monitor, Reports)>,
    connections: Connections,
    /// Whether somebody may want to know the places of other nodes, and sizes: subscribers, or the run directory.
    is_watched: bool,
    next_look: Time,
    next_report: Time,
}

impl Telemetry {
    /// Begins what the plan asks for. It needs the TUN, whose address reports come from. The node has a run directory, or it has none.
    pub(crate) fn begin(
        plan: &TelemetryPlan,
        about: About,
        addresses: &Addresses,
        has_run: bool,
        log: &Log,
    ) -> Result<Self, Error> {
        let metrics = match plan.metrics {
            Some(at) => Some(Endpoint::bind(at).map_err(|e| match e.kind() {
                ErrorKind::AddrInUse => Error::System(format!(
                    "metrics: {at} is in use by another program; set `metrics` to another port"
                )),
                _ => Error::system(format!("listen on {at} for metrics"))(e),
            })?),
            None => None,
        };
        let gps = plan.gpsd.as_deref().map(|at| GpsReceiver::begin(at, log)).transpose()?;
        let mut telemetry = Self {
            about,
            log: log.clone(),
            metrics,
            gps,
            monitor: None,
            connections: Connections::begin(addresses, has_run)?,
            is_watched: plan.is_watched,
            next_look: Time::ZERO,
            next_report: Time::ZERO,
        };
        telemetry.set_monitor(plan.monitor.as_ref(), addresses.own)?;
        Ok(telemetry)
    }

    /// Reports from now on as this says.
    pub(crate) fn set_monitor(&mut self, to: Option<&Monitor>, own: std::net::Ipv4Addr) -> Result<(), Error> {
        self.monitor = None;
        if let Some(m) = to {
            let name = &self.about.nodes[0].name;
            let reports =
                Reports::begin(m, name, own, &self.log).map_err(Error::system("start the monitor"))?;
            self.monitor = Some((m.clone(), reports));
            self.next_report = Time::ZERO;
        }
        Ok(())
    }

    /// When to look next.
    pub(crate) fn next(&self) -> Option<Time> {
        let look = self.metrics.is_some() || self.gps.is_some() || self.is_watched;
        let look = look.then_some(self.next_look);
        let report = self.monitor.as_ref().map(|_| self.next_report);
        look.into_iter().chain(report).chain(self.connections.next()).min()
    }

    /// Reports that are not in the node's own log.
    pub(crate) fn lost_reports(&self) -> u64 {
        self.monitor.as_ref().map_or(0, |(_, r)| r.lost())
    }

    /// Does what is due.
    pub(crate) fn run_due(&mut self, host: &mut Host) {
        let now = host.now();
        self.connections.run_due(host, &self.log);
        if now >= self.next_look {
            self.next_look = now + EVERY;
            self.look(host);
        }
        if let Some((m, reports)) = self.monitor.as_ref().filter(|_| now >= self.next_report) {
            let interval = Duration::from_secs_f64(m.interval_s);
            self.next_report = now + Span::from_nanos(interval.as_nanos() as u64);
            reports.report(host.around.counters.by_name(), &host.whereabouts);
        }
    }

    /// A last report, at the end.
    pub(crate) fn end(&mut self, host: &Host) {
        if let Some((_, reports)) = self.monitor.take() {
            reports.report(host.around.counters.by_name(), &host.whereabouts);
        }
    }

    fn look(&mut self, host: &mut Host) {
        if let Some(gps) = &mut self.gps {
            gps.look(host);
        }
        host.hear_of_places();
        host.record_sizes();
        host.around.counters.lost_reports = self.lost_reports();
        if let Some(metrics) = &self.metrics {
            metrics.set(self.snapshot(host));
        }
    }

    fn snapshot(&self, host: &Host) -> Snapshot {
        let name = self.about.nodes[0].name.clone();
        let neighbours: usize = host.ifaces().map(|i| host.node.neighbours(i).count()).sum();
        let mut gauges = vec![
            ("uptime_seconds", host.now().as_secs_f64()),
            ("queue_packets", host.queued() as f64),
            ("routes", host.around.routes.len() as f64),
            ("neighbours", neighbours as f64),
        ];
        if let Some(f) = host.whereabouts.fix() {
            gauges.push(("latitude_degrees", f.latitude_deg));
            gauges.push(("longitude_degrees", f.longitude_deg));
            gauges.push(("speed_metres_per_second", f.speed_m_per_s.into()));
        }
        if self.gps.is_some() {
            gauges.extend(gps_gauges(host.whereabouts.quality()));
        }
        let gauges = gauges.into_iter().map(|(k, v)| (k.to_owned(), vec![(name.clone(), v)])).collect();
        let counters = vec![NodeCounters { node: NODE, name, counters: host.around.counters.by_name() }];
        Snapshot { about: self.about.clone(), counters, gauges }
    }
}

/// The receiver's gauges. What it does not tell has none.
fn gps_gauges(quality: Option<FixQuality>) -> impl Iterator<Item = (&'static str, f64)> {
    let q = quality.unwrap_or_default();
    let known = [
        ("gps_mode", Some(f64::from(q.mode))),
        ("gps_status", Some(f64::from(q.status.gpsd()))),
        ("gps_accuracy_metres", q.accuracy_m),
        ("gps_satellites", q.satellites.map(f64::from)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?)))
}
