//! A protocol's description for everything outside its crate.
//!
//! Each protocol's crate fills in one [`Description`]; the crate `wayhop-protocols` lists them. Scenarios, hosts, traces and
//! commands take names, parameters, messages and needs from there.

use core::fmt;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{MessageFormat, NewForger, Protocol};

/// Everything that the outside needs to know of a protocol.
pub struct Description {
    /// Its name in scenarios, tables and file names: `dsr`.
    pub name: &'static str,
    /// Its name for people: `Dynamic Source Routing`.
    pub full_name: &'static str,
    /// Where it is specified: `RFC 4728`.
    pub specification: &'static str,
    /// Its named sets of parameters; the first is the default.
    pub profiles: &'static [Profile],
    /// The JSON schema of its parameters.
    pub schema: fn() -> Value,
    /// The parameters of a profile; `None` if there is no such profile.
    pub profile: fn(&str) -> Option<Map<String, Value>>,
    /// Reads a whole set of parameters. The error is serde's. It does not look at what values mean together:
    /// [`Parameters::check`] does.
    pub read: ReadParameters,
    /// Its messages.
    pub messages: MessageFormat,
    /// What it needs of the host.
    pub host: HostNeeds,
    /// How attackers forge its messages; `None` if it has none.
    pub forger: Option<NewForger>,
}

/// Makes parameters of values by key; refuses what is no value of its key.
pub type ReadParameters = fn(Map<String, Value>) -> Result<Arc<dyn Parameters>, String>;

/// A named set of parameters.
#[derive(Debug)]
pub struct Profile {
    /// Its name: `rfc`.
    pub name: &'static str,
    /// What it is: a noun phrase.
    pub about: &'static str,
    /// Whose rules the host around the protocol follows.
    pub host: HostRules,
}

impl Profile {
    /// By how much it makes the packets of a TCP of profile `ns2` longer than their headers make them, octets.
    pub fn tcp_padding(&self) -> u8 {
        match self.host {
            HostRules::Standard => 0,
            HostRules::Ns2 { tcp_padding } => tcp_padding,
        }
    }
}

/// The rules of a host for what no routing protocol decides.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HostRules {
    /// Those of real hosts (RFC 1122).
    Standard,
    /// Those of ns-2.35: its ARP, and the length of its TCP packets.
    Ns2 {
        /// Octets that the protocol adds to the packets of a TCP of profile `ns2` besides its own header.
        tcp_padding: u8,
    },
}

/// What a protocol needs of its host.
#[derive(Debug)]
pub struct HostNeeds {
    /// Octets that its headers add to most packets: the host makes room for them. The protocol refuses a packet that needs more, and
    /// says how long it may be.
    pub header_room: usize,
    /// The parameter, true or false, that has it tell senders of lost routes; set if a sender listens.
    pub failure_notices: Option<&'static str>,
    /// The parameter that is the MTU of the link in octets; set to that of the interface.
    pub mtu: Option<&'static str>,
    /// The parameter, true or false, that has it wait at its start until nobody uses what it said before; set when a node
    /// comes back without its tables.
    pub reboot_wait: Option<&'static str>,
    /// The parameter, a number of 32 bits, behind which the numbers of its messages begin; a real host sets it by its clock, so that a
    /// node that is started again goes on behind its earlier life.
    pub first_number: Option<&'static str>,
    /// What it needs on an interface that does not report lost packets.
    pub adapt: Adapt,
}

impl HostNeeds {
    /// Of a protocol that needs nothing of its host.
    pub const NONE: Self = Self {
        header_room: 0,
        failure_notices: None,
        mtu: None,
        reboot_wait: None,
        first_number: None,
        adapt: |_, _| Ok(Vec::new()),
    };
}

/// Fits parameters to an interface that does not report lost packets: gets the profile's name and the parameters that the
/// user chose, adds to these what else differs from the profile, and returns remarks for the user. It must not change what
/// the user chose, but refuse it if broken links would go unnoticed.
pub type Adapt = fn(&str, &mut Map<String, Value>) -> Result<Vec<String>, ParameterError>;

/// What is wrong with parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// Which one, if it is about one alone.
    pub key: Option<Cow<'static, str>>,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl ParameterError {
    /// Of values that do not fit together, or of a value that the problem names.
    pub fn of_values(problem: String) -> Self {
        Self {
            key: None,
            problem,
            remedy: "change that key, or remove it to use the profile's value".to_owned(),
        }
    }
}

/// The shared library that a protocol comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size, bytes.
    pub bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Its version, by its own account; empty for none.
    pub version: String,
}

/// The node and the run of an engine. A protocol must not decide by it: it is for the surroundings of foreign ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NodeContext {
    /// The seed of the run.
    pub seed: u64,
    /// Nodes in this process.
    pub nodes: u32,
    /// The node's number in the scenario.
    pub node: u32,
    /// Its interfaces, numbered from 0.
    pub interfaces: u8,
    /// Length of the prefix of the mesh's IPv4 addresses.
    pub prefix_len: u8,
}

impl Default for NodeContext {
    /// One node with one interface in 10.0.0.0/8.
    fn default() -> Self {
        Self { seed: 1, nodes: 1, node: 0, interfaces: 1, prefix_len: 8 }
    }
}

/// A set of parameters: what a protocol's `Params` are to everything outside of its crate.
pub trait Parameters: fmt::Debug + Send + Sync {
    /// One node's engine. All engines of a run share the parameters.
    fn engine(self: Arc<Self>) -> Box<dyn Protocol>;
    /// The same, for a protocol that wants to know where its engine is.
    fn engine_at(self: Arc<Self>, node: NodeContext) -> Box<dyn Protocol> {
        let _ = node;
        self.engine()
    }
    /// Whether an engine that starts again in the same circumstances has the same state: [`Protocol::start`].
    fn starts_again(&self) -> bool {
        true
    }
    /// All values by key.
    fn values(&self) -> Map<String, Value>;
    /// What values mean together.
    ///
    /// # Errors
    /// If a node could not work with them.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
    /// For parameters with which broken links go unnoticed on interfaces without acknowledgements:
    /// what to set, such as `protocol.hello = "always"`. `chosen` says which keys the user set.
    fn remedy_without_acknowledgements(&self, chosen: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let _ = chosen;
        None
    }
}

/// A protocol with its parameters: what a scenario or the configuration of a node says of routing. A clone shares the
/// parameters.
#[derive(Clone)]
pub struct Configured {
    description: &'static Description,
    profile: String,
    parameters: Arc<dyn Parameters>,
}

impl Configured {
    /// A protocol with these parameters, which stem from this profile.
    pub fn new(description: &'static Description, profile: &str, parameters: Arc<dyn Parameters>) -> Self {
        Self { description, profile: profile.to_owned(), parameters }
    }

    /// The protocol's name in scenarios.
    pub fn name(&self) -> &'static str {
        self.description.name
    }
    /// The protocol.
    pub fn description(&self) -> &'static Description {
        self.description
    }
    /// The profile's name.
    pub fn profile(&self) -> &str {
        &self.profile
    }
    /// The parameters.
    pub fn parameters(&self) -> &dyn Parameters {
        &*self.parameters
    }
    /// All values by key.
    pub fn values(&self) -> Map<String, Value> {
        self.parameters.values()
    }
    /// One node's engine.
    pub fn engine(&self) -> Box<dyn Protocol> {
        Arc::clone(&self.parameters).engine()
    }
    /// The engine of this node.
    pub fn engine_at(&self, node: NodeContext) -> Box<dyn Protocol> {
        Arc::clone(&self.parameters).engine_at(node)
    }

    /// The same with another value of one parameter.
    ///
    /// # Errors
    /// If it is no value of this parameter.
    pub fn with(&self, key: &str, value: Value) -> Result<Self, String> {
        let mut values = self.values();
        values.insert(key.to_owned(), value);
        let parameters = (self.description.read)(values)?;
        Ok(Self { parameters, ..self.clone() })
    }
}

impl PartialEq for Configured {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.profile == other.profile && self.values() == other.values()
    }
}

impl fmt::Debug for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configured")
            .field("description", &self.description)
            .field("profile", &self.profile)
            .field("parameters", &self.parameters)
            .finish()
    }
}

impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Description").field(&self.name).finish()
    }
}
