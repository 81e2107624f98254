//! The first line of a log: its engine, and how it was created.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wayhop_core::{
    ApplicationDescription, Configured, ConfiguredApplication, Description, Mac, NodeContext, NodeId,
};

/// What the first line says of the format.
pub const FORMAT: &str = "wayhop-inputs";
/// The version of the format that this library writes and reads.
pub const VERSION: u32 = 1;

/// The first line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of Wayhop that wrote it.
    pub wayhop: String,
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// `sim`, `emulation` or `field`; the daemons of a lab are in the field.
    pub world: String,
    /// The scenario's name; empty where there is none.
    pub scenario: String,
    /// The protocol's name.
    pub protocol: String,
    /// The profile that the parameters stem from.
    pub profile: String,
    /// All parameters.
    pub parameters: Map<String, Value>,
    /// All parameters of an engine that begins after a reboot, if they are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters_after_reboot: Option<Map<String, Value>>,
    /// The run's seed.
    pub seed: u64,
    /// The node's number in its scenario; `None` for a daemon, which knows no others.
    pub node: Option<u32>,
    /// The node's name.
    pub name: String,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its IPv6 address, if it has one.
    #[serde(default)]
    pub address6: Option<Ipv6Addr>,
    /// Which of the node's engines, from 0.
    pub engine: u8,
    /// The node's interfaces, in order.
    pub interfaces: Vec<RecordedLink>,
    /// Length of the prefix of the mesh's IPv4 addresses, if it is not the usual one: engines of libraries learn it.
    #[serde(default = "usual_prefix_len", skip_serializing_if = "is_usual_prefix_len")]
    pub prefix_len: u8,
    /// Which application's log it is; `None` of an engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationHeader>,
}

fn usual_prefix_len() -> u8 {
    NodeContext::default().prefix_len
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_usual_prefix_len(len: &u8) -> bool {
    *len == usual_prefix_len()
}

/// An application whose log it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApplicationHeader {
    /// Its name.
    pub name: String,
    /// Its number among the scenario's applications.
    pub number: u32,
    /// All parameters.
    pub parameters: Map<String, Value>,
}

impl ApplicationHeader {
    /// Of this application.
    pub fn new(number: u32, application: &ConfiguredApplication) -> Self {
        let (name, parameters) = (application.description.name.to_owned(), application.parameters.values());
        Self { name, number, parameters }
    }

    /// The application, with the log's parameters.
    ///
    /// # Errors
    /// If the application refuses them: what is wrong.
    pub fn application(
        &self,
        description: &'static ApplicationDescription,
    ) -> Result<ConfiguredApplication, String> {
        let mut values = (description.defaults)();
        values.extend(self.parameters.clone());
        let parameters =
            (description.read)(values).map_err(|e| format!("not parameters of {}: {e}", description.name))?;
        parameters.check().map_err(|e| format!("{}; {}", e.problem, e.remedy))?;
        Ok(ConfiguredApplication { description, parameters })
    }
}

/// One interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLink {
    /// Its link address.
    pub mac: String,
}

impl RecordedLink {
    /// The interface with this link address.
    pub fn new(mac: Mac) -> Self {
        Self { mac: mac.to_string() }
    }
}

impl Header {
    /// The header of the first engine of a node with one interface.
    pub fn new(world: &str, scenario: &str, protocol: &Configured, seed: u64) -> Self {
        Self {
            world: world.to_owned(),
            scenario: scenario.to_owned(),
            protocol: protocol.name().to_owned(),
            profile: protocol.profile().to_owned(),
            parameters: protocol.values(),
            seed,
            ..Self::nobody()
        }
    }

    /// The name of the protocol or the application.
    pub fn engine_name(&self) -> &str {
        self.application.as_ref().map_or(&self.protocol, |a| &a.name)
    }

    /// What the log is of, for people: the protocol with its profile, or the application.
    pub fn subject(&self) -> String {
        match &self.application {
            Some(application) => application.name.clone(),
            None => format!("{} ({})", self.protocol, self.profile),
        }
    }

    /// An empty header in this version of the format.
    pub(crate) fn nobody() -> Self {
        Self {
            wayhop: wayhop_core::version::full().to_owned(),
            format: FORMAT.to_owned(),
            version: VERSION,
            world: String::new(),
            scenario: String::new(),
            protocol: String::new(),
            profile: String::new(),
            parameters: Map::new(),
            parameters_after_reboot: None,
            seed: 0,
            node: None,
            name: String::new(),
            address: Ipv4Addr::UNSPECIFIED,
            address6: None,
            engine: 0,
            interfaces: Vec::new(),
            prefix_len: usual_prefix_len(),
            application: None,
        }
    }

    /// Where the engine is, as it was told. In a replay no other node is in the process.
    pub fn context(&self) -> NodeContext {
        let of_address = || NodeId::from_default_addr(self.address).map(|n| n.0);
        NodeContext {
            seed: self.seed,
            nodes: 1,
            node: self.node.or_else(of_address).unwrap_or(0),
            interfaces: u8::try_from(self.interfaces.len()).unwrap_or(u8::MAX).max(1),
            prefix_len: self.prefix_len,
        }
    }

    /// The same for one node of the run.
    #[must_use]
    pub fn of_node(
        &self,
        node: Option<u32>,
        name: &str,
        address: Ipv4Addr,
        interfaces: Vec<RecordedLink>,
    ) -> Self {
        Self { node, name: name.to_owned(), address, interfaces, ..self.clone() }
    }

    /// The header of an application on a real host with this address.
    pub fn of_application_at(addr: IpAddr, application: ApplicationHeader, seed: u64) -> Self {
        let (address, address6) = match addr {
            IpAddr::V4(v4) => (v4, None),
            IpAddr::V6(v6) => (Ipv4Addr::UNSPECIFIED, Some(v6)),
        };
        Self {
            world: "field".to_owned(),
            name: application.name.clone(),
            application: Some(application),
            address,
            address6,
            seed,
            ..Self::nobody()
        }
    }

    /// The same with other parameters after a reboot.
    #[must_use]
    pub fn rebooting_as(self, protocol: &Configured) -> Self {
        let values = Some(protocol.values()).filter(|values| *values != self.parameters);
        Self { parameters_after_reboot: values, ..self }
    }

    /// The engines, with the log's parameters. A parameter that the log does not have, because it is younger, has the
    /// profile's value.
    ///
    /// # Errors
    /// If the protocol refuses the parameters: what is wrong.
    pub fn engines(&self, description: &'static Description) -> Result<Engines, String> {
        let first = self.configured(description, &self.parameters)?;
        let after_reboot = match &self.parameters_after_reboot {
            Some(parameters) => self.configured(description, parameters)?,
            None => first.clone(),
        };
        Ok(Engines { first, after_reboot })
    }

    fn configured(
        &self,
        description: &'static Description,
        parameters: &Map<String, Value>,
    ) -> Result<Configured, String> {
        let first = || (description.profile)(description.profiles.first()?.name);
        let mut values = (description.profile)(&self.profile).or_else(first).unwrap_or_default();
        values.extend(parameters.clone());
        let parameters =
            (description.read)(values).map_err(|e| format!("not parameters of {}: {e}", description.name))?;
        let configured = Configured::new(description, &self.profile, parameters);
        check(&configured)?;
        Ok(configured)
    }
}

/// What the engines of a log are made of.
#[derive(Clone, Debug)]
pub struct Engines {
    /// The one that the log begins with.
    pub first: Configured,
    /// Those that begin after a reboot.
    pub after_reboot: Configured,
}

impl Engines {
    /// Whether both have the same set of parameters, not only the same values.
    pub(crate) fn share_parameters(&self) -> bool {
        core::ptr::addr_eq(self.first.parameters(), self.after_reboot.parameters())
    }
}

/// What values mean together.
///
/// # Errors
/// If a node could not work with them.
pub fn check(configured: &Configured) -> Result<(), String> {
    configured.parameters().check().map_err(|e| {
        let key = e.key.map_or_else(String::new, |k| format!("protocol.{k}: "));
        format!("{key}{}; {}", e.problem, e.remedy)
    })
}
