//! What a module's class says about itself.

use serde::Deserialize;
use serde_json::Value;
use wayhop_core::Classified;

use super::call::OPTIONAL;
use crate::claims::{Claims, ParameterClaim};

/// `WAYHOP_WANTS_OVERHEARD` and `WAYHOP_WANTS_ROUTE_USED`.
const OVERHEARD: u32 = 1;
const ROUTE_USED: u32 = 2;
/// In a table of messages: whatever the first octet is.
const ANY: i64 = -1;
/// Messages that a protocol may have.
const MOST: usize = 16;
/// The IP protocol number of UDP.
const UDP: u16 = 17;

/// As `wayhop.host.describe` writes it.
#[derive(Deserialize)]
struct Description {
    name: String,
    full_name: String,
    specification: String,
    version: String,
    forwards_by_routes: bool,
    header_room: u32,
    position_interval_ns: u64,
    ip_protocol: u16,
    port: Option<u16>,
    parameters: Vec<Parameter>,
    control: Vec<(i64, String)>,
    data: Vec<(i64, String)>,
    handlers: Vec<String>,
}

/// A parameter as `wayhop.parameters` describes it.
#[derive(Deserialize)]
pub(super) struct Parameter {
    key: String,
    r#type: u32,
    default: String,
    minimum: Option<String>,
    maximum: Option<String>,
    choices: Option<String>,
    about: String,
}

impl Parameter {
    pub(super) fn claim(self) -> ParameterClaim {
        ParameterClaim {
            key: self.key,
            kind: self.r#type,
            flags: 0,
            preset: self.default,
            minimum: self.minimum,
            maximum: self.maximum,
            choices: self.choices,
            about: self.about,
        }
    }
}

/// What is said of a description that cannot be read.
pub(super) fn of_wrong_type(e: &serde_json::Error) -> String {
    format!("its class has an attribute of a wrong type: {e}")
}

/// What is known of a class.
pub(super) struct Described {
    pub(super) claims: Claims,
    /// Bits of [`super::call::Kind`]: the methods that it defines.
    pub(super) handlers: u16,
    /// By the first octet of a message.
    pub(super) table: Box<[Classified; 256]>,
}

/// Reads a description.
pub(super) fn read(json: Value) -> Result<Described, String> {
    let d: Description = serde_json::from_value(json).map_err(|e| of_wrong_type(&e))?;
    let table = table(&d)?;
    let defines = |name: &str| d.handlers.iter().any(|h| h == name);
    let handlers = OPTIONAL.iter().filter(|k| defines(k.name())).fold(0, |bits, kind| bits | kind.bit());
    let wants = |name, bit| if defines(name) { bit } else { 0 };
    if d.port.is_none() && d.ip_protocol == UDP {
        return Err("its carrier is all of UDP; give it a port: wayhop.udp(7000)".to_owned());
    }
    let interests = wants("on_overheard", OVERHEARD) | wants("on_route_used", ROUTE_USED);
    let position_interval_ns = if defines("on_position") { d.position_interval_ns } else { 0 };
    let types = d.control.iter().chain(&d.data).map(|(_, name)| name.clone());
    let claims = Claims {
        data_plane: u32::from(d.forwards_by_routes),
        interests,
        position_interval_ns,
        header_room: d.header_room,
        carrier: u8::from(d.port.is_none()),
        carrier_number: d.port.unwrap_or(d.ip_protocol),
        types: (0..).zip(types).collect(),
        classes: d.control.iter().map(|(_, name)| name.clone()).collect(),
        parameters: d.parameters.into_iter().map(Parameter::claim).collect(),
        name: d.name,
        full_name: d.full_name,
        specification: d.specification,
        version: d.version,
    };
    Ok(Described { claims, handlers, table })
}

/// Classes and types by first octet.
fn table(d: &Description) -> Result<Box<[Classified; 256]>, String> {
    let all: Vec<(i64, Classified)> = d
        .control
        .iter()
        .map(|(octet, _)| (*octet, true))
        .chain(d.data.iter().map(|(octet, _)| (*octet, false)))
        .enumerate()
        .map(|(i, (octet, is_control))| {
            let class = is_control.then_some(i as u8);
            (octet, Classified { class, types: 1_u16.checked_shl(i as u32).unwrap_or(0) })
        })
        .collect();
    if all.len() > MOST {
        return Err(format!("it has {} messages in `control` and `data`; {MOST} is the most", all.len()));
    }
    let mut table = Box::new([Classified::default(); 256]);
    if let Some((_, any)) = all.iter().find(|(octet, _)| *octet == ANY) {
        table.fill(*any);
    }
    for (octet, classified) in all.iter().filter(|(octet, _)| *octet != ANY) {
        let place = usize::try_from(*octet).ok().and_then(|octet| table.get_mut(octet));
        *place.ok_or_else(|| {
            format!(
                "a message of `control` or `data` has the first octet {octet}; give 0 to 255, or wayhop.ANY"
            )
        })? = *classified;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn description() -> Value {
        json!({
            "name": "x", "full_name": "", "specification": "", "version": "", "forwards_by_routes": false,
            "header_room": 0, "position_interval_ns": 1, "ip_protocol": 17, "port": 7000, "parameters": [],
            "control": [[1, "beacon"]], "data": [[2, "data"]], "handlers": ["on_frame", "on_overheard"],
        })
    }

    #[test]
    fn interests_follow_from_the_methods_that_a_class_defines() {
        let d = read(description()).unwrap();
        assert_eq!((d.claims.interests, d.claims.position_interval_ns), (OVERHEARD, 0));
        assert_eq!(d.handlers, 1 << 2 | 1 << 3);
        assert_eq!(d.table[1], Classified { class: Some(0), types: 1 });
        assert_eq!(d.table[2], Classified { class: None, types: 2 });
        assert_eq!(d.table[3], Classified::default());
    }

    #[test]
    fn mistakes_are_named() {
        for (key, value, expected) in [
            ("name", json!(7), "wrong type"),
            ("port", Value::Null, "give it a port"),
            ("data", json!([[256, "x"]]), "first octet 256"),
            ("control", json!((0..17).map(|i| (i, "x")).collect::<Vec<_>>()), "16 is the most"),
        ] {
            let mut json = description();
            json[key] = value;
            let why = read(json).err().unwrap();
            assert!(why.contains(expected), "{why}");
        }
    }
}
