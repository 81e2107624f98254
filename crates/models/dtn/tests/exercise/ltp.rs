//! Datagrams to LTP.

use wayhop_core::Time;
use wayhop_dtn::TransferId;
use wayhop_dtn::cl::Session as _;
use wayhop_dtn::cl::ltp::{Ltp, LtpConfig, SessionNumbers};

use super::datagrams::datagrams;
use super::session::feed;

/// LTP takes any datagrams.
pub(crate) fn ltp(octets: &[u8]) {
    let mut config = LtpConfig::new(1, SessionNumbers::starting_at(1));
    config.block = 1 << 16;
    let mut session = Ltp::new(config);
    session.send(Time::ZERO, TransferId(1), vec![7; 4_000]);
    feed(&mut session, datagrams(octets));
}
