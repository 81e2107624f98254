//! Traffic sources and TCP.

mod arrivals;
mod departures;
mod packets;
mod tcp;
