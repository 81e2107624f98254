//! DSDV as everything outside of this crate knows it.

mod decode;
mod forge;
mod messages;

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Carrier, Description, HostNeeds, HostRules, MessageFormat, Ns2Format, ParameterError, Parameters,
    Profile, Protocol, ends,
};
use wayhop_wire::dsdv::{AUTHENTICATION, PORT};

use crate::Engine;
use crate::params::Params;

/// Destination-Sequenced Distance Vector routing.
pub static DESCRIPTION: Description = Description {
    name: "dsdv",
    full_name: "Destination-Sequenced Distance Vector routing",
    specification: "Perkins and Bhagwat, SIGCOMM 1994",
    profiles: &[
        Profile {
            name: "rfc",
            about: "the paper, with ns-3's constants; there is no RFC",
            host: HostRules::Standard,
        },
        Profile { name: "ns2", about: "what ns-2.35's DSDV does", host: HostRules::Ns2 { tcp_padding: 0 } },
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
        ns2: Ns2Format { tag: "message", tail: messages::ns2_tail },
    },
    host: HostNeeds {
        failure_notices: Some("failure_notices"),
        mtu: Some("mtu_bytes"),
        reboot_wait: Some("wait_after_reboot"),
        ..HostNeeds::NONE
    },
    forger: Some(|| Box::new(forge::Forger::default())),
};

// It has no remedy for links without acknowledgements, for it needs none: neighbours that fall silent are lost after some missed
// updates.
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
}
