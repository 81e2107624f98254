//! What must hold for any bytes whatever: nothing panics, and what was read and written again reads the same.
//!
//! One function for each parser. The property tests call them with random bytes, the fuzz targets with bytes that a fuzzer
//! found interesting.
#![allow(dead_code, unused_imports, reason = "each fuzz target uses one of these")]

mod auth;
mod dsr;
mod foreign;
mod link;
mod mobile_ip;
mod net;
mod rtcm3;

pub(crate) use auth::{FORMATS, auth};
pub(crate) use dsr::dsr;
pub(crate) use foreign::{babel, olsr};
pub(crate) use link::{dot11, radiotap};
pub(crate) use mobile_ip::mobile_ip;
pub(crate) use net::{aodv, dsdv, ip, ip6, tcp};
pub(crate) use rtcm3::rtcm3;
