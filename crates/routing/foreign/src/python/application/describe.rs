//! What a module's class says about itself.

use serde::Deserialize;
use serde_json::Value;

use super::call::OPTIONAL;
use crate::application::ApplicationClaims;
use crate::python::describe::{Parameter, of_wrong_type};

/// As `wayhop.application_calls.describe` writes it.
#[derive(Deserialize)]
struct Description {
    name: String,
    about: String,
    version: String,
    parameters: Vec<Parameter>,
    notes: Vec<String>,
    handlers: Vec<String>,
}

/// Reads a description: the claims, and bits of [`super::call::Kind`] for the methods that the class defines.
pub(super) fn read(json: Value) -> Result<(ApplicationClaims, u16), String> {
    let d: Description = serde_json::from_value(json).map_err(|e| of_wrong_type(&e))?;
    let defines = |name: &str| d.handlers.iter().any(|h| h == name);
    let handlers = OPTIONAL.iter().filter(|k| defines(k.name())).fold(0, |bits, kind| bits | kind.bit());
    let claims = ApplicationClaims {
        name: d.name,
        about: d.about,
        version: d.version,
        parameters: d.parameters.into_iter().map(Parameter::claim).collect(),
        notes: d.notes,
    };
    Ok((claims, handlers))
}
