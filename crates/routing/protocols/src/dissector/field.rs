//! How a message's octets are laid out, and the Lua table that says so.

use std::fmt::{self, Write as _};

/// What comes next in a message. Keys are those of `wayhop decode`.
pub(super) enum Field {
    /// A whole number of 1, 2 or 4 octets.
    Number(&'static str, &'static str, u8),
    /// One whose values have names.
    Named(&'static str, &'static str, &'static [(u8, &'static str)]),
    /// A whole number of 4 or 8 octets (signed if so) in a unit.
    Scaled(&'static str, &'static str, u8, bool, &'static str),
    /// An IPv4 address; the last field of a message may be missing.
    Address(&'static str, &'static str),
    OptionalAddress(&'static str, &'static str),
    /// These many octets, shown as they are.
    Octets(&'static str, &'static str, u8),
    /// All octets but these many at the end.
    Rest(&'static str, &'static str, usize),
    /// Fields within 1 or 2 octets.
    Bits(u8, &'static [Bits]),
    /// Octets without a meaning.
    Skip(u8),
    /// These fields, over and over: to these many octets before the end.
    Each(usize, &'static [Field]),
    /// These fields, as often as an earlier number says.
    Counted(&'static str, &'static [Field]),
    /// What the value of an earlier number brings; and any other value.
    Cases(&'static str, &'static [(u8, &'static [Field])], &'static [Field]),
}

/// A part of some octets: its mask.
pub(super) struct Bits {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) mask: u16,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(key, title, octets) => {
                write!(f, "{{ key = \"{key}\", title = \"{title}\", is = \"number\", octets = {octets} }}")
            }
            Self::Named(key, title, values) => {
                write!(
                    f,
                    "{{ key = \"{key}\", title = \"{title}\", is = \"number\", octets = 1, values = {{ "
                )?;
                for (value, name) in *values {
                    write!(f, "[{value}] = \"{name}\", ")?;
                }
                f.write_str("} }")
            }
            Self::Scaled(key, title, octets, signed, unit) => {
                write!(f, "{{ key = \"{key}\", title = \"{title}\", is = \"scaled\", ")?;
                write!(f, "octets = {octets}, signed = {signed}, unit = {unit} }}")
            }
            Self::Address(key, title) => {
                write!(f, "{{ key = \"{key}\", title = \"{title}\", is = \"address\", octets = 4 }}")
            }
            Self::OptionalAddress(key, title) => {
                write!(
                    f,
                    "{{ key = \"{key}\", title = \"{title}\", is = \"address\", octets = 4, optional = true }}"
                )
            }
            Self::Octets(key, title, octets) => {
                write!(f, "{{ key = \"{key}\", title = \"{title}\", is = \"octets\", octets = {octets} }}")
            }
            Self::Rest(key, title, before) => {
                write!(f, "{{ key = \"{key}\", title = \"{title}\", is = \"octets\", before = {before} }}")
            }
            Self::Bits(octets, parts) => {
                write!(f, "{{ octets = {octets}, parts = {{ ")?;
                parts.iter().try_for_each(|part| write!(f, "{part}, "))?;
                f.write_str("} }")
            }
            Self::Skip(octets) => write!(f, "{{ is = \"skip\", octets = {octets} }}"),
            Self::Each(before, fields) => write!(f, "{{ before = {before}, each = {} }}", List(fields)),
            Self::Counted(count, fields) => {
                write!(f, "{{ before = 0, count = \"{count}\", each = {} }}", List(fields))
            }
            Self::Cases(on, cases, default) => {
                write!(f, "{{ on = \"{on}\", cases = {{ ")?;
                for (value, fields) in *cases {
                    write!(f, "[{value}] = {}, ", List(fields))?;
                }
                // Of the cases, too, so that its fields are registered.
                write!(f, "default = {} }}, default = {} }}", List(default), List(default))
            }
        }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, title, mask } = self;
        let unit = 1_u32 << mask.trailing_zeros();
        let modulus = (u32::from(*mask) / unit) + 1;
        let is = if mask.is_power_of_two() { "flag" } else { "number" };
        write!(
            f,
            "{{ key = \"{key}\", title = \"{title}\", is = \"{is}\", unit = {unit}, modulus = {modulus} }}"
        )
    }
}

/// Several of them.
pub(super) struct List(pub(super) &'static [Field]);

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        self.0.iter().try_for_each(|field| write!(f, "{field}, "))?;
        f.write_char('}')
    }
}
