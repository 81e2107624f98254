//! DSR as everything outside of this crate knows it.

mod decode;
mod forge;
mod messages;

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Carrier, Description, HostNeeds, HostRules, MessageFormat, Ns2Format, ParameterError, Parameters,
    Profile, Protocol,
};
use wayhop_wire::dsr::AUTHENTICATION;
use wayhop_wire::ipv4::protocol;

use crate::Engine;
use crate::maintenance::acks::MAX_ASK;
use crate::params::{Maintenance, Params};

/// Octets that the headers need with a route of five hops: the fixed part, a Source Route of four addresses, and the most that
/// an acknowledgement is asked for with (RFC 4728, section 6). Room for the longest route, 31 hops, would cut each packet of
/// 1,400 octets in two; a packet whose route needs more comes back as too big (section 8.1.5), and its sender knows then.
const HEADER_ROOM: usize = 4 + (4 + 4 * 4) + MAX_ASK;

/// By how much ns-2.35's DSR makes TCP's packets longer, in octets: it adds an IP header, which `tcpip_base_hdr_size_` of the
/// TCP agent has counted already.
const NS2_SECOND_HEADER: u8 = 20;

/// Dynamic Source Routing.
pub static DESCRIPTION: Description = Description {
    name: "dsr",
    full_name: "Dynamic Source Routing",
    specification: "RFC 4728",
    profiles: &[
        Profile { name: "rfc", about: "RFC 4728", host: HostRules::Standard },
        Profile {
            name: "ns2",
            about: "what ns-2.35's DSR does",
            host: HostRules::Ns2 { tcp_padding: NS2_SECOND_HEADER },
        },
        Profile {
            name: "cmu",
            about: "the testbed of Maltz, Broch and Johnson (1999)",
            host: HostRules::Standard,
        },
    ],
    schema: || schemars::schema_for!(Params).to_value(),
    profile: |name| Params::profile(name).map(|p| object(&p)),
    read: |values| Ok(Arc::new(of::<Params>(values)?.clamped())),
    messages: MessageFormat {
        carrier: Carrier::IpProtocol(protocol::DSR),
        classes: messages::CLASSES,
        limited: messages::LIMITED,
        types: messages::TYPES,
        classify: messages::classify,
        decode: decode::decode,
        hop: messages::hop,
        route_header: Some(messages::route_header),
        authentication: Some(&AUTHENTICATION),
        ns2: Ns2Format { tag: "DSR", tail: messages::ns2_tail },
    },
    host: HostNeeds {
        header_room: HEADER_ROOM,
        failure_notices: Some("failure_notices"),
        mtu: Some("mtu_bytes"),
        // RFC 4728 asks for none: routes are carried in packets, and identifications begin at random.
        reboot_wait: None,
        first_number: None,
        adapt,
    },
    forger: Some(|| Box::new(forge::Forger)),
};

impl Parameters for Params {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        Box::new(Engine::new(self))
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn remedy_without_acknowledgements(&self, chosen: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let unaware = self.maintenance == Maintenance::Link && !chosen("maintenance");
        unaware.then_some("protocol.maintenance = \"network\"")
    }
}

/// With `auto`, the engine asks for acknowledgements of its own where nobody reports any (section 8.3.3).
fn adapt(profile: &str, chosen: &mut Map<String, Value>) -> Result<Vec<String>, ParameterError> {
    let link_only = match chosen.get("maintenance") {
        Some(value) => value == "link",
        None => Params::profile(profile).is_some_and(|p| p.maintenance == Maintenance::Link),
    };
    if link_only {
        return Err(ParameterError {
            key: Some("maintenance".into()),
            problem:
                "\"link\" needs an interface that reports acknowledgements; broken links would go unnoticed"
                    .into(),
            remedy: "give \"auto\" or \"network\"".into(),
        });
    }
    Ok(Vec::new())
}
