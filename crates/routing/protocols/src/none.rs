//! No routing: a node that reaches its neighbours, and others by static routes.
//!
//! As a host without a router on one link (RFC 1122, section 3.3.1.1), it treats every destination
//! without a route as a neighbour. It forwards others' packets by its static routes only.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::{
    Addr, Cx, DataPlane, Description, DropReason, HostNeeds, HostRules, Inspect, Interests, MessageFormat,
    Ns2Format, Packet, Parameters, Profile, Protocol, RxMeta, Time, TimerKey, TxReport, TxSpec,
};
use wayhop_wire::ipv4;

use crate::format::NO_MESSAGES;

/// No routing protocol.
pub(crate) static DESCRIPTION: Description = Description {
    name: "none",
    full_name: "No routing protocol",
    specification: "neighbours and static routes only",
    profiles: &[Profile { name: "rfc", about: "what hosts do (RFC 1122)", host: HostRules::Standard }],
    schema: || json!({ "type": "object", "properties": {} }),
    profile: |name| (name == "rfc").then(Map::new),
    read: |values| match values.keys().next() {
        None => Ok(Arc::new(NoParameters)),
        Some(key) => Err(format!("unknown field `{key}`, there are no parameters")),
    },
    messages: MessageFormat {
        classes: HOSTS,
        ns2: Ns2Format { tag: "none", tail: |_, _| {} },
        ..NO_MESSAGES
    },
    host: HostNeeds::NONE,
    forger: None,
};

/// What hosts without a routing protocol send besides data: messages of routing daemons that are not decoded
/// ([`crate::DAEMONS`] are), and what is neither IP nor ARP.
const HOSTS: &[&str] = &["ospf", "rip", "ethernet"];

#[derive(Debug)]
struct NoParameters;

impl Parameters for NoParameters {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        Box::new(Neighbours)
    }
    fn values(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// An engine that says and forwards nothing: of a node that takes no part.
pub fn silent() -> Box<dyn Protocol> {
    Box::new(Neighbours)
}

/// Sends what has no route to its destination itself.
struct Neighbours;

impl Protocol for Neighbours {
    fn data_plane(&self) -> DataPlane {
        DataPlane::Forwarding
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let (from, to) = (ip.src(), ip.dst());
        if from != cx.addr() {
            cx.drop(p, DropReason::NoRoute);
        } else if to.is_multicast() || to.is_broadcast() {
            cx.send(p, TxSpec::unicast(Addr::BROADCAST));
        } else {
            cx.send(p, TxSpec::unicast(to));
        }
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        cx.drop(p, DropReason::NoListener);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        if let Some(p) = report.packet {
            cx.drop(p, DropReason::MacRetries);
        }
    }
    fn on_timer(&mut self, _: &mut Cx<'_>, _: TimerKey) {}
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}
