//! Messages of protocols that Wayhop does not implement: routing daemons on emulated nodes send them, and captures of other
//! networks contain them. They are decoded and counted like those of [`crate::ALL`].

mod babel;
mod olsr;

use wayhop_core::Description;

/// Descriptions that are only a message format. Their places count down from the last one, so that neither list moves the
/// other: add new ones at the end.
pub static DAEMONS: &[&Description] = &[&olsr::DESCRIPTION, &babel::DESCRIPTION];
