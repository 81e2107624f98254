//! Whether flows can use IPv6.

use wayhop_core::{Configured, Route};
use wayhop_document::{Document, Error};
use wayhop_transport::FlowConfig;

/// Refuses flows over IPv6 that cannot be.
pub(crate) fn check_flow(flow: &FlowConfig, has_ipv6: bool, key: &str, doc: &Document) -> Result<(), Error> {
    if !flow.ip6 {
        return Ok(());
    }
    if !has_ipv6 {
        return Err(doc.error(
            key,
            "a flow over IPv6, but the nodes have no IPv6 addresses",
            "add nodes.ipv6 = true, or leave the key out",
        ));
    }
    if flow.is_to_all() {
        return Err(doc.error(key, "a flow over IPv6 to all nodes", "name one node, or leave the key out"));
    }
    Ok(())
}

/// Flows over IPv6 with a protocol that does not route it and without static routes for it.
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
        "protocol {:?} does not route IPv6 and there are no static routes for it: flows over IPv6 reach neighbours only",
        protocol.name()
    ))
}
