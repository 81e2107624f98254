//! From the section `[protocol]` to a protocol with its parameters.

use serde_json::Value;
use toml::Table;
use wayhop_core::{Configured, Description, HostRules, Limits, ParameterError, Profile, nearest};
use wayhop_document::{Document, Error, Result, unknown_name};
use wayhop_radio::Arp;

use super::Protocol;
use crate::interfaces::Interfaces;
use crate::presets::overrides;

impl Protocol {
    /// The profile's name: the one given, or else the protocol's first.
    pub fn profile(&self) -> &str {
        let first = || self.profiles().first().map_or("", |p| p.name);
        self.profile.as_deref().unwrap_or_else(first)
    }

    fn profiles(&self) -> &'static [Profile] {
        wayhop_protocols::find(&self.name).map_or(&[], |d| d.profiles)
    }

    /// The protocol's parameters: those of the profile, overridden by the section's own keys. `doc` is the text with
    /// the section. Fails if there is no such protocol, profile or key, or if a value or their combination is
    /// refused.
    pub fn resolve(&self, doc: &Document) -> Result<Configured> {
        let description = wayhop_protocols::find(&self.name)
            .ok_or_else(|| unknown_name(doc, "protocol.name", &self.name, wayhop_protocols::names()))?;
        let profile =
            (description.profile)(self.profile()).ok_or_else(|| self.unknown_profile(description, doc))?;
        let (schema, section) = ((description.schema)(), ("protocol", doc));
        let parameters = overrides::of_json(&profile, &schema, description.read, &self.overrides, section)?;
        parameters.check().map_err(|e| self.error(doc, e))?;
        Ok(Configured::new(description, self.profile(), parameters))
    }

    /// Adds what the protocol needs on an interface that does not report lost packets. Returns remarks for the user.
    /// Fails if what is configured would leave broken links unnoticed.
    pub fn adapt(&mut self, doc: &Document) -> Result<Vec<String>> {
        let Some(description) = wayhop_protocols::find(&self.name) else {
            // The resolution names it.
            return Ok(Vec::new());
        };
        let bug = |e: String| doc.error("protocol", e, "report this as a bug");
        let mut chosen = overrides::to_json(&self.overrides).map_err(|e| bug(e.to_string()))?;
        let remarks =
            (description.host.adapt)(self.profile(), &mut chosen).map_err(|e| self.error(doc, e))?;
        for (key, value) in overrides::to_toml(&chosen).map_err(|e| bug(e.to_string()))? {
            self.overrides.entry(key).or_insert(value);
        }
        Ok(remarks)
    }

    /// The section that says the same with every parameter. Fails if a value cannot be written as TOML.
    pub fn complete(protocol: &Configured) -> Result<Self, toml::ser::Error> {
        let library = wayhop_protocols::library(protocol.description());
        Ok(Self {
            name: protocol.name().to_owned(),
            library: library.map(|file| file.path.to_string_lossy().into_owned()),
            profile: Some(protocol.profile().to_owned()),
            overrides: overrides::to_toml(&protocol.values())?,
        })
    }

    /// The same section without the parameters that the profile has anyway.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let profile = Self { overrides: Table::new(), ..self.clone() };
        let usual = profile.resolve(&Document::default()).ok().and_then(|p| Self::complete(&p).ok());
        if let Some(usual) = usual {
            self.overrides.retain(|key, value| usual.overrides.get(key) != Some(value));
        }
        self
    }

    /// By how many octets a TCP of profile `ns2` makes its packets longer than its headers make them, as ns-2 does with this
    /// protocol and profile.
    pub(crate) fn tcp_padding(&self) -> u8 {
        self.chosen_profile().map_or(0, Profile::tcp_padding)
    }

    /// How the hosts of this profile find link addresses where a radio's preset has ARP.
    pub(crate) fn arp(&self) -> Arp {
        if self.has_hosts_of_ns2() { Arp::HoldOne } else { Arp::Host }
    }

    /// The default limits of hosts with this profile.
    pub fn limits(&self) -> Limits {
        if self.has_hosts_of_ns2() { Limits::NONE } else { Limits::STANDARD }
    }

    fn has_hosts_of_ns2(&self) -> bool {
        matches!(self.chosen_profile(), Some(Profile { host: HostRules::Ns2 { .. }, .. }))
    }

    fn chosen_profile(&self) -> Option<&'static Profile> {
        self.profiles().iter().find(|p| p.name == self.profile())
    }

    /// A profile that this protocol does not have, though another one may.
    fn unknown_profile(&self, of: &Description, doc: &Document) -> Error {
        let name = self.profile();
        let has = |d: &&Description| d.profiles.iter().any(|p| p.name.eq_ignore_ascii_case(name));
        let others: Vec<&str> = wayhop_protocols::ALL.iter().filter(|d| has(d)).map(|d| d.name).collect();
        let own: Vec<&str> = of.profiles.iter().map(|p| p.name).collect();
        let whose = match others[..] {
            [] => "not a profile of any protocol".to_owned(),
            _ if others.contains(&of.name) => "not a profile".to_owned(),
            _ => format!("a profile of {}, not of {}", others.join(" and "), of.name),
        };
        let list = format!("{} has {}", of.name, own.join(", "));
        let remedy = match nearest(name, own.iter().copied())
            .filter(|_| others.is_empty() || others.contains(&of.name))
        {
            Some(meant) => format!("did you mean `{meant}`? ({list})"),
            None if own.is_empty() => format!("remove it: {} has no profiles", of.name),
            None => format!("choose one of its own ({list})"),
        };
        doc.error("protocol.profile", format!("{name:?} is {whose}"), remedy)
    }

    /// About one key or, if the protocol names none, the first of this section that it speaks of.
    fn error(&self, doc: &Document, e: ParameterError) -> Error {
        let spoken_of = || self.overrides.keys().find(|k| e.problem.contains(*k));
        let named = e.key.as_deref().or_else(|| spoken_of().map(String::as_str));
        let key = named.map_or_else(|| "protocol".to_owned(), |k| format!("protocol.{k}"));
        doc.error(&key, e.problem, e.remedy)
    }
}

/// The protocol, with notices of lost routes to senders enabled unless the section decides otherwise.
pub(crate) fn with_notices(protocol: &Configured, section: &Protocol) -> Configured {
    enabled(protocol, protocol.description().host.failure_notices, section)
}

/// The protocol of a node that reboots without its tables: it waits as its specification requires, unless the section
/// decides otherwise.
pub fn after_reboot(protocol: &Configured, section: &Protocol) -> Configured {
    enabled(protocol, protocol.description().host.reboot_wait, section)
}

fn enabled(protocol: &Configured, key: Option<&str>, section: &Protocol) -> Configured {
    let key = key.filter(|key| !section.overrides.contains_key(*key));
    key.and_then(|key| protocol.with(key, Value::Bool(true)).ok()).unwrap_or_else(|| protocol.clone())
}

/// A protocol that detects broken links by acknowledgements, over a radio that has none.
pub(crate) fn unnoticed_breaks(
    protocol: &Configured,
    section: &Protocol,
    interfaces: &Interfaces,
) -> Option<String> {
    if interfaces.radios.iter().all(|r| r.config.acknowledge) {
        return None;
    }
    let chosen = |key: &str| section.overrides.contains_key(key);
    let remedy = protocol.parameters().remedy_without_acknowledgements(&chosen)?;
    Some(format!(
        "this radio does not acknowledge frames, and {} cannot detect broken links in any other way and keeps using them; set {remedy}",
        protocol.name()
    ))
}
