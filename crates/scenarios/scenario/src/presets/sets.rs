//! The named sets of values: radio presets, profiles of protocols, profiles of TCP.

use std::fmt::Write as _;

use schemars::schema_for;
use serde::Deserialize as _;
use serde_json::Value as Json;
use toml::{Table, Value};
use wayhop_core::{Description, Profile};
use wayhop_radio::{Arp, PRESETS, RadioConfig};

use crate::presets::overrides;
use crate::traffic::tcp;
use crate::traffic::tcp::Tcp;

/// A named set of values for use in a scenario.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Its name, such as `80211g`; profiles have a prefix: `dsr/ns2`, `tcp/ns2`.
    pub name: String,
    /// What it applies to: `radio`, the protocol's name, or `tcp`.
    pub of: &'static str,
    /// A description, one line.
    pub about: String,
    /// The keys that select it, and their table.
    heading: String,
    values: Vec<PresetValue>,
}

#[derive(Clone, Debug)]
struct PresetValue {
    key: String,
    /// None for a parameter that is off.
    value: Option<Value>,
    /// What the key means, with its unit.
    meaning: String,
    /// Why the value is left open: setting it would keep a run from giving the key another value.
    open: Option<&'static str>,
}

/// All of them: radios, then protocols, then TCP.
pub fn presets() -> Vec<Preset> {
    let radios = PRESETS.iter().filter_map(|(name, about)| radio(name, about));
    let profiles = wayhop_protocols::ALL.iter().flat_map(|d| d.profiles.iter().filter_map(|p| profile(d, p)));
    let tcp = [("rfc", "TCP as in the RFCs"), ("ns2", "TCP as in ns-2.35")];
    radios.chain(profiles).chain(tcp.iter().filter_map(|(name, about)| tcp_profile(name, about))).collect()
}

impl Preset {
    /// All values by key.
    pub fn values(&self) -> impl Iterator<Item = (&str, Option<&Value>)> {
        self.values.iter().map(|e| (&*e.key, e.value.as_ref()))
    }

    /// The preset with all its values, for pasting into a scenario. A value that depends on the rest of a scenario is
    /// a comment.
    pub fn toml(&self) -> String {
        let line = |e: &PresetValue| match (&e.value, e.open) {
            (None, _) => format!("# {}: none", e.key),
            (Some(value), Some(_)) => format!("# {} = {value}", e.key),
            (Some(value), None) => format!("{} = {value}", e.key),
        };
        let width = self.values.iter().map(|e| line(e).len()).max().unwrap_or(0);
        let mut text = format!("# {}: {}\n{}", self.name, self.about, self.heading);
        for e in &self.values {
            let open = e.open.map(|why| format!(" Left open: {why}.")).unwrap_or_default();
            _ = writeln!(text, "{:width$}  # {}{open}", line(e), e.meaning);
        }
        text
    }
}

fn radio(name: &'static str, about: &str) -> Option<Preset> {
    let config = RadioConfig::preset(name)?;
    let why = "`hold-one` with the profile ns2 of a protocol";
    let open = |key: &str| (key == "arp" && config.arp == Arp::Host).then_some(why);
    let schema = schema_for!(RadioConfig).to_value();
    Some(Preset {
        name: name.to_owned(),
        of: "radio",
        about: about.to_owned(),
        heading: format!("[radio]\npreset = \"{name}\"\n"),
        values: entries(Table::try_from(&config).ok()?, &schema, open),
    })
}

fn profile(of: &'static Description, profile: &Profile) -> Option<Preset> {
    let parameters = (of.profile)(profile.name)?;
    let needs = &of.host;
    let open = |key: &str| {
        let because = [
            (needs.failure_notices, "true if a TCP flow reacts to lost routes"),
            (needs.reboot_wait, "true in a node that reboots without its tables"),
            (needs.first_number, "set from the clock on a real host"),
            (needs.mtu, "the interface's MTU on a real one"),
        ];
        because.into_iter().find(|(k, _)| *k == Some(key)).map(|(_, why)| why)
    };
    let mut values = entries(overrides::to_toml(&parameters).ok()?, &(of.schema)(), open);
    for (key, _) in parameters.iter().filter(|(_, v)| v.is_null()) {
        let meaning = meaning(&(of.schema)(), key);
        values.push(PresetValue { key: key.clone(), value: None, meaning, open: None });
    }
    values.sort_by(|a, b| a.key.cmp(&b.key));
    Some(Preset {
        name: format!("{}/{}", of.name, profile.name),
        of: of.name,
        about: format!("{}: {}", of.full_name, profile.about),
        heading: format!("[protocol]\nname = \"{}\"\nprofile = \"{}\"\n", of.name, profile.name),
        values,
    })
}

fn tcp_profile(name: &str, about: &str) -> Option<Preset> {
    let heading = format!("kind = \"tcp\"\nsrc = 0\ndst = 1\nprofile = \"{name}\"\n");
    let mut entry: Table = toml::from_str(&heading).ok()?;
    entry.remove("kind");
    let entry = Tcp::deserialize(entry).ok()?;
    let config = tcp::resolve(&entry, "traffic", &wayhop_document::Document::default(), 0).ok()?;
    let rows = tcp::values(&entry, &config);
    let table = rows.into_iter().map(|(key, value, _)| (key.to_owned(), value)).collect();
    let open = |key: &str| (key == "padding_bytes").then_some("20 with the profile ns2 of some protocols");
    Some(Preset {
        name: format!("tcp/{name}"),
        of: "tcp",
        about: about.to_owned(),
        heading: format!("[[traffic]]\n{heading}"),
        values: entries(table, &schema_for!(Tcp).to_value(), open),
    })
}

fn entries(table: Table, schema: &Json, open: impl Fn(&str) -> Option<&'static str>) -> Vec<PresetValue> {
    let entry = |(key, value): (String, Value)| PresetValue {
        meaning: meaning(schema, &key),
        open: open(&key),
        key,
        value: Some(value),
    };
    table.into_iter().map(entry).collect()
}

/// The first sentence of a key's description, in one line.
fn meaning(schema: &Json, key: &str) -> String {
    let described = schema.pointer(&format!("/properties/{key}/description")).and_then(Json::as_str);
    let text = described.unwrap_or_default().replace('\n', " ");
    // An ellipsis ends nothing.
    let end = text.match_indices(". ").find(|(i, _)| !text[..*i].ends_with('.'));
    let end = end.map_or(text.len(), |(i, _)| i + 1);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Resolved, Scenario};

    fn resolved(sections: &str) -> Resolved {
        let chain = "duration_s = 5\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 200 }\n";
        let scenario =
            Scenario::from_text(&format!("{chain}{sections}"), &[]).unwrap_or_else(|e| panic!("{e}"));
        scenario.resolve().unwrap_or_else(|e| panic!("{e}\n{sections}"))
    }

    #[test]
    fn a_radio_preset_that_is_pasted_is_the_preset_by_its_name() {
        for ns2 in ["", "[protocol]\nprofile = \"ns2\"\n"] {
            for (name, _) in PRESETS {
                let preset = presets().into_iter().find(|p| p.name == *name).unwrap();
                let by_name = resolved(&format!("{ns2}[radio]\npreset = \"{name}\"\n"));
                let pasted = resolved(&format!("{ns2}{}", preset.toml()));
                assert_eq!(pasted.interfaces, by_name.interfaces, "{name}");
                // Without the name of the preset the values are all that there is.
                let values = preset.toml().replace(&format!("preset = \"{name}\"\n"), "");
                let values = resolved(&format!("{ns2}{values}"));
                assert_eq!(values.radio(), by_name.radio(), "{name}");
            }
        }
    }

    #[test]
    fn a_profile_that_is_pasted_is_the_profile_by_its_name() {
        let mut profiles = 0;
        for d in wayhop_protocols::ALL {
            for p in d.profiles {
                let preset =
                    presets().into_iter().find(|q| q.name == format!("{}/{}", d.name, p.name)).unwrap();
                let heading = format!("[protocol]\nname = \"{}\"\nprofile = \"{}\"\n", d.name, p.name);
                let down = "[[outages]]\nnode = 1\nstart_s = 1\nlength_s = 1\n";
                let tcp = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\nroute_failure = \"elfn\"\n";
                for rest in ["", down, tcp] {
                    let by_name = resolved(&format!("{heading}{rest}"));
                    let pasted = resolved(&format!("{}{rest}", preset.toml()));
                    assert_eq!(pasted.protocol, by_name.protocol, "{}", preset.name);
                    assert_eq!(pasted.protocol_after_reboot, by_name.protocol_after_reboot);
                }
                profiles += 1;
            }
        }
        assert!(profiles > 5);
    }

    #[test]
    fn a_tcp_profile_that_is_pasted_is_the_profile_by_its_name() {
        for name in ["rfc", "ns2"] {
            for protocol in ["", "[protocol]\nname = \"dsr\"\nprofile = \"ns2\"\n"] {
                let preset = presets().into_iter().find(|p| p.name == format!("tcp/{name}")).unwrap();
                let short = format!(
                    "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nprofile = \"{name}\"\n{protocol}"
                );
                let pasted = resolved(&format!("{}{protocol}", preset.toml()));
                assert_eq!(pasted.flows, resolved(&short).flows, "{name}");
            }
        }
    }

    #[test]
    fn every_value_has_a_meaning_and_names_are_unique() {
        let all = presets();
        for p in &all {
            assert_eq!(all.iter().filter(|q| q.name == p.name).count(), 1, "{}", p.name);
            for e in &p.values {
                assert!(!e.meaning.is_empty(), "{}: {}", p.name, e.key);
            }
        }
    }
}
