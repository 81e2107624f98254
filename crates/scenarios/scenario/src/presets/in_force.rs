//! All settings of a run, including defaults and derived values, each with its origin.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::{Table, Value};
use wayhop_radio::RadioConfig;

use wayhop_core::Limits;
use wayhop_document::{Origin, Origins, Result, leaves};

use crate::file::Scenario;
use crate::interfaces::energy::DRAW;
use crate::interfaces::{Radio, RadioPlan};
use crate::movement::Movement;
use crate::presets::overrides;
use crate::resolve::Resolved;
use crate::traffic::RunContext;

/// A setting of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct InForce {
    /// The key, as `--set` takes it: `traffic.0.rate_pps`.
    pub key: String,
    /// Its value; none for a parameter that is off, such as a timeout that never expires.
    pub value: Option<Value>,
    /// Its origin. A derived value is no setting: some of them have no key in a scenario.
    pub origin: Origin,
}

impl Scenario {
    /// All values that a run of this scenario has. `resolved` is what [`Scenario::resolve`] made of it. Fails if a
    /// value cannot be written as TOML.
    pub fn in_force(&self, resolved: &Resolved) -> Result<Vec<InForce>> {
        let bug = |e: toml::ser::Error| self.document.error("", e.to_string(), "report this as a bug");
        let mut all = Layers {
            table: Table::try_from(self).map_err(bug)?,
            unsaid: BTreeMap::new(),
            absent: Vec::new(),
        };
        all.run(self, resolved);
        all.traffic(self, resolved)?;
        let sections = std::iter::once(("radio".to_owned(), &self.radio));
        let further = self.radios.iter().enumerate().map(|(k, r)| (format!("radios.{k}"), r));
        for ((section, said), plan) in sections.chain(further).zip(&resolved.interfaces.radios) {
            all.radio(&section, said, plan).map_err(bug)?;
        }
        for (k, wire) in resolved.interfaces.wires.iter().enumerate() {
            all.add(&format!("wires.{k}.name"), &*wire.name, Origin::Default);
        }
        all.protocol(self, resolved).map_err(bug)?;
        all.limits(self, resolved.limits);
        all.energy(self);
        for (k, node) in self.nodes.single.iter().enumerate() {
            let Some(preset) = node.card.as_deref() else { continue };
            all.card(&format!("nodes.node.{k}.card_of_preset"), preset).map_err(bug)?;
        }
        Ok(all.with_origins(&Origins::of(&self.document)))
    }
}

/// The scenario's own values, and those that it leaves open.
struct Layers {
    table: Table,
    /// The origins of values that nothing sets.
    unsaid: BTreeMap<String, Origin>,
    absent: Vec<InForce>,
}

impl Layers {
    /// Adds a value that the scenario leaves open.
    fn add(&mut self, key: &str, value: impl Into<Value>, origin: Origin) {
        let (way, last) = key.rsplit_once('.').unwrap_or(("", key));
        let parts: Vec<&str> = way.split('.').filter(|p| !p.is_empty()).collect();
        let table = below(&mut self.table, &parts);
        if let Some(table) = table.filter(|t| !t.contains_key(last)) {
            table.insert(last.to_owned(), value.into());
            self.unsaid.insert(key.to_owned(), origin);
        }
    }

    fn with_origins(self, set: &Origins) -> Vec<InForce> {
        let origin = |key: &str| set.get(key).or_else(|| self.unsaid.get(key)).cloned();
        let values = leaves("", &Value::Table(self.table)).into_iter().map(|(key, value)| {
            let origin = origin(&key).unwrap_or(Origin::Default);
            InForce { key, value: Some(value), origin }
        });
        values.chain(self.absent).collect()
    }

    fn run(&mut self, scenario: &Scenario, resolved: &Resolved) {
        self.add("name", &*resolved.name, Origin::Default);
        // A scenario that says no name got that of its file when it was read.
        self.unsaid.entry("name".to_owned()).or_insert_with(|| Origin::derived("the file's name"));
        let (from, moves) = match &scenario.movement {
            Some(Movement::Ns2 { path, .. }) => (path.display().to_string(), "the files of ns-2"),
            Some(Movement::Bonnmotion { path, .. }) => (path.display().to_string(), "the file of BonnMotion"),
            _ => ("movement".to_owned(), "traffic"),
        };
        self.add("duration_s", resolved.duration.as_secs_f64(), Origin::derived(moves));
        self.add("nodes.count", resolved.tracks.len() as i64, Origin::derived(from));
        if scenario.movement.as_ref().and_then(Movement::speed_factor).is_some() {
            self.add("movement.speed_factor", 1.0, Origin::Default);
        }
        for (axis, size) in ["x_m", "y_m", "z_m"].iter().zip(resolved.area) {
            self.add(&format!("area.{axis}"), size, Origin::derived("movement"));
        }
    }

    fn traffic(&mut self, scenario: &Scenario, resolved: &Resolved) -> Result<()> {
        for (k, traffic) in scenario.traffic.iter().enumerate() {
            let run = RunContext {
                key: format!("traffic[{k}]"),
                doc: &scenario.document,
                tcp_padding: scenario.protocol.tcp_padding(),
                end_s: resolved.duration.as_secs_f64(),
            };
            for (field, value, origin) in traffic.kind().unsaid(&run)? {
                self.add(&format!("traffic.{k}.{field}"), value, origin);
            }
        }
        Ok(())
    }

    fn radio(&mut self, section: &str, said: &Radio, plan: &RadioPlan) -> Result<(), toml::ser::Error> {
        self.add(&format!("{section}.name"), &*plan.name, Origin::Default);
        let without_site =
            |config: &RadioConfig| Table::try_from(RadioConfig { site: None, ..config.clone() });
        let preset = RadioConfig::preset(&plan.preset).map(|p| without_site(&p)).transpose()?;
        for (field, value) in without_site(&plan.config)? {
            let origin = match preset.as_ref().and_then(|p| p.get(&field)) {
                _ if field == "frequency_mhz" && said.channel.is_some() => Origin::derived("channel"),
                Some(v) if *v == value => Origin::Preset(plan.preset.clone()),
                _ => Origin::derived("protocol.profile"),
            };
            self.add(&format!("{section}.{field}"), value, origin);
        }
        let ranges = [
            ("range_m", plan.config.nominal_range_m(), "receive_threshold_dbm"),
            ("carrier_sense_range_m", plan.config.carrier_sense_range_m(), "carrier_sense_threshold_dbm"),
        ];
        for (field, metres, threshold) in ranges {
            let from = Origin::derived(format!("tx_power_dbm, path_loss, {threshold}"));
            self.add(&format!("{section}.{field}"), metres, from);
        }
        Ok(())
    }

    /// The keys of a node's own card, which replace those of its radio.
    fn card(&mut self, section: &str, preset: &str) -> Result<(), toml::ser::Error> {
        let Some(config) = RadioConfig::preset(preset) else { return Ok(()) };
        let table = Table::try_from(config)?;
        for (field, value) in table.into_iter().filter(|(field, _)| field.starts_with("card_")) {
            self.add(&format!("{section}.{field}"), value, Origin::derived("card"));
        }
        Ok(())
    }

    fn protocol(&mut self, scenario: &Scenario, resolved: &Resolved) -> Result<(), toml::ser::Error> {
        let description = resolved.protocol.description();
        let name = scenario.protocol.profile();
        if !description.profiles.is_empty() {
            self.add("protocol.profile", name, Origin::Default);
        }
        let profile = (description.profile)(name).unwrap_or_default();
        let values = resolved.protocol.values();
        for (key, value) in overrides::to_toml(&values)? {
            let is_of_profile = profile.get(&key) == values.get(&key);
            let origin = if is_of_profile {
                Origin::Profile(name.to_owned())
            } else {
                Origin::derived("traffic.route_failure")
            };
            self.add(&format!("protocol.{key}"), value, origin);
        }
        for (key, _) in values.iter().filter(|(_, v)| v.is_null()) {
            let origin = Origin::Profile(name.to_owned());
            self.absent.push(InForce { key: format!("protocol.{key}"), value: None, origin });
        }
        if resolved.outages.is_empty() {
            return Ok(());
        }
        let after: serde_json::Map<String, Json> = resolved.protocol_after_reboot.values();
        let differs = after.into_iter().filter(|(key, v)| values.get(key) != Some(v)).collect();
        for (key, value) in overrides::to_toml(&differs)? {
            self.add(&format!("protocol_after_reboot.{key}"), value, Origin::derived("outages"));
        }
        Ok(())
    }

    fn limits(&mut self, scenario: &Scenario, limits: Limits) {
        let profile = || Origin::Profile(scenario.protocol.profile().to_owned());
        let usual = scenario.protocol.limits() == Limits::STANDARD;
        let values = [
            ("routing_per_neighbour", limits.routing_per_neighbour),
            ("routing_total", limits.routing_total),
            ("arp_per_neighbour", limits.arp_per_neighbour),
        ];
        for (key, value) in values {
            let origin = if usual { Origin::Default } else { profile() };
            self.add(&format!("limits.{key}"), i64::from(value), origin);
        }
    }

    fn energy(&mut self, scenario: &Scenario) {
        let draw = [
            ("tx_w", DRAW.tx_watts),
            ("rx_w", DRAW.rx_watts),
            ("idle_w", DRAW.idle_watts),
            ("sleep_w", DRAW.sleep_watts),
        ];
        let of_all = self.table.get("energy").and_then(Value::as_table).cloned().unwrap_or_default();
        if scenario.energy.is_some() {
            for (field, watts) in draw {
                self.add(&format!("energy.{field}"), watts, Origin::Default);
            }
        }
        for (k, _) in scenario.nodes.single.iter().enumerate().filter(|(_, node)| node.energy.is_some()) {
            let key = |field: &str| format!("nodes.node.{k}.energy.{field}");
            for (field, watts) in draw {
                let value = of_all.get(field).cloned();
                let origin = if value.is_some() { Origin::derived("energy") } else { Origin::Default };
                self.add(&key(field), value.unwrap_or(watts.into()), origin);
            }
            if let Some(joules) = of_all.get("initial_j") {
                self.add(&key("initial_j"), joules.clone(), Origin::derived("energy"));
            }
        }
    }
}

/// The table that the parts of a key lead to. Tables on the way are made, elements of lists are not.
fn below<'a>(table: &'a mut Table, way: &[&str]) -> Option<&'a mut Table> {
    let Some((part, way)) = way.split_first() else { return Some(table) };
    match table.entry(*part).or_insert_with(|| Table::new().into()) {
        Value::Table(next) => below(next, way),
        Value::Array(list) => {
            let (i, way) = way.split_first()?;
            below(list.get_mut(i.parse::<usize>().ok()?)?.as_table_mut()?, way)
        }
        _ => None,
    }
}
