//! How much may be under way: congestion control.

mod interface;
mod reno;
mod vegas;
mod westwood;

pub use interface::{Acked, CongestionControl, Lost};
use reno::Reno;
use vegas::Vegas;
use westwood::Westwood;

use super::config::{TcpConfig, Variant};

/// The control of a variant.
pub(crate) fn control(c: &TcpConfig) -> Box<dyn CongestionControl> {
    match c.variant {
        Variant::Tahoe => Box::new(Reno::new(c, true)),
        Variant::Reno | Variant::NewReno | Variant::Sack => Box::new(Reno::new(c, false)),
        Variant::Vegas => Box::new(Vegas::new(c)),
        Variant::Westwood => Box::new(Westwood::new(c)),
    }
}
