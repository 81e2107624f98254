//! Traffic sources and TCP.

mod arrivals;
mod bursts;
mod departures;
mod host;
mod packets;
mod tcp;
