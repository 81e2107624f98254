//! What a node is configured to be: a TOML file, a scenario and the command line, checked.

pub(crate) mod gateway;
pub(crate) mod interface_name;
pub(crate) mod ipv6;
pub(crate) mod keyless;
pub(crate) mod macfilter;
pub(crate) mod reference;
pub(crate) mod scenario;
pub(crate) mod settings;
