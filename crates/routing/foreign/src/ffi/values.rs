//! Values of parameters, for C.

use core::ffi::c_char;
use core::net::Ipv4Addr;
use core::ptr;
use std::ffi::CString;

use serde_json::{Map, Value};
use wayhop_core::ParameterError;

use super::abi::{Check, RawValue};
use super::text::written;
use crate::parameter::Parameter;

/// A set of parameters as C reads it.
#[derive(Debug)]
pub(crate) struct Values {
    map: Map<String, Value>,
    json: CString,
    /// What `raw` points to.
    _texts: Vec<CString>,
    raw: Box<[RawValue]>,
}

// SAFETY: its pointers are to texts of its own, which never change or move.
unsafe impl Send for Values {}
// SAFETY: the same.
unsafe impl Sync for Values {}

impl core::fmt::Debug for RawValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.number.fmt(f)
    }
}

impl Values {
    /// Checked values, with one for each parameter, in their order.
    pub(crate) fn new(map: Map<String, Value>, parameters: &[Parameter]) -> Self {
        let mut texts = Vec::new();
        let raw = parameters.iter().map(|p| raw(&map[&p.key], &mut texts)).collect();
        let json = CString::new(Value::Object(map.clone()).to_string()).unwrap_or_default();
        Self { map, json, _texts: texts, raw }
    }

    /// By key.
    pub(crate) fn map(&self) -> &Map<String, Value> {
        &self.map
    }

    /// `values`.
    pub(crate) fn raw(&self) -> *const RawValue {
        self.raw.as_ptr()
    }

    /// `json`.
    pub(crate) fn json(&self) -> *const c_char {
        self.json.as_ptr()
    }

    /// Whether they mean something together, by the check of their library, if it has one.
    pub(crate) fn check(&self, check: Option<Check>) -> Result<(), ParameterError> {
        let Some(check) = check else { return Ok(()) };
        let mut problem = [0_u8; 512];
        // SAFETY: a function of this type; there is a value for each parameter.
        let verdict = unsafe { check(self.raw(), problem.as_mut_ptr().cast::<c_char>(), problem.len()) };
        if verdict == 0 { Ok(()) } else { Err(ParameterError::of_values(written(&problem))) }
    }
}

fn raw(value: &Value, texts: &mut Vec<CString>) -> RawValue {
    let mut raw = RawValue { integer: 0, number: 0.0, text: ptr::null() };
    match value {
        Value::Bool(b) => (raw.integer, raw.number) = (i64::from(*b), f64::from(*b)),
        Value::Number(n) => {
            raw.number = n.as_f64().unwrap_or(0.0);
            raw.integer = n.as_i64().unwrap_or(raw.number as i64);
        }
        Value::String(s) => {
            raw.integer = s.parse::<Ipv4Addr>().map_or(0, |a| i64::from(a.to_bits()));
            // Its own heap memory stays where it is when the list grows.
            let text = CString::new(s.as_str()).unwrap_or_default();
            raw.text = text.as_ptr();
            texts.push(text);
        }
        _ => {}
    }
    raw
}
