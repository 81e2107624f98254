//! Commands about links (`wayhop ctl link`) at a node with a macfilter.

use std::net::Ipv4Addr;

use serde_json::Value;
use wayhop_control::{ControlError, ErrorCode, LinkState, NodeRef, Request};
use wayhop_core::{DataPlane, Mac};

use crate::config::plan::OwnNames;
use crate::interfaces::macfilter::MacFilter;
use crate::node::host::Host;

fn refused(what: impl Into<String>, remedy: impl Into<String>) -> ControlError {
    ControlError::new(ErrorCode::Refused, what, remedy)
}

/// Carries out an order about links; `None` of another one.
pub(crate) fn outcome(
    request: &Request,
    host: &Host,
    macfilter: &mut MacFilter,
) -> Option<Result<Value, ControlError>> {
    let Request::SetLink { a, b, one_way, state, interface } = request else { return None };
    if macfilter.own.is_none() {
        return Some(Err(ControlError::unsupported(
            "links of a real mesh cannot be overridden",
            "start the node with a macfilter (--macfilter FILE) to change it",
        )));
    }
    Some(set(host, macfilter, (a, b, *one_way), *state, interface.as_deref()))
}

fn set(
    host: &Host,
    macfilter: &mut MacFilter,
    (a, b, one_way): (&NodeRef, &NodeRef, bool),
    state: LinkState,
    interface: Option<&str>,
) -> Result<Value, ControlError> {
    let hears = match state {
        LinkState::Up => Some(true),
        LinkState::Down => Some(false),
        LinkState::Model => None,
        LinkState::Loss(_) | LinkState::PathLoss(_) => {
            let what = "a macfilter can only pass or drop a node's frames";
            let remedy = "give up, down or model; loss and path-loss need an emulation";
            return Err(ControlError::unsupported(what, remedy));
        }
    };
    if interface.is_some() {
        let what = "a macfilter is the same on all interfaces";
        return Err(ControlError::unsupported(what, "remove --interface"));
    }
    let own = macfilter.own.as_ref();
    let is_self = |node: &NodeRef| own.is_some_and(|own| own.name(node));
    let other = match (is_self(a), is_self(b)) {
        (false, true) => a,
        (true, false) if !one_way => b,
        (true, false) => {
            let what = "a macfilter cannot drop what this node sends";
            return Err(refused(what, "run the command on the receiving node"));
        }
        _ => {
            let own = host.node.addr();
            return Err(refused("one end of the link must be this node", format!("give it as {own}")));
        }
    };
    let mac = link_address(macfilter, host, other)?;
    // The kernel's filter has room for those that the file names.
    if host.plane == DataPlane::Forwarding && !macfilter.cards.contains(&mac) {
        return Err(refused(
            format!(
                "the macfilter's file does not contain {mac}, which is needed because the kernel \
                     forwards packets"
            ),
            "use a file that contains it",
        ));
    }
    macfilter.tell(mac, hears);
    Ok(Value::Null)
}

impl OwnNames {
    /// Whether this node is meant.
    fn name(&self, node: &NodeRef) -> bool {
        match node {
            NodeRef::Number(n) => self.number == Some(*n),
            NodeRef::Name(name) => {
                *name == self.address.to_string()
                    || self.number.is_some_and(|n| *name == format!("mesh-{n}"))
                    || self.names.contains(name)
            }
        }
    }
}

/// The card of another node: by its link address, or by its IP address, if it is a neighbour or the file calls nodes as a lab does.
fn link_address(macfilter: &MacFilter, host: &Host, node: &NodeRef) -> Result<Mac, ControlError> {
    let NodeRef::Name(name) = node else {
        let what = "field nodes identify others by address";
        return Err(refused(what, "give the IP or link address, such as 10.0.0.3 or 02:00:0a:00:00:03"));
    };
    if let Ok(mac) = name.parse() {
        return Ok(mac);
    }
    let address = name.parse::<Ipv4Addr>().map_err(|_| {
        refused(
            format!("{name:?} is neither an IPv4 address nor a link address"),
            "give one such as 10.0.0.3 or 02:00:0a:00:00:03",
        )
    })?;
    let known = host.ifaces().find_map(|i| host.node.mac_of(i, address));
    let of_lab = Some(Mac::from_addr(address)).filter(|mac| macfilter.cards.contains(mac));
    known.or(of_lab).ok_or_else(|| {
        refused(
            format!("{name} is not a neighbour, and the macfilter's file does not contain its link address"),
            "give its link address, such as 3c:a9:f4:00:11:22",
        )
    })
}
