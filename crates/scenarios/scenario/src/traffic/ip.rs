//! Which version of IP flows and routes have, and whether they can have it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{Configured, Route};
use wayhop_document::{Document, Result};
use wayhop_transport::FlowConfig;

/// The version of IP: 4 or 6.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8")]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl TryFrom<u8> for IpVersion {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            other => Err(format!("there is no IP version {other}; give 4 or 6")),
        }
    }
}

impl From<IpVersion> for u8 {
    fn from(version: IpVersion) -> Self {
        match version {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

impl IpVersion {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::V4
    }
}

pub(crate) fn check_flow(flow: &FlowConfig, has_ipv6: bool, key: &str, doc: &Document) -> Result<()> {
    if !flow.ip6 {
        return Ok(());
    }
    if !has_ipv6 {
        let remedy = "add nodes.ipv6 = true, or remove the key";
        return Err(doc.error(key, "this is an IPv6 flow, but the nodes have no IPv6 addresses", remedy));
    }
    if flow.is_to_all() {
        let remedy = "name one node, or remove the key";
        return Err(doc.error(key, "IPv6 flows to all nodes are not supported", remedy));
    }
    Ok(())
}

/// IPv6 flows with a protocol that does not route IPv6, and without static routes for it.
pub(crate) fn neighbours_only(
    flows: &[FlowConfig],
    protocol: &Configured,
    routes: impl IntoIterator<Item = Route>,
) -> Option<String> {
    let any = flows.iter().any(|f| f.ip6);
    if !any || protocol.engine().interests().ipv6 || routes.into_iter().any(|r| !r.destination.addr.is_v4()) {
        return None;
    }
    Some(format!(
        "protocol {:?} does not route IPv6, and there are no static IPv6 routes: IPv6 flows reach only neighbours",
        protocol.name()
    ))
}
