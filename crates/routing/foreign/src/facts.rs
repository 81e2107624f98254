//! A library's description, checked.

use core::fmt::Display;

use serde_json::{Map, Value};
use wayhop_core::{Carrier, DataPlane, Interests, Span};

use crate::claims::Claims;
use crate::parameter::{self, Parameter};

/// Classes and types of messages that a protocol may have.
const MOST: usize = 16;
/// Longest name and description, bytes.
const LONGEST: usize = 256;
/// The most room for headers, bytes.
const MOST_ROOM: u32 = 1_024;
/// GPS fixes come no more often, nanoseconds.
const FASTEST_FIX_NS: u64 = 10_000_000;
/// IP protocol numbers that no routing protocol has: ICMP, IGMP, TCP, UDP, ICMPv6.
const TAKEN: [u16; 5] = [1, 2, 6, 17, 58];

/// `WAYHOP_WANTS_OVERHEARD` and the others.
const OVERHEARD: u32 = 1;
const ROUTE_USED: u32 = 2;
const ARRIVALS: u32 = 4;
const IPV6: u32 = 8;

/// What a library provides.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub(crate) name: String,
    pub(crate) full_name: String,
    pub(crate) specification: String,
    pub(crate) version: String,
    pub(crate) plane: DataPlane,
    pub(crate) interests: Interests,
    pub(crate) header_room: usize,
    pub(crate) carrier: Carrier,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) classes: Vec<String>,
    pub(crate) types: Vec<(u8, String)>,
}

impl Facts {
    /// Checks what a library says. The error names the field of `wayhop_protocol_library`, and what is wrong with it.
    pub fn check(claims: &Claims) -> Result<Self, String> {
        if !is_name(&claims.name, "-:") {
            return Err(wrong("name", format!("{:?}", claims.name), "a-z, 0-9, - and :, from a letter on"));
        }
        one_line("full_name", &claims.full_name)?;
        one_line("specification", &claims.specification)?;
        one_line("version", &claims.version)?;
        let plane = match claims.data_plane {
            0 => DataPlane::PerPacket,
            1 => DataPlane::Forwarding,
            n => return Err(wrong("data_plane", n, "WAYHOP_PER_PACKET or WAYHOP_FORWARDING")),
        };
        if claims.interests & !(OVERHEARD | ROUTE_USED | ARRIVALS | IPV6) != 0 {
            return Err(wrong("interests", claims.interests, "a combination of WAYHOP_WANTS_..."));
        }
        if claims.header_room > MOST_ROOM {
            return Err(wrong("header_room", claims.header_room, "1024 at most"));
        }
        let wants = |bit| claims.interests & bit != 0;
        let position = claims.position_interval_ns;
        Ok(Self {
            name: claims.name.clone(),
            full_name: if claims.full_name.is_empty() { &claims.name } else { &claims.full_name }.clone(),
            specification: claims.specification.clone(),
            version: claims.version.clone(),
            plane,
            interests: Interests {
                overhear: wants(OVERHEARD),
                route_used: wants(ROUTE_USED),
                arrivals: wants(ARRIVALS),
                position: (position > 0).then(|| Span::from_nanos(position.max(FASTEST_FIX_NS))),
                ipv6: wants(IPV6),
                withholds: false,
            },
            header_room: claims.header_room as usize,
            carrier: carrier(claims)?,
            parameters: parameter::check(&claims.parameters)?,
            classes: names("classes", &claims.classes)?,
            types: types(claims)?,
        })
    }

    /// The JSON schema of the parameters.
    pub fn schema(&self) -> Value {
        parameter::schema(&self.parameters)
    }

    /// All values of the parameters: those that are given, and the defaults of the others.
    pub fn values(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        parameter::read(&self.parameters, given)
    }

    /// The values of a whole set that replaces another one while a node runs.
    pub(crate) fn changed(&self, json: &str, old: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let given =
            serde_json::from_str(json).map_err(|e| format!("not parameters of {}: {e}", self.name))?;
        let new = self.values(&given)?;
        let is_fixed = |p: &&Parameter| !p.is_live && old.get(&p.key) != new.get(&p.key);
        match self.parameters.iter().find(is_fixed) {
            Some(fixed) => Err(format!(
                "{} cannot change while a node runs; set it in the scenario or the node's configuration, and restart",
                fixed.key
            )),
            None => Ok(new),
        }
    }
}

/// Whether a text is a short name of a-z, 0-9 and these marks, from a letter on.
pub(crate) fn is_name(text: &str, marks: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || marks.contains(c))
        && text.len() <= 32
}

/// Checks a field that is shown on one line.
pub(crate) fn one_line(field: &str, text: &str) -> Result<(), String> {
    if text.len() > LONGEST || text.contains(char::is_control) {
        return Err(wrong(field, "too long or not printable", "one line of 256 bytes at most"));
    }
    Ok(())
}

pub(crate) fn wrong(field: &str, value: impl Display, remedy: &str) -> String {
    format!("{field} is {value}; give {remedy}")
}

fn carrier(claims: &Claims) -> Result<Carrier, String> {
    let number = claims.carrier_number;
    match claims.carrier {
        0 => Ok(Carrier::UdpPort(number)),
        1 if number < 256 && !TAKEN.contains(&number) => Ok(Carrier::IpProtocol(number as u8)),
        1 => Err(wrong("carrier_number", number, "an IP protocol number that is not in use, or a UDP port")),
        kind => Err(wrong("carrier", kind, "WAYHOP_UDP_PORT or WAYHOP_IP_PROTOCOL")),
    }
}

/// Names that summaries and tables show.
pub(crate) fn names(field: &str, claimed: &[String]) -> Result<Vec<String>, String> {
    if claimed.len() > MOST {
        return Err(wrong(field, format!("a list of {}", claimed.len()), "16 at most"));
    }
    for (i, name) in claimed.iter().enumerate() {
        if !is_name(name, "_") || claimed[..i].contains(name) {
            let remedy = "different names of a-z, 0-9 and _, from a letter on";
            return Err(wrong(field, format!("a list with {name:?}"), remedy));
        }
    }
    Ok(claimed.to_vec())
}

fn types(claims: &Claims) -> Result<Vec<(u8, String)>, String> {
    let all: Vec<String> = claims.types.iter().map(|(_, name)| name.clone()).collect();
    let all = names("types", &all)?;
    let mut used = 0_u16;
    claims
        .types
        .iter()
        .zip(all)
        .map(|((bit, _), name)| {
            if *bit >= 16 || used >> bit & 1 == 1 {
                return Err(wrong("types", format!("a list with bit {bit}"), "different bits from 0 to 15"));
            }
            used |= 1 << bit;
            Ok((*bit as u8, name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::ParameterClaim;
    use proptest::prelude::*;

    fn flood() -> Claims {
        Claims {
            name: "flood".into(),
            carrier_number: 7_000,
            parameters: vec![ParameterClaim {
                key: "ttl".into(),
                preset: "16".into(),
                minimum: Some("1".into()),
                maximum: Some("255".into()),
                ..ParameterClaim::default()
            }],
            classes: vec!["data".into()],
            types: vec![(3, "hello".into())],
            ..Claims::default()
        }
    }

    #[test]
    fn values_have_their_types_and_ranges() {
        let facts = Facts::check(&flood()).unwrap();
        let values =
            |text: &str| facts.values(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap());
        assert_eq!(values("{}").unwrap()["ttl"], 16);
        assert_eq!(values(r#"{"ttl": 3}"#).unwrap()["ttl"], 3);
        assert_eq!(values(r#"{"ttl": 0}"#).unwrap_err(), "0 is not a whole number from 1 to 255");
        assert_eq!(values(r#"{"ttl": 1.5}"#).unwrap_err(), "1.5 is not a whole number from 1 to 255");
        assert_eq!(values(r#"{"tll": 3}"#).unwrap_err(), "unknown key tll");
        assert_eq!(facts.schema()["properties"]["ttl"]["maximum"], 255);
    }

    #[test]
    fn what_contradicts_the_header_is_refused_with_its_field() {
        type Change = fn(&mut Claims);
        let cases: [(Change, &str); 12] = [
            (|c| c.name = "Flood".into(), "name is \"Flood\""),
            (|c| c.data_plane = 7, "data_plane is 7"),
            (|c| c.interests = 1 << 9, "interests is 512"),
            (|c| c.header_room = 1 << 20, "header_room is 1048576"),
            (|c| c.carrier = 2, "carrier is 2"),
            (|c| (c.carrier, c.carrier_number) = (1, 6), "carrier_number is 6"),
            (|c| c.classes = vec!["a".into(); 17], "classes is a list of 17"),
            (|c| c.classes = vec!["a".into(); 2], "classes is a list with \"a\""),
            (|c| c.types.push((3, "bye".into())), "types is a list with bit 3"),
            (|c| c.parameters[0].preset = "300".into(), "the parameter ttl: the default 300 is not"),
            (|c| c.parameters[0].minimum = Some("900".into()), "the minimum is above the maximum"),
            (|c| c.parameters.push(c.parameters[0].clone()), "two parameters ttl"),
        ];
        for (change, expected) in cases {
            let mut claims = flood();
            change(&mut claims);
            let why = Facts::check(&claims).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![Just(String::new()), "[a-z]{1,4}", "-?[0-9]{1,20}(\\.[0-9]{1,3})?", ".{0,9}"]
    }

    proptest! {
        /// Whatever is accepted has defaults that are values of their own parameters.
        #[test]
        fn accepted_parameters_accept_their_defaults(
            parameters in proptest::collection::vec(
                (text(), 0_u32..5, text(), proptest::option::of(text()), proptest::option::of(text())), 0..4),
            name in text(),
        ) {
            let parameters = parameters.into_iter().map(|(key, kind, preset, minimum, maximum)| ParameterClaim {
                key, kind, preset, choices: minimum.clone(), minimum, maximum, ..ParameterClaim::default()
            }).collect();
            if let Ok(facts) = Facts::check(&Claims { name, parameters, ..Claims::default() }) {
                let values = facts.values(&Map::new()).unwrap();
                prop_assert_eq!(facts.values(&values).unwrap(), values);
                prop_assert_eq!(facts.schema()["properties"].as_object().unwrap().len(), facts.parameters.len());
            }
        }
    }
}
