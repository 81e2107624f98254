//! Traffic sources and TCP.

mod arrivals;
mod bursts;
mod departures;
mod packets;
mod tcp;
