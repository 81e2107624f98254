//! The receivers of a Route Error.

use std::net::Ipv4Addr;

use crate::routing_table::Precursors;

/// The receivers of a Route Error.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Audience {
    #[default]
    Nobody,
    One(Ipv4Addr),
    Many,
}

impl Audience {
    pub(crate) fn add(&mut self, p: &Precursors) {
        for n in p.iter() {
            *self = match *self {
                Self::Nobody => Self::One(n),
                Self::One(m) if m == n => Self::One(n),
                _ => Self::Many,
            };
        }
    }
}
