//! AODV as everything outside of this crate knows it.

mod decode;
mod forge;
pub(crate) mod messages;

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Carrier, Description, HostNeeds, HostRules, MessageFormat, Ns2Format, ParameterError, Parameters,
    Profile, Protocol, ends,
};
use wayhop_wire::aodv::{AUTHENTICATION, PORT};

use crate::Engine;
use crate::params::{Hello, Params};

/// Ad hoc On-Demand Distance Vector routing.
pub static DESCRIPTION: Description = Description {
    name: "aodv",
    full_name: "Ad hoc On-Demand Distance Vector routing",
    specification: "RFC 3561",
    profiles: &[
        Profile { name: "rfc", about: "RFC 3561", host: HostRules::Standard },
        Profile { name: "ns2", about: "what ns-2.35's AODV does", host: HostRules::Ns2 { tcp_padding: 0 } },
        Profile { name: "das", about: "the testbed of Desilva and Das (2000)", host: HostRules::Standard },
    ],
    schema: || schemars::schema_for!(Params).to_value(),
    profile: |name| Params::profile(name).map(|p| object(&p)),
    read: |values| Ok(Arc::new(of::<Params>(values)?)),
    messages: MessageFormat {
        carrier: Carrier::UdpPort(PORT),
        classes: messages::CLASSES,
        limited: messages::LIMITED,
        types: messages::TYPES,
        classify: messages::classify,
        decode: decode::decode,
        hop: ends,
        route_header: None,
        authentication: Some(&AUTHENTICATION),
        ns2: Ns2Format { tag: "AODV", tail: messages::ns2_tail },
    },
    host: HostNeeds {
        failure_notices: Some("failure_notices"),
        reboot_wait: Some("wait_after_reboot"),
        first_number: Some("first_number"),
        adapt,
        ..HostNeeds::NONE
    },
    forger: Some(|| Box::new(forge::Forger::default())),
};

impl Parameters for Params {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        Box::new(Engine::new(self))
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        Self::check(self).map_err(ParameterError::of_values)
    }
    fn remedy_without_acknowledgements(&self, _: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        (self.hello == Hello::Off && !self.passive_ack)
            .then_some("protocol.hello = \"while_active\" or protocol.passive_ack = true")
    }
}

/// The kernel forwards, and reports no losses: Hellos (RFC 3561, section 6.9) must be on.
fn adapt(profile: &str, chosen: &mut Map<String, Value>) -> Result<Vec<String>, ParameterError> {
    if chosen.get("hello").is_some_and(|v| v == "off") {
        return Err(ParameterError {
            key: Some("hello".into()),
            problem: "without Hellos no broken link is noticed where the kernel forwards".into(),
            remedy: "give \"while_active\" or \"always\", or remove it".into(),
        });
    }
    let Some(profile) = Params::profile(profile).filter(|p| p.hello == Hello::Off) else {
        return Ok(Vec::new());
    };
    let mut remarks = Vec::new();
    if !chosen.contains_key("hello") {
        chosen.insert("hello".into(), "while_active".into());
        remarks.push(
            "AODV sends Hellos while it has routes (protocol.hello = \"while_active\"): the kernel forwards, and does \
             not report losses"
                .into(),
        );
    }
    // RFC 3561, section 10: TTL_START is at least 2 with Hellos; ACTIVE_ROUTE_TIMEOUT is 3 s where no link layer reports
    // lost packets, and DELETE_PERIOD 5 times that.
    let number = |key: &str, or: i64| chosen.get(key).and_then(Value::as_i64).unwrap_or(or);
    // MY_ROUTE_TIMEOUT is twice ACTIVE_ROUTE_TIMEOUT, and at least twice PATH_DISCOVERY_TIME, 2 * NET_TRAVERSAL_TIME.
    let active = number("active_route_timeout_ms", 3_000);
    let longest = active.max(number("hello_interval_ms", 1_000));
    let per_hop = number("node_traversal_time_ms", profile.node_traversal_time_ms.cast_signed());
    let traversal =
        per_hop.saturating_mul(number("net_diameter", profile.net_diameter.into())).saturating_mul(2);
    for (key, value) in [
        ("ttl_start", 2),
        ("active_route_timeout_ms", active),
        ("my_route_timeout_ms", active.saturating_mul(2).max(traversal.saturating_mul(4))),
        ("delete_period_ms", longest.saturating_mul(5)),
    ] {
        chosen.entry(key).or_insert_with(|| value.into());
    }
    // On the air there are others: what the next hop reports broken is not used on, whatever numbers they forged.
    chosen.entry("rerr_number").or_insert_with(|| "any".into());
    Ok(remarks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RerrNumber;

    /// The parameters of the default profile with these of the user, for an interface that does not report losses.
    fn adapted(chosen: &[(&str, Value)]) -> Params {
        let mut chosen: Map<String, Value> =
            chosen.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        adapt("rfc", &mut chosen).unwrap();
        let mut values = object(&Params::rfc());
        values.extend(chosen);
        of(values).unwrap()
    }

    #[test]
    fn a_node_that_nobody_tells_of_losses_has_the_constants_that_section_10_gives_for_it() {
        let p = adapted(&[]);
        // ACTIVE_ROUTE_TIMEOUT, K times that, TTL_START with Hellos.
        assert_eq!((p.active_route_timeout_ms, p.delete_period_ms, p.ttl_start), (3_000, Some(15_000), 2));
        // Twice PATH_DISCOVERY_TIME: 2 * 2 * (2 * 40 ms * 35).
        assert_eq!(p.my_route_timeout_ms, 11_200);
        assert_eq!((p.hello, p.rerr_number), (Hello::WhileActive, RerrNumber::Any));
        // In a small network it is twice ACTIVE_ROUTE_TIMEOUT.
        assert_eq!(adapted(&[("net_diameter", 6.into())]).my_route_timeout_ms, 6_000);
        // What is configured stays.
        let p = adapted(&[("active_route_timeout_ms", 5000.into()), ("rerr_number", "newer".into())]);
        assert_eq!((p.delete_period_ms, p.my_route_timeout_ms), (Some(25_000), 11_200));
        assert_eq!(p.rerr_number, RerrNumber::Newer);
    }

    #[test]
    fn hellos_cannot_be_off_where_nobody_tells_of_losses() {
        let mut chosen = Map::from_iter([("hello".to_owned(), Value::from("off"))]);
        let e = adapt("rfc", &mut chosen).unwrap_err();
        assert_eq!(e.key.as_deref(), Some("hello"));
    }
}
