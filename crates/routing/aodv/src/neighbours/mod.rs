//! Local connectivity (RFC 3561 sections 6.8 to 6.10): Hellos, unidirectional links, and whether next hops are there.

mod hello;
mod passive_ack;
pub(crate) mod table;
mod unidirectional;
pub(crate) mod watch;
