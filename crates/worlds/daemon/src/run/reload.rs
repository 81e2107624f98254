//! SIGHUP: reads the configuration again, and applies the changes that are possible at run time.

use serde_json::{Map, Value};

use crate::config::plan::MtuPlan;
use crate::config::settings::Settings;
use crate::run::rooms::Rooms;

/// Reads the configuration again. `settings` become what the node runs with.
pub(crate) fn reload(rooms: &mut Rooms, settings: &mut Settings) {
    let log = rooms.log.clone();
    if let Err(e) = log.reopen() {
        log.warning(format_args!("cannot reopen the log: {e}"));
    }
    let Some((path, overrides)) = settings.source.clone() else { return };
    let new = match Settings::load(Some(&path), &overrides) {
        Ok(new) => new,
        Err(e) => {
            log.warning(format_args!("configuration not reloaded: {e}"));
            return;
        }
    };
    log.info(format_args!("reloaded {}", path.display()));
    for key in refused(settings, &new) {
        log.warning(format_args!("{key} cannot change at run time; restart the node"));
    }
    if new.config.log != settings.config.log {
        log.set_level(new.config.log);
        settings.config.log = new.config.log;
    }
    rooms.host.limit(new.limits());
    settings.config.limits.clone_from(&new.config.limits);
    change_keys(rooms, settings, &new, &log);
    if new.config.monitor != settings.config.monitor {
        match rooms.record.telemetry.set_monitor(new.config.monitor.as_ref(), settings.address) {
            Ok(()) => settings.config.monitor.clone_from(&new.config.monitor),
            Err(e) => log.warning(e),
        }
    }
    change_parameters(rooms, settings, new);
}

/// Takes other keys. What is known of neighbours stays; a node without keys gets none while it runs, and one with keys keeps some.
fn change_keys(rooms: &mut Rooms, settings: &mut Settings, new: &Settings, log: &crate::log::Log) {
    if settings.keys.is_some() != new.keys.is_some() {
        let text = "authentication cannot be enabled or disabled by a reload; restart the node";
        return log.warning(text);
    }
    let (Some(auth), Some(keys)) = (rooms.host.node.auth_mut(), &new.keys) else { return };
    auth.set_keys(keys.clone());
    let ids: Vec<String> = keys.ids().map(|id| id.to_string()).collect();
    log.info(format_args!("the node signs with key {}, and has the keys {}", ids[0], ids.join(", ")));
    settings.config.security.clone_from(&new.config.security);
    settings.keys.clone_from(&new.keys);
}

/// What is another in the new settings, and cannot become so: keys of the configuration.
fn refused(old: &Settings, new: &Settings) -> Vec<String> {
    let table = |s: &Settings| {
        let mut t = toml::Table::try_from(&s.config).unwrap_or_default();
        for live in ["log", "monitor", "protocol", "limits", "security"] {
            t.remove(live);
        }
        t
    };
    let (a, b) = (table(old), table(new));
    let mut keys: Vec<String> =
        a.keys().chain(b.keys()).filter(|k| a.get(*k) != b.get(*k)).cloned().collect();
    keys.sort();
    keys.dedup();
    let (p, q) = (&old.protocol, &new.protocol);
    for (key, differs) in [("name", p.name() != q.name()), ("profile", p.profile() != q.profile())] {
        if differs {
            keys.push(format!("protocol.{key}"));
        }
    }
    keys
}

/// One after the other, so that one that the protocol refuses does not keep the others from changing.
fn change_parameters(rooms: &mut Rooms, settings: &mut Settings, new: Settings) {
    let (old, now) = (&settings.protocol, &new.protocol);
    if (old.name(), old.profile()) != (now.name(), now.profile()) {
        return;
    }
    let (old, now) = (old.values(), now.values());
    let mut all = true;
    for (key, value) in now.iter().filter(|(k, v)| old.get(*k) != Some(*v)) {
        let change = Map::from_iter([(key.clone(), value.clone())]);
        match rooms.host.change_parameters(&change) {
            Ok(()) => rooms.log.info(format_args!("protocol.{key} = {}", shown(value))),
            Err(e) => {
                all = false;
                rooms.log.warning(format_args!("protocol.{key} is unchanged: {e}"));
            }
        }
    }
    if all {
        settings.protocol = new.protocol;
        settings.config.protocol = new.config.protocol;
        rooms.kernel.plan.mtu = MtuPlan::of(settings);
    }
}

fn shown(v: &Value) -> String {
    v.as_str().map_or_else(|| v.to_string(), str::to_owned)
}
