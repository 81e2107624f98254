//! Data packets and messages: sent, kept until there is a route.

pub(crate) mod buffer;
mod data;
pub(crate) mod output;
