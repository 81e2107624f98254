//! A node's configuration: a TOML file, a scenario and the command line, checked, and the plan for
//! each part of the node.

pub(crate) mod gateway;
pub(crate) mod interface_name;
pub(crate) mod ipv6;
mod keyless;
pub(crate) mod macfilter;
pub(crate) mod monitor;
pub(crate) mod node_config;
pub(crate) mod number;
pub(crate) mod plan;
pub(crate) mod reference;
mod scenario;
pub(crate) mod settings;
pub(crate) mod signal;
