//! A parameter of a library: its type, range and default.

use core::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::claims::ParameterClaim;

/// `WAYHOP_LIVE`.
const LIVE: u32 = 1;
/// No set has more.
const MOST: usize = 256;
/// Longer texts are nobody's parameters.
const LONGEST: usize = 4_096;

/// A checked parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub(crate) key: String,
    kind: Kind,
    /// Whether it can change while a node runs.
    pub(crate) is_live: bool,
    pub(crate) preset: Value,
    about: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Integer(i64, i64),
    Number(f64, f64),
    Boolean,
    /// One of these; anything if there are none.
    Text(Vec<String>),
    /// An IP address, or the empty text for none.
    Address,
}

impl Parameter {
    /// Checks what a library says of it.
    pub(crate) fn check(claim: &ParameterClaim) -> Result<Self, String> {
        let key = &claim.key;
        let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && key.len() <= 64;
        if !is_key {
            return Err(format!(
                "the key {key:?} of a parameter must have letters, digits and _ only, from a letter on"
            ));
        }
        if ["name", "nodes", "library", "python", "profile"].contains(&key.as_str()) {
            return Err(format!("the parameter {key} has the name of a key of every section; rename it"));
        }
        let in_key = |what: String| format!("the parameter {key}: {what}");
        if claim.flags & !LIVE != 0 {
            return Err(in_key(format!("unknown flags {}", claim.flags)));
        }
        if [&claim.preset, &claim.about].iter().any(|text| text.len() > LONGEST) {
            return Err(in_key(format!("a text longer than {LONGEST} bytes")));
        }
        let kind = Kind::check(claim).map_err(in_key)?;
        let preset = kind.parse(&claim.preset).map_err(|e| in_key(format!("the default {e}")))?;
        Ok(Self {
            key: key.clone(),
            kind,
            is_live: claim.flags & LIVE != 0,
            preset,
            about: claim.about.clone(),
        })
    }

    /// Whether its values are addresses of nodes.
    pub(crate) fn is_address(&self) -> bool {
        self.kind == Kind::Address
    }

    /// Its JSON schema.
    pub(crate) fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
            Kind::Number(low, high) => {
                let mut s = json!({ "type": "number" });
                for (key, bound) in [("minimum", low), ("maximum", high)] {
                    if bound.is_finite() {
                        s[key] = json!(bound);
                    }
                }
                s
            }
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Text(choices) if choices.is_empty() => json!({ "type": "string" }),
            Kind::Text(choices) => json!({ "type": "string", "enum": choices }),
            Kind::Address => json!({ "type": "string" }),
        };
        schema["description"] = json!(self.about);
        schema["default"] = self.preset.clone();
        schema
    }
}

impl Kind {
    /// The value, if it is one of this kind.
    fn read(&self, value: &Value) -> Result<Value, String> {
        let read = match self {
            Self::Integer(low, high) => {
                value.as_i64().filter(|n| (*low..=*high).contains(n)).map(Value::from)
            }
            Self::Number(low, high) => value.as_f64().filter(|x| (*low..=*high).contains(x)).map(Value::from),
            Self::Boolean => value.as_bool().map(Value::from),
            Self::Text(choices) => value
                .as_str()
                .filter(|text| !text.contains('\0') && text.len() <= LONGEST)
                .filter(|text| choices.is_empty() || choices.iter().any(|c| c == text))
                .map(Value::from),
            Self::Address => value
                .as_str()
                .filter(|text| text.is_empty() || text.parse::<IpAddr>().is_ok())
                .map(Value::from),
        };
        read.ok_or_else(|| format!("{value} is not {}", self.name()))
    }

    fn check(claim: &ParameterClaim) -> Result<Self, String> {
        let bounds = [&claim.minimum, &claim.maximum].map(Option::as_deref);
        match claim.kind {
            0 => {
                let whole = |text: Option<&str>, usual| match text {
                    None => Ok(usual),
                    Some(t) => t.parse().map_err(|_| format!("the bound {t:?} is not a whole number")),
                };
                Self::Integer(whole(bounds[0], i64::MIN)?, whole(bounds[1], i64::MAX)?).in_order()
            }
            1 => {
                let number = |text: Option<&str>, usual| match text {
                    None => Ok(usual),
                    Some(t) => t
                        .parse()
                        .ok()
                        .filter(|x: &f64| x.is_finite())
                        .ok_or_else(|| format!("the bound {t:?} is not a number")),
                };
                Self::Number(number(bounds[0], f64::MIN)?, number(bounds[1], f64::MAX)?).in_order()
            }
            2 => Ok(Self::Boolean),
            3 => {
                let choices = claim.choices.as_deref().map_or(Vec::new(), |c| {
                    c.split('|').filter(|one| !one.is_empty()).map(str::to_owned).collect()
                });
                Ok(Self::Text(choices))
            }
            4 => Ok(Self::Address),
            other => Err(format!("unknown type {other}")),
        }
    }

    fn in_order(self) -> Result<Self, String> {
        let is_empty = match self {
            Self::Integer(low, high) => low > high,
            Self::Number(low, high) => low > high,
            _ => false,
        };
        if is_empty { Err("the minimum is above the maximum".to_owned()) } else { Ok(self) }
    }

    /// The value that a text stands for.
    fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self {
            Self::Integer(..) => text.parse::<i64>().ok().map(Value::from),
            Self::Number(..) => text.parse::<f64>().ok().filter(|x| x.is_finite()).map(Value::from),
            Self::Boolean => text.parse::<bool>().ok().map(Value::from),
            Self::Text(_) | Self::Address => Some(text.into()),
        };
        self.read(&value.ok_or_else(|| format!("{text:?} is not {}", self.name()))?)
    }

    /// What values of it are.
    fn name(&self) -> String {
        match self {
            Self::Integer(i64::MIN, i64::MAX) => "a whole number".to_owned(),
            Self::Integer(low, i64::MAX) => format!("a whole number from {low} up"),
            Self::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Self::Number(f64::MIN, f64::MAX) => "a number".to_owned(),
            Self::Number(low, f64::MAX) => format!("a number from {low} up"),
            Self::Number(low, high) => format!("a number from {low} to {high}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Text(choices) if choices.is_empty() => "a text".to_owned(),
            Self::Text(choices) => format!("one of {}", choices.join(", ")),
            Self::Address => "an IP address".to_owned(),
        }
    }
}

/// Checks what a library says of all its parameters.
pub(crate) fn check(claims: &[ParameterClaim]) -> Result<Vec<Parameter>, String> {
    if claims.len() > MOST {
        return Err(format!("parameter_count is {}; give {MOST} at most", claims.len()));
    }
    let all: Vec<Parameter> = claims.iter().map(Parameter::check).collect::<Result<_, _>>()?;
    match (1..all.len()).find(|&i| all[..i].iter().any(|p| p.key == all[i].key)) {
        Some(i) => Err(format!("there are two parameters {}", all[i].key)),
        None => Ok(all),
    }
}

/// The JSON schema of a set.
pub(crate) fn schema(parameters: &[Parameter]) -> Value {
    let properties: Map<_, _> = parameters.iter().map(|p| (p.key.clone(), p.schema())).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// All values of a set: those that are given, and the defaults of the others.
pub(crate) fn read(
    parameters: &[Parameter],
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    if let Some(unknown) = given.keys().find(|k| !parameters.iter().any(|p| p.key == **k)) {
        return Err(format!("unknown key {unknown}"));
    }
    parameters
        .iter()
        .map(|p| {
            let value = given.get(&p.key).map_or(Ok(p.preset.clone()), |v| p.kind.read(v))?;
            Ok((p.key.clone(), value))
        })
        .collect()
}
