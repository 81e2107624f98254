//! Whether flows can use IPv6.

use wayhop_core::{Configured, Route};
use wayhop_document::{Document, Error};
use wayhop_transport::FlowConfig;

/// Refuses IPv6 flows that are not possible.
pub(crate) fn check_flow(flow: &FlowConfig, has_ipv6: bool, key: &str, doc: &Document) -> Result<(), Error> {
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
