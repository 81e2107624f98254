//! The node's control socket: its answers and commands.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wayhop_control::answer::{
    Counters, NodeCounters, NodeParameters, NodePosition, Parameters, Positions, Tables, json,
};
use wayhop_control::{ControlError, Gps, JsonTables, Place, Request};
use wayhop_core::{Command, Fix, Inspect as _, Refused};

use crate::config::number::NODE;
use crate::node::host::Host;

/// The answer to a request at the socket of this name, which has been carried out as far as the host goes.
pub(crate) fn outcome(name: &str, request: &Request, host: &mut Host) -> Result<Value, ControlError> {
    let time_s = host.now().as_secs_f64();
    match request {
        Request::Tables { tables } => {
            let mut shown = JsonTables::new(NODE, name, tables);
            host.inspect(&mut shown);
            json(&Tables { time_s, nodes: vec![shown.finish()] })
        }
        Request::Counters {} => {
            let counters = host.around.counters.by_name();
            json(&Counters {
                time_s,
                nodes: vec![NodeCounters { node: NODE, name: name.to_owned(), counters }],
            })
        }
        Request::Parameters {} => shown_parameters(name, host),
        Request::SetParameters { values } => {
            host.change_parameters(values)?;
            shown_parameters(name, host)
        }
        Request::PurgeRoutes { destination } => {
            host.command(&Command::PurgeRoutes { destination: destination.map(Into::into) })
                .map_err(refused)?;
            Ok(Value::Null)
        }
        Request::Position {} => {
            let place = NodePosition {
                node: NODE,
                name: name.to_owned(),
                earth: host.whereabouts.fix().map(Place::from),
                gps: host.whereabouts.quality().map(Gps::from),
                overridden: host.whereabouts.told.is_some(),
                ..NodePosition::default()
            };
            json(&Positions { time_s, nodes: vec![place] })
        }
        Request::SetPosition { place } => {
            let Place::Earth { latitude_deg, longitude_deg, heading_deg, speed_m_per_s } = *place else {
                return Err(unsupported("real nodes have no scenario coordinates"));
            };
            place.check()?;
            host.whereabouts.told = Some(Fix { latitude_deg, longitude_deg, heading_deg, speed_m_per_s });
            host.tell_position();
            host.record_told();
            Ok(Value::Null)
        }
        Request::ReleasePosition {} => {
            host.whereabouts.told = None;
            host.tell_position();
            Ok(Value::Null)
        }
        Request::Down { for_s, lose_tables } => host.take_down(*for_s, *lose_tables).map(|()| Value::Null),
        Request::Up {} => host.bring_up().map(|()| Value::Null),
        Request::Quit {} => Ok(Value::Null),
        Request::Links {} => Err(ControlError::unsupported(
            "links of a real mesh cannot be overridden",
            "`wayhop ctl neighbours` shows this node's neighbours and links",
        )),
        // The event loop answers `capture`.
        _ => Err(unsupported("links of a real mesh cannot be overridden")),
    }
}

fn shown_parameters(name: &str, host: &Host) -> Result<Value, ControlError> {
    let parameters = host.parameters.values().clone();
    json(&Parameters { nodes: vec![NodeParameters { node: NODE, name: name.to_owned(), parameters }] })
}

fn unsupported(what: &str) -> ControlError {
    ControlError::unsupported(what, "use an emulation")
}

fn refused(r: Refused) -> ControlError {
    ControlError::refused(r.0, "`wayhop ctl params` shows the current values")
}

impl Host {
    /// Shows the tables of protocol and host.
    pub(crate) fn inspect(&self, out: &mut JsonTables) {
        self.node.inspect(self.now(), out);
        for r in self.node.table().rows().map(|row| row.route) {
            out.row(
                "forwarding",
                &[("destination", &r.destination), ("next_hop", &r.next_hop), ("hops", &r.metric)],
            );
        }
        for iface in self.ifaces() {
            let name = self.name(iface);
            for (addr, mac) in self.node.neighbours(iface) {
                let dbm = self.signal_from(mac);
                let mut fields: Vec<(&'static str, &dyn std::fmt::Display)> =
                    vec![("address", &addr), ("mac", &mac)];
                if let Some(dbm) = &dbm {
                    fields.push(("signal_dbm", dbm));
                }
                if let Some(name) = &name {
                    fields.push(("interface", name));
                }
                out.row("link_addresses", &fields);
            }
        }
        for iface in self.ifaces() {
            match self.name(iface) {
                None => out.row("queue", &[("packets", &self.node.queued(iface))]),
                Some(name) => {
                    out.row("queue", &[("interface", &name), ("packets", &self.node.queued(iface))]);
                }
            }
        }
        if let Some(t) = &self.timing {
            t.inspect(out);
        }
        for line in self.lines.iter().filter(|l| l.tx_statuses.is_watching()) {
            let of = &line.tx_statuses;
            out.row("transmit_status", &[("trusted", &of.is_trusted()), ("open", &of.len())]);
        }
    }

    /// Gives the protocol these parameters.
    pub(crate) fn change_parameters(&mut self, values: &Map<String, Value>) -> Result<(), ControlError> {
        let (new, command) = self.parameters.changed(values)?;
        self.command(&command).map_err(refused)?;
        self.parameters = new;
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<(), Refused> {
        self.call(|n, w, at| n.command(w, at, 0, command))
    }

    /// Tells the protocol where the node is, if that is news, and writes it down.
    pub(crate) fn tell_position(&mut self) {
        let since = self.whereabouts.since(self.now());
        if let (Some(run), Some(fix)) = (&mut self.around.run, self.whereabouts.fix()) {
            run.place(since, &fix);
        }
        if self.interests.position.is_some()
            && let Some(fix) = self.whereabouts.news()
        {
            self.call(|n, w, at| n.position(w, at, &fix));
        }
    }
}

impl crate::Counters {
    /// All counters by name, as the control socket and metrics have them.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let mut all: BTreeMap<String, u64> = self.named().map(|(k, v)| (k.to_owned(), v)).into();
        let totals = self.totals();
        all.extend(totals.by_type.into_iter().map(|(k, v)| (format!("type.{k}"), v)));
        let auth = self.auth.iter().flat_map(wayhop_auth::BlockCounts::named);
        all.extend(auth.map(|(k, v)| (format!("auth_{k}"), v)));
        all.extend(totals.drops.into_iter().map(|(k, v)| (format!("drop.{k}"), v)));
        all
    }
}
