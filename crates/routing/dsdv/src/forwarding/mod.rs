//! Data packets and messages: sent, kept until there is a route.

mod data;
pub(crate) mod output;
