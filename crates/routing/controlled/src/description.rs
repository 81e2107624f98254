//! The protocol as everything outside of this crate knows it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Carrier, Classified, Datagram, DecodedMessage, Description, HostNeeds, HostRules, MessageFormat,
    Ns2Format, ParameterError, Parameters, Profile, Protocol, ends,
};

use crate::Engine;
use crate::engine::PORT;
use crate::params::Params;

/// Routes set by a controller.
pub static DESCRIPTION: Description = Description {
    name: "controlled",
    full_name: "Routes set by a controller",
    specification: "for controllers and learning agents",
    profiles: &[Profile {
        name: "rfc",
        about: "a Hello every second; there is no RFC",
        host: HostRules::Standard,
    }],
    schema: || schemars::schema_for!(Params).to_value(),
    profile: |name| (name == "rfc").then(|| object(&Params::default())),
    read: |values| Ok(Arc::new(of::<Params>(values)?)),
    messages: MessageFormat {
        carrier: Carrier::UdpPort(PORT),
        classes: &["hello"],
        limited: 1,
        types: &[(0, "hello")],
        classify,
        decode,
        hop: ends,
        route_header: None,
        authentication: None,
        ns2: Ns2Format { tag: "message", tail: |_, _| {} },
    },
    host: HostNeeds::NONE,
    forger: None,
};

/// A Hello has no content.
fn classify(d: &Datagram<'_>) -> Classified {
    let is_hello = d.complete_len == 0;
    Classified { class: is_hello.then_some(0), types: u16::from(is_hello) }
}

fn decode(d: &Datagram<'_>) -> Vec<DecodedMessage> {
    vec![match d.complete_len {
        0 => DecodedMessage::whole("hello", json!({})),
        len => DecodedMessage::malformed("hello", format!("a Hello is empty, and this one has {len} bytes")),
    }]
}

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
