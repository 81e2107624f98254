//! What the scenario tests share.
#![allow(dead_code, reason = "each test binary uses its part")]

use wayhop_core::Time;
use wayhop_dsr::{Engine, Params};
use wayhop_testkit::Net;

/// `n` nodes with these parameters and no links.
pub(crate) fn net(n: usize, params: &Params) -> Net {
    Net::new(n, |_| Box::new(Engine::new(params.clone())))
}

/// The moment `s` seconds after the start.
pub(crate) fn at(s: f64) -> Time {
    Time::from_secs_f64(s)
}
